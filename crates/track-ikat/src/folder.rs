//! A folder with the track's files: topics, labels and passages.

use super::splits::{self, SplitFiles};
use super::topics::{TopicFile, Year};
use clariq_collections::documents::DocumentFolder;
use clariq_collections::{DataDir, Split, embedded};
use clariq_core::{Error, Location, Problem, ProblemKind, problem};
use clariq_files::Source;
use std::path::PathBuf;

/// The files of passages: those that the track published with the topics, and those that `clariq data
/// segment` writes.
const PASSAGES: [&str; 4] = [CITED[0], CITED[1], "passages.jsonl", "passages.trecweb"];

/// The released passages of 2023, which are those that the organisers' responses cite.
const CITED: [&str; 2] = ["2023_train_topics_psg_text.jsonl", "2023_test_topics_psg_text.jsonl"];

/// True for a file of passages that the organisers' responses cite.
pub(super) fn is_of_citations(file: &Source) -> bool {
    let name = file.name();
    CITED.iter().any(|cited| name.contains(cited))
}

/// The folders below a data folder that may contain the track's files.
const FOLDERS: [&str; 6] = ["", "topics", "passages", "qrels", "qrel", "ptkb"];

/// The sample, as it is in `data/sample-ikat`: topics of 2023 with labels of statements and passages,
/// all written for this project.
pub const SAMPLE: DataDir = DataDir::Sample(embedded![
    "sample-ikat",
    "2023_test_topics.json",
    "passages.jsonl",
    "ptkb_rel_org",
    "ptkb_rel_nist",
    "2023-qrels.all-turns.txt",
]);

/// Refuses two files for one thing, plain and packed or in two of [`FOLDERS`].
pub(super) fn check_track_files(data: &DataDir) -> Result<(), Error> {
    data.check_single(&FOLDERS, released_names())
}

/// The file `name` in a data folder or in one of [`FOLDERS`] below it, plain or packed (`.gz`, `.zst`).
pub(super) fn track_file(data: &DataDir, name: &str) -> Option<Source> {
    data.file_below(&FOLDERS, name)
}

/// The splits whose topics a folder has.
pub(super) fn track_splits(data: &DataDir) -> Vec<Split> {
    let mut splits = splits::ALL.to_vec();
    splits.retain(|split| track_file(data, splits::files(*split).topics).is_some());
    splits
}

/// Reads the topics of a split, which must have the form of its year.
pub fn read_topics(data: &DataDir, split: Split) -> Result<TopicFile, Error> {
    let name = splits::files(split).topics;
    let source = track_file(data, name).ok_or_else(|| missing(data, name))?;
    let topics = TopicFile::read(&source)?;
    if topics.year == splits::files(split).year {
        return Ok(topics);
    }
    Err(other_year(topics.name, topics.year, split).into())
}

/// The files of passages: those with the names of the track, and all in the folder `passages`. If
/// there is a JSON lines file and a `TrecWeb` file with the same name, only the former is read.
///
/// # Errors
///
/// A file in `passages` that is packed in a form that is not read.
pub(super) fn passage_files(data: &DataDir) -> Result<Vec<Source>, Error> {
    let mut files: Vec<Source> = Vec::new();
    for name in PASSAGES {
        if name != "passages.trecweb" || track_file(data, "passages.jsonl").is_none() {
            files.extend(track_file(data, name));
        }
    }
    for path in passage_folder(data)?.documents {
        let file = Source::Path(path);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(files)
}

/// The files in the folder `passages` that contain no passages.
pub(super) fn unread_passage_files(data: &DataDir) -> Result<Vec<PathBuf>, Error> {
    let mut unread = passage_folder(data)?.unread;
    // Other files of the track may be there, too.
    let released: Vec<Source> =
        released_names().into_iter().filter_map(|name| track_file(data, name)).collect();
    unread.retain(|path| !released.contains(&Source::Path(path.clone())));
    Ok(unread)
}

/// The names of all files of the track.
fn released_names() -> Vec<&'static str> {
    let mut names = PASSAGES.to_vec();
    for split in splits::ALL {
        let SplitFiles { topics, labels, .. } = splits::files(split);
        names.push(*topics);
        names.extend(labels.iter().map(|(name, _)| *name));
    }
    names
}

