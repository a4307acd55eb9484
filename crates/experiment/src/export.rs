//! Export of a collection as JSON lines and TREC qrels.

use clariq_collections::{Annotation, Collection, Task};
use clariq_core::{Doc, Documents, Error, ProblemKind, Request, Result, Speaker, bail};
use clariq_files::{Qrels, Target, make_folder, write_atomically};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes the documents of a task to `documents.jsonl` (lines of `{"id", "text"}`), and for each
/// split `requests.<split>.jsonl`, in the form that [`crate::requests`] reads. A split with labels
/// has `qrels.<split>.txt`, and one with annotations `annotations.<split>.jsonl`. A collection of
/// iKAT topics alone has no documents. The folder must be new or empty, and is made in one step.
/// Returns each file with its number of lines.
pub fn export(
    collection: &dyn Collection,
    task: Task,
    folder: &Path,
) -> Result<Vec<(PathBuf, usize)>> {
    write_folder(folder, |made| write_files(collection, task, made))
}

/// Writes the files to a folder.
fn write_files(
    collection: &dyn Collection,
    task: Task,
    folder: &Path,
) -> Result<Vec<(PathBuf, usize)>> {
    let documents = match collection.documents(task) {
        Err(Error::Problem(problem)) if problem.kind == ProblemKind::Empty => None,
        documents => Some(documents?),
    };
    let mut files = Vec::new();
    if let Some(documents) = documents {
        files.push(write_documents(documents, folder)?);
    }
    for split in collection.available_splits() {
        let part = SplitPart {
            requests: collection.requests(split, task)?.collect::<Result<_>>()?,
            qrels: collection.qrels(split, task)?,
            annotations: collection.annotations(split)?,
        };
        files.extend(part.write(split.name(), documents, folder)?);
    }
    Ok(files)
}

/// The requests and labels of a split in an export.
#[derive(Default)]
pub(crate) struct SplitPart {
    pub(crate) requests: Vec<Request>,
    /// Judgements, of other requests as well.
    pub(crate) qrels: Option<Qrels>,
    pub(crate) annotations: Vec<Annotation>,
}

impl SplitPart {
    /// Writes the files of a split of that name, and returns each with its number of lines.
    pub(crate) fn write(
        &self,
        name: &str,
        documents: Option<&dyn Documents>,
        folder: &Path,
    ) -> Result<Vec<(PathBuf, usize)>> {
        let requests: Vec<String> = self
            .requests
            .iter()
            .map(|request| request_line(request, documents).to_string())
            .collect();
        let mut files =
            vec![write_lines(folder.join(format!("requests.{name}.jsonl")), &requests)?];
        if let Some(qrels) = &self.qrels {
            let lines = self.requests.iter().flat_map(|it| qrels_lines(qrels, it.id.as_str()));
            let path = folder.join(format!("qrels.{name}.txt"));
            files.push(write_lines(path, &lines.collect::<Vec<_>>())?);
        }
        let annotations: Vec<String> =
            self.annotations.iter().map(|annotation| json!(annotation).to_string()).collect();
        if !annotations.is_empty() {
            let path = folder.join(format!("annotations.{name}.jsonl"));
            files.push(write_lines(path, &annotations)?);
        }
        Ok(files)
    }
}

/// Writes the documents, and returns the file with its number of lines.
pub(crate) fn write_documents(
    documents: &dyn Documents,
    folder: &Path,
) -> Result<(PathBuf, usize)> {
    write_lines(folder.join("documents.jsonl"), &document_lines(documents)?)
}

/// Makes a folder that is new or empty, with files, each with its number of lines.
pub(crate) fn write_folder(
    folder: &Path,
    write: impl FnOnce(&Path) -> Result<Vec<(PathBuf, usize)>>,
) -> Result<Vec<(PathBuf, usize)>> {
    check_empty(folder)?;
    make_folder(folder, |made| {
        let mut files = write(made)?;
        for (path, _) in &mut files {
            *path = folder.join(path.file_name().unwrap_or_default());
        }
        Ok(files)
    })
}

/// Refuses a folder with files: those of another export would become part of this one.
fn check_empty(folder: &Path) -> Result<()> {
    let Ok(mut entries) = fs::read_dir(folder) else { return Ok(()) };
    if let Some(Ok(entry)) = entries.next() {
        let found = format!("`{}` in it", entry.file_name().display());
        let hint = "name a new folder, or remove the files of the earlier export";
        bail!(folder, "a folder without files for the export", found, hint);
    }
    Ok(())
}

/// Writes requests as JSON lines, in the form that [`crate::requests`] reads.
pub fn write_requests(requests: &[Request], output: &Target) -> Result<()> {
    output.write(|out| {
        requests.iter().try_for_each(|request| writeln!(out, "{}", request_line(request, None)))
    })
}

fn request_line(request: &Request, documents: Option<&dyn Documents>) -> Value {
    let said = request.said.iter().map(|said| match said.speaker {
        Speaker::User => json!({ "user": said.text }),
        Speaker::System => json!({ "system": said.text }),
    });
    let mut line = json!({ "id": request.id, "said": said.collect::<Vec<_>>() });
    if let Some((candidates, documents)) = request.candidates.as_ref().zip(documents) {
        let ids = candidates.iter().map(|&doc| documents.id(doc));
        line["candidates"] = ids.collect::<Vec<_>>().into();
    }
    line
}

