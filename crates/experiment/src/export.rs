//! A collection in the plain forms that other tools read: JSON lines and TREC qrels.

use crate::error::Error;
use clariq_collections::clariq::{Collection, Split};
use clariq_files::Staged;
use serde_json::json;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes `documents.jsonl` (`{"id", "text"}`), and for each split that is there
/// `requests.<split>.jsonl` (`{"id", "text"}`) and, if it has labels, `qrels.<split>.txt`. The files
/// take their names when all are complete; each is given with the number of its lines.
pub fn export(collection: &Collection, folder: &Path) -> Result<Vec<(PathBuf, usize)>, Error> {
    let mut files = Vec::new();
    let rows = collection.bank.rows();
    let documents = rows.iter().map(|row| json!({ "id": row.id, "text": row.text }).to_string());
    files.push(stage(folder.join("documents.jsonl"), &documents.collect::<Vec<_>>())?);
    for split in Split::ALL.into_iter().filter(|&split| collection.has(split, false)) {
        let data = collection.split(split)?;
        let requests = data.topics.iter();
        let requests = requests.map(|topic| json!({ "id": topic.id, "text": topic.request }));
        let requests: Vec<String> = requests.map(|request| request.to_string()).collect();
        files.push(stage(folder.join(format!("requests.{split}.jsonl")), &requests)?);
        let Some(labels) = &data.labels else { continue };
        let mut judgements = Vec::new();
        for (topic, relevant) in labels.topics.iter().zip(labels.relevant()) {
            let mut documents: Vec<_> = relevant.into_iter().collect();
            documents.sort();
            judgements
                .extend(documents.iter().map(|document| format!("{} 0 {document} 1", topic.id)));
        }
        files.push(stage(folder.join(format!("qrels.{split}.txt")), &judgements)?);
    }
    let (staged, listed): (Vec<_>, Vec<_>) = files.into_iter().unzip();
    staged.into_iter().try_for_each(Staged::commit)?;
    Ok(listed)
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
    use clariq_collections::clariq::DataDir;

    #[test]
    fn every_split_is_written_with_its_labels() {
        let (sample, folder) =
            (Collection::open(DataDir::Sample).unwrap(), tempfile::tempdir().unwrap());
        let files = export(&sample, folder.path()).unwrap();
        let names: Vec<_> =
            files.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap()).collect();
        let of = |split: &str| [format!("requests.{split}.jsonl"), format!("qrels.{split}.txt")];
        let expected: Vec<String> = ["documents.jsonl".to_owned()]
            .into_iter()
            .chain(["train", "dev", "test"].iter().flat_map(|split| of(split)))
            .collect();
        assert_eq!(names, expected);
        assert_eq!(files[0].1, sample.bank.len());
        let dev = sample.labelled(Split::Dev).unwrap();
        let judged: usize = dev.relevant().iter().map(std::collections::HashSet::len).sum();
        assert_eq!(files[4].1, judged);
        let qrels = clariq_files::read_qrels(&clariq_files::Source::new(&files[4].0)).unwrap();
        assert_eq!(qrels.len(), judged);
    }
}
