//! Division of the judged requests of a split into train, dev and test.

use crate::export::{SplitPart, write_documents, write_folder};
use clariq_collections::{Collection, Split, Task};
use clariq_core::{Checksum, ProblemKind, Request, Result, bail, problem};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The shares of the requests that become train and dev. All others become test.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    /// From 0 to 1.
    pub train: f64,
    /// From 0 to 1; at most 1 together with that of train.
    pub dev: f64,
}

/// The files of a divided split.
pub struct Divided {
    /// Each with its number of lines.
    pub files: Vec<(PathBuf, usize)>,
    /// Requests without judgements, which are in no part.
    pub left_out: usize,
}

/// The names of the parts.
const PARTS: [&str; 3] = ["train", "dev", "test"];

/// Writes a new folder with the documents and with the judged requests of a split as train, dev and test,
/// each in the order of their file. Which request is in which part depends on its words and on `seed` alone.
/// Requests of the same words, and those of one conversation, stay together, so that none is both learned from
/// and held out.
///
/// # Errors
///
/// A split without judgements, shares that leave a part without a request, or a folder with files.
pub fn divide(
    collection: &dyn Collection,
    task: Task,
    split: Split,
    shares: Shares,
    seed: u64,
    folder: &Path,
) -> Result<Divided> {
    let Some(qrels) = collection.qrels(split, task)? else {
        let hint =
            "models and parameters are chosen by judgements: a folder of requests alone has none";
        let problem =
            problem!(collection.location(), "judgements of {split}", "requests alone", hint);
        return Err(problem.kind(ProblemKind::MissingFile).into());
    };
    let mut requests = collection.requests(split, task)?.collect::<Result<Vec<Request>>>()?;
    let all = requests.len();
    requests.retain(|request| qrels.topic(&request.id).is_some());
    let left_out = all - requests.len();
    let parts = parts(collection, &requests, shares, seed);
    let mut written =
        PARTS.map(|_| SplitPart { qrels: Some(qrels.clone()), ..SplitPart::default() });
    for (request, part) in requests.into_iter().zip(parts) {
        written[part].requests.push(request);
    }
    let rest = 1.0 - shares.train - shares.dev;
    for ((part, name), share) in written.iter().zip(PARTS).zip([shares.train, shares.dev, rest]) {
        if part.requests.is_empty() && share > 1e-9 {
            let found = format!("{} in all", all - left_out);
            let hint = "`tune` needs no such parts: it divides a split into folds";
            bail!(collection.location(), "a judged request for {name}", found, hint);
        }
    }
    let annotations = collection.annotations(split)?;
    for part in &mut written {
        let ids: HashSet<&str> = part.requests.iter().map(|request| request.id.as_str()).collect();
        let own = annotations.iter().filter(|annotation| ids.contains(&*annotation.id));
        part.annotations = own.cloned().collect();
    }
    let documents = collection.documents(task)?;
    let files = write_folder(folder, |made| {
        let mut files = vec![write_documents(documents, made)?];
        for (part, name) in written.iter().zip(PARTS).filter(|(part, _)| !part.requests.is_empty())
        {
            files.extend(part.write(name, Some(documents), made)?);
        }
        Ok(files)
    })?;
    Ok(Divided { files, left_out })
}