fn passage_folder(data: &DataDir) -> Result<DocumentFolder, Error> {
    match data {
        DataDir::Folder(folder) if folder.join("passages").is_dir() => {
            Ok(DocumentFolder::list(&folder.join("passages"))?.without_tables())
        }
        _ => Ok(DocumentFolder::default()),
    }
}

/// The location of the track's files, for messages.
pub(super) fn location(data: &DataDir) -> String {
    match data {
        DataDir::Folder(folder) => folder.display().to_string(),
        DataDir::Sample(_) => "<sample-ikat>".to_owned(),
    }
}

fn missing(data: &DataDir, name: &str) -> Problem {
    let splits = track_splits(data).into_iter().map(Split::name).collect::<Vec<_>>().join(", ");
    let topics = if splits.is_empty() {
        "no topics at all".to_owned()
    } else {
        format!("only topics of {splits}")
    };
    let (found, hint) = match data {
        DataDir::Folder(folder) if !folder.exists() => (
            "nothing at that path".to_owned(),
            "check the path: --data names the folder with the track's files",
        ),
        DataDir::Folder(_) => (
            topics,
            "put the file as the track releases it into that folder, or into `topics` below it",
        ),
        DataDir::Sample(_) => (
            topics,
            "--data names a folder with the track's files; the built-in sample only has the split \
             2023-test",
        ),
    };
    problem!((location(data)), "a file `{name}`", found, hint).kind(ProblemKind::MissingFile)
}

/// The problem of topics in the form of another year than their split.
pub(super) fn other_year(at: impl Into<Location>, found: Year, split: Split) -> Problem {
    problem!(
        at,
        (format!("topics in the form of {}", splits::files(split).year)),
        "topics in the form of {found}",
        "each year has a form of its own: is the file from another year?"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn split(name: &str) -> Split {
        crate::KIND.find_split(name).unwrap()
    }

    #[test]
    fn files_are_found_in_the_folder_and_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::Folder(folder.path().to_owned());
        assert!(track_splits(&data).is_empty());
        let topics = track_file(&SAMPLE, "2023_test_topics.json").unwrap().read().unwrap().bytes;
        fs::create_dir(folder.path().join("topics")).unwrap();
        fs::write(folder.path().join("topics/2023_test_topics.json"), &topics).unwrap();
        fs::write(folder.path().join("2024_test_topics.json"), &topics).unwrap();
        assert_eq!(track_splits(&data), [splits::TEST_2023, split("2024")]);
        assert_eq!(read_topics(&data, splits::TEST_2023).unwrap().conversations.len(), 6);
        let problem = read_topics(&data, split("2024")).unwrap_err().to_string();
        assert!(problem.contains("expected topics in the form of 2024"), "{problem}");
        let problem = read_topics(&data, split("2025")).unwrap_err().to_string();
        assert!(problem.contains("found only topics of 2023-test, 2024"), "{problem}");
    }

    #[test]
    fn two_files_for_one_thing_are_refused_with_both_names() {
        for (one, other) in [
            ("2023_test_topics.json", "topics/2023_test_topics.json"),
            ("2023_test_topics.json", "2023_test_topics.json.gz"),
            ("qrels/ptkb_rel_nist", "ptkb/ptkb_rel_nist"),
            ("passages.jsonl", "passages/passages.jsonl.zst"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let data = DataDir::Folder(folder.path().to_owned());
            for name in [one, other] {
                fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
                fs::write(folder.path().join(name), "").unwrap();
            }
            let refused = check_track_files(&data).unwrap_err().to_string();
            for name in [one, other] {
                assert!(refused.contains(&format!("/{name}`")), "{refused}");
            }
        }
    }

    #[test]
    fn other_files_among_the_passages_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::Folder(folder.path().to_owned());
        fs::create_dir(folder.path().join("passages")).unwrap();
        for name in ["a.jsonl", "b.txt", "c.tsv", "2023_test_topics.json"] {
            fs::write(folder.path().join("passages").join(name), "").unwrap();
        }
        let unread = unread_passage_files(&data).unwrap();
        let names: Vec<_> = unread.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["b.txt", "c.tsv"]);
    }

    #[test]
    fn the_sample_is_a_split_of_2023() {
        assert_eq!(track_splits(&SAMPLE), [splits::TEST_2023]);
        assert!(read_topics(&SAMPLE, splits::TEST_2023).is_ok());
        assert!(read_topics(&SAMPLE, split("2025")).is_err());
    }
}