fn document_lines(documents: &dyn Documents) -> Result<Vec<String>> {
    let text =
        |doc: Doc| Ok(json!({ "id": documents.id(doc), "text": documents.text(doc)? }).to_string());
    Doc::all(documents.len()).map(text).collect()
}

/// The judgements of a topic as lines of qrels, by document.
fn qrels_lines(qrels: &Qrels, topic: &str) -> Vec<String> {
    let Some(judgements) = qrels.topic(&topic.into()) else { return Vec::new() };
    let mut judged: Vec<_> = judgements.documents().collect();
    judged.sort_unstable();
    judged.iter().map(|(document, grade)| format!("{topic} 0 {document} {grade}")).collect()
}

fn write_lines(path: PathBuf, lines: &[String]) -> Result<(PathBuf, usize)> {
    write_atomically(&path, |out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    Ok((path, lines.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::{DataDir, Split};
    use clariq_track_clariq::{QUESTIONS, splits};

    #[test]
    fn every_split_is_written_with_its_labels() {
        let sample = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let files = export(&*sample, QUESTIONS, folder.path()).unwrap();
        let files: Vec<_> = files
            .into_iter()
            .filter(|(path, _)| !path.to_string_lossy().contains("annotations"))
            .collect();
        let names: Vec<_> =
            files.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap()).collect();
        let of = |split: &str| [format!("requests.{split}.jsonl"), format!("qrels.{split}.txt")];
        let expected: Vec<String> = ["documents.jsonl".to_owned()]
            .into_iter()
            .chain(["train", "dev", "test"].iter().flat_map(|split| of(split)))
            .collect();
        assert_eq!(names, expected);
        assert_eq!(files[0].1, sample.documents(QUESTIONS).unwrap().len());
        let labels = sample.qrels(splits::DEV, QUESTIONS).unwrap().unwrap();
        let judged: usize = labels.topics().map(|(_, one)| one.documents().count()).sum();
        assert_eq!(files[4].1, judged);
        let qrels = clariq_files::read_qrels(&clariq_files::Source::new(&files[4].0)).unwrap();
        assert_eq!(qrels.len(), judged);
    }

    #[test]
    fn an_export_is_read_back_as_the_same_collection() {
        let ikat = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/sample-ikat");
        for data in [clariq_track_clariq::SAMPLE, DataDir::Folder(ikat.into())] {
            let folder = tempfile::tempdir().unwrap();
            let original = clariq_tracks::TRACKS.open(&data).unwrap();
            let task = original.tasks()[0];
            export(&*original, task, folder.path()).unwrap();
            let back = DataDir::Folder(folder.path().to_owned());
            let back = clariq_tracks::TRACKS.open(&back).unwrap();
            assert_eq!(back.kind(), "own");
            let document_lines = |collection: &dyn Collection, task| {
                document_lines(collection.documents(task).unwrap()).unwrap()
            };
            assert_eq!(document_lines(&*back, back.tasks()[0]), document_lines(&*original, task));
            let splits: Vec<Split> = original.available_splits().collect();
            assert!(!splits.is_empty());
            for split in splits {
                let read = |collection: &dyn Collection| {
                    let split = collection.find_split(split.name()).unwrap();
                    let task = collection.tasks()[0];
                    let requests = collection.requests(split, task).unwrap();
                    let requests: Vec<Request> = requests.map(Result::unwrap).collect();
                    (requests, collection.qrels(split, task).unwrap())
                };
                assert_eq!(read(&*back), read(&*original), "{split}");
                let lines = folder.path().join(format!("requests.{split}.jsonl"));
                for line in fs::read_to_string(lines).unwrap().lines() {
                    assert!(line.contains(r#","said":[{"user":"#), "one form: {line}");
                }
            }
        }
    }

    #[test]
    fn annotations_are_written_beside_the_requests() {
        let ikat = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/sample-ikat");
        let keys = |data: DataDir, split: &str| {
            let folder = tempfile::tempdir().unwrap();
            let collection = clariq_tracks::TRACKS.open(&data).unwrap();
            export(&*collection, collection.tasks()[0], folder.path()).unwrap();
            let path = folder.path().join(format!("annotations.{split}.jsonl"));
            let text = std::fs::read_to_string(path).unwrap();
            let line: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
            line.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(keys(clariq_track_clariq::SAMPLE, "dev"), "id need facets");
        assert_eq!(keys(DataDir::Folder(ikat.into()), "2023-test"), "id resolved statements");
    }

    #[test]
    fn a_folder_with_another_export_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let sample = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE).unwrap();
        export(&*sample, QUESTIONS, folder.path()).unwrap();
        let again = export(&*sample, QUESTIONS, folder.path()).unwrap_err().to_string();
        assert!(again.contains("a folder without files for the export"), "{again}");
    }

    #[test]
    fn topics_without_passages_give_requests_without_documents() {
        let data = tempfile::tempdir().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let topics = "2023_test_topics.json";
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sample-ikat");
        std::fs::copy(sample.join(topics), data.path().join(topics)).unwrap();
        let collection = clariq_tracks::TRACKS.open(&DataDir::Folder(data.path().into())).unwrap();
        let files = export(&*collection, collection.tasks()[0], folder.path()).unwrap();
        let names = files.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap());
        let expected = ["requests", "qrels", "annotations"].map(|kind| format!("{kind}.2023-test"));
        assert!(names.zip(expected).all(|(name, kind)| name.starts_with(&kind)) && files[0].1 > 0);
    }
}