/// The part of each request.
fn parts(
    collection: &dyn Collection,
    requests: &[Request],
    shares: Shares,
    seed: u64,
) -> Vec<usize> {
    let mut dealt: Vec<(String, usize)> = Vec::with_capacity(requests.len());
    for (index, request) in requests.iter().enumerate() {
        let id = request.id.as_str();
        let conversation = collection.conversation_of(id);
        let together = if conversation == id {
            request.flatten().to_lowercase()
        } else {
            conversation.to_owned()
        };
        dealt.push((Checksum::of(format!("{seed} {together}").as_bytes()).to_string(), index));
    }
    dealt.sort();
    let ends = [shares.train, shares.train + shares.dev].map(|share| share * requests.len() as f64);
    let mut parts = vec![0; requests.len()];
    let mut first = 0;
    for same in dealt.chunk_by(|one, next| one.0 == next.0) {
        // A part ends at the nearest whole number.
        let part = ends.iter().filter(|end| first as f64 + 0.5 > **end).count();
        for (_, index) in same {
            parts[*index] = part;
        }
        first += same.len();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::DataDir;
    use std::fs;

    /// A folder with one split of requests of these texts, the first `judged` of them judged.
    fn folder(texts: &[&str], judged: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let lines = |line: &dyn Fn(usize, &str) -> String, count: usize| {
            let texts = texts.iter().take(count).enumerate();
            texts.map(|(index, text)| line(index, text)).collect::<Vec<_>>().concat()
        };
        let requests = lines(&|index, text| format!("q{index}\t{text}\n"), texts.len());
        let qrels = lines(&|index, _| format!("q{index} 0 d1 1\n"), judged);
        let documents = "{\"id\": \"d1\", \"text\": \"a\"}\n";
        for (name, text) in
            [("requests.tsv", &*requests), ("qrels.txt", &qrels), ("documents.jsonl", documents)]
        {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn open(folder: &Path) -> Box<dyn Collection> {
        clariq_tracks::TRACKS.open(&DataDir::Folder(folder.to_owned())).unwrap()
    }

    fn divided(data: &Path, shares: (f64, f64), seed: u64) -> (Vec<Vec<String>>, usize) {
        let output = tempfile::tempdir().unwrap();
        let collection = open(data);
        let (split, task) = (collection.splits()[0], collection.tasks()[0]);
        let shares = Shares { train: shares.0, dev: shares.1 };
        let made = divide(&*collection, task, split, shares, seed, output.path()).unwrap();
        let back = open(output.path());
        let ids = |name: &str| {
            let split = back.find_split(name).unwrap();
            let requests = back.requests(split, back.tasks()[0]).unwrap();
            requests.map(|request| request.unwrap().id.to_string()).collect()
        };
        (PARTS.map(ids).to_vec(), made.left_out)
    }

    #[test]
    fn every_judged_request_is_in_one_part_and_the_seed_decides() {
        let texts: Vec<String> = (0..100).map(|number| format!("text {number}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let data = folder(&texts, 90);
        let (parts, left_out) = divided(data.path(), (0.6, 0.2), 1);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [54, 18, 18]);
        assert_eq!(left_out, 10);
        assert_eq!(parts.concat().iter().collect::<HashSet<_>>().len(), 90);
        assert_eq!(divided(data.path(), (0.6, 0.2), 1).0, parts);
        assert_ne!(divided(data.path(), (0.6, 0.2), 2).0, parts);
    }

    #[test]
    fn requests_of_the_same_words_stay_together() {
        let texts =
            ["tea", "Tea", "coffee", "tea", "milk", "juice", "water", "Water", "soup", "bread"];
        let data = folder(&texts, texts.len());
        for seed in 0..8 {
            let (parts, _) = divided(data.path(), (0.4, 0.3), seed);
            for same in [["q0", "q1"], ["q1", "q3"], ["q6", "q7"]] {
                let has = |id: &str| parts.iter().position(|part| part.iter().any(|it| it == id));
                assert_eq!(has(same[0]), has(same[1]), "{parts:?}");
            }
        }
    }

    #[test]
    fn parts_without_requests_and_splits_without_judgements_are_refused() {
        let output = tempfile::tempdir().unwrap();
        let refused = |data: &tempfile::TempDir| {
            let collection = open(data.path());
            let (split, task) = (collection.splits()[0], collection.tasks()[0]);
            let shares = Shares { train: 0.6, dev: 0.2 };
            let refused = divide(&*collection, task, split, shares, 1, output.path());
            refused.err().unwrap().to_problem().expected
        };
        assert_eq!(refused(&folder(&["a", "b"], 2)), "a judged request for test");
        let data = folder(&["a", "b"], 2);
        fs::remove_file(data.path().join("qrels.txt")).unwrap();
        assert_eq!(refused(&data), "judgements of all");
    }
}
