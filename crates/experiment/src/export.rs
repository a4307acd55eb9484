//! A collection in the plain forms that other tools read: JSON lines and TREC qrels.

use clariq_collections::Collection;
use clariq_core::Error;
use clariq_core::{Doc, Documents};
use clariq_files::{Qrels, Staged};
use serde_json::json;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes `documents.jsonl`, and for each split that is there `requests.<split>.jsonl` (both lines
/// of `{"id", "text"}`) and, if it has labels, `qrels.<split>.txt`; all of a task. The files take
/// their names when all are complete; each is given with its number of lines.
pub fn export(
    collection: &dyn Collection,
    task: &str,
    folder: &Path,
) -> Result<Vec<(PathBuf, usize)>, Error> {
    let mut files =
        vec![stage(folder.join("documents.jsonl"), &texts(collection.documents(task)?)?)?];
    for split in collection.splits().iter().filter(|split| collection.has(split)) {
        let (mut requests, mut judgements) = (Vec::new(), Vec::new());
        let qrels = collection.qrels(split, task)?;
        for request in collection.requests(split, task)? {
            let request = request?;
            requests.push(json!({ "id": request.id, "text": request.flatten() }).to_string());
            judgements.extend(qrels.iter().flat_map(|qrels| lines_of(qrels, request.id.as_str())));
        }
        files.push(stage(folder.join(format!("requests.{split}.jsonl")), &requests)?);
        if qrels.is_some() {
            files.push(stage(folder.join(format!("qrels.{split}.txt")), &judgements)?);
        }
    }
    let (staged, listed): (Vec<_>, Vec<_>) = files.into_iter().unzip();
    staged.into_iter().try_for_each(Staged::commit)?;
    Ok(listed)
}

fn texts(documents: &dyn Documents) -> Result<Vec<String>, Error> {
    let text =
        |doc: Doc| Ok(json!({ "id": documents.id(doc), "text": documents.text(doc)? }).to_string());
    Doc::all(documents.len()).map(text).collect()
}

/// The judgements of a topic as lines, by document.
fn lines_of(qrels: &Qrels, topic: &str) -> Vec<String> {
    let Some(judgements) = qrels.topic(&topic.into()) else { return Vec::new() };
    let mut judged: Vec<_> = judgements.documents().collect();
    judged.sort_unstable();
    judged.iter().map(|(document, grade)| format!("{topic} 0 {document} {grade}")).collect()
}

fn stage(path: PathBuf, lines: &[String]) -> Result<(Staged, (PathBuf, usize)), Error> {
    let fill = |out: &mut dyn Write| -> io::Result<()> {
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    };
    let staged = Staged::new(&path, fill)?;
    Ok((staged, (path, lines.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::DataDir;

    #[test]
    fn every_split_is_written_with_its_labels() {
        let (sample, folder) =
            (clariq_collections::open(&DataDir::Sample).unwrap(), tempfile::tempdir().unwrap());
        let files = export(&*sample, "questions", folder.path()).unwrap();
        let names: Vec<_> =
            files.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap()).collect();
        let of = |split: &str| [format!("requests.{split}.jsonl"), format!("qrels.{split}.txt")];
        let expected: Vec<String> = ["documents.jsonl".to_owned()]
            .into_iter()
            .chain(["train", "dev", "test"].iter().flat_map(|split| of(split)))
            .collect();
        assert_eq!(names, expected);
        assert_eq!(files[0].1, sample.documents("questions").unwrap().len());
        let labels = sample.qrels("dev", "questions").unwrap().unwrap();
        let judged: usize = labels.topics().map(|(_, one)| one.documents().count()).sum();
        assert_eq!(files[4].1, judged);
        let qrels = clariq_files::read_qrels(&clariq_files::Source::new(&files[4].0)).unwrap();
        assert_eq!(qrels.len(), judged);
    }
}
