//! A folder with the track's files, and the splits that it may hold.

use super::topics::{TopicFile, Year};
use crate::DataDir;
use crate::data_dir::EmbeddedFile;
use crate::documents::DocumentFolder;
use clariq_core::{Error, Location, Problem, ProblemKind, problem};
use clariq_files::Source;
use std::fmt;
use std::path::PathBuf;

/// A file of topics that the track released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IkatSplit {
    /// The training topics of 2023.
    Train2023,
    /// The test topics of 2023, whose labels were released.
    Test2023,
    /// The test topics of 2024.
    Test2024,
    /// The test topics of 2025.
    Test2025,
}

impl IkatSplit {
    /// All splits, in the order of their release.
    pub const ALL: [Self; 4] = [Self::Train2023, Self::Test2023, Self::Test2024, Self::Test2025];

    /// The names of all splits.
    pub(super) const NAMES: [&str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = Self::ALL[index].name();
            index += 1;
        }
        names
    };

    /// Its name, its year, and the file of its topics.
    const fn parts(self) -> (&'static str, Year, &'static str) {
        match self {
            Self::Train2023 => ("2023-train", Year::Y2023, "2023_train_topics.json"),
            Self::Test2023 => ("2023-test", Year::Y2023, "2023_test_topics.json"),
            Self::Test2024 => ("2024", Year::Y2024, "2024_test_topics.json"),
            Self::Test2025 => ("2025", Year::Y2025, "2025_test_topics.json"),
        }
    }

    /// The name on the command line and in file names.
    pub const fn name(self) -> &'static str {
        self.parts().0
    }

    /// The split of this name.
    ///
    /// ```
    /// use clariq_collections::ikat::IkatSplit;
    ///
    /// assert_eq!(IkatSplit::parse("2024"), Some(IkatSplit::Test2024));
    /// assert_eq!(IkatSplit::parse("dev"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|split| split.name() == name)
    }

    /// The year whose form topics and runs of this split have.
    pub fn year(self) -> Year {
        self.parts().1
    }

    /// The name under which the track releases the topics.
    pub fn topics_file(self) -> &'static str {
        self.parts().2
    }
}

/// Where passages are read from: those that the track published with the topics, and those that
/// `clariq data segment` writes.
const PASSAGES: [&str; 4] = [
    "2023_train_topics_psg_text.jsonl",
    "2023_test_topics_psg_text.jsonl",
    "passages.jsonl",
    "passages.trecweb",
];

impl fmt::Display for IkatSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where files are looked for below a data folder.
const FOLDERS: [&str; 6] = ["", "topics", "passages", "qrels", "qrel", "ptkb"];

/// The files of the sample, as they are in `data/sample-ikat`: topics of 2023 with labels of
/// statements and passages, all written for this project.
pub(super) const SAMPLE: &[EmbeddedFile] = embedded![
    "sample-ikat",
    "2023_test_topics.json",
    "passages.jsonl",
    "ptkb_rel_org",
    "ptkb_rel_nist",
    "2023-qrels.all-turns.txt",
];

/// The track's files: they lie in the data folder, or in a folder of `FOLDERS` below it.
impl DataDir {
    /// The file of this name, plain or with `.gz` appended, or `None` if the folder has neither.
    pub fn track_file(&self, name: &str) -> Option<Source> {
        self.file_below(&FOLDERS, name)
    }

    /// The splits whose topics the folder has.
    pub fn track_splits(&self) -> Vec<IkatSplit> {
        let has = |split: &IkatSplit| self.track_file(split.topics_file()).is_some();
        IkatSplit::ALL.into_iter().filter(has).collect()
    }

    /// Reads the topics of a split, which must have the form of its year.
    pub fn topics(&self, split: IkatSplit) -> Result<TopicFile, Error> {
        let name = split.topics_file();
        let source = self.track_file(name).ok_or_else(|| missing(self, name))?;
        let topics = TopicFile::read(&source)?;
        if topics.year == split.year() {
            return Ok(topics);
        }
        Err(other_year(topics.name, topics.year, split).into())
    }

    /// The files of passages: those with the names of the track, and all in `passages`. Where there are JSON lines and `TrecWeb` of one name, they hold the
    /// same.
    ///
    /// # Errors
    ///
    /// A file in `passages` that is packed in a form that is not read.
    pub fn passage_files(&self) -> Result<Vec<Source>, Error> {
        let mut files: Vec<Source> = Vec::new();
        for name in PASSAGES {
            if name != "passages.trecweb" || self.track_file("passages.jsonl").is_none() {
                files.extend(self.track_file(name));
            }
        }
        for path in self.passage_folder()?.documents {
            let file = Source::Path(path);
            if !files.contains(&file) {
                files.push(file);
            }
        }
        Ok(files)
    }

    /// The files in `passages` that are not of passages.
    pub(super) fn unread_passage_files(&self) -> Result<Vec<PathBuf>, Error> {
        let mut unread = self.passage_folder()?.unread;
        // Any file of the track may lie there.
        unread.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            self.track_file(&name) != Some(Source::Path(path.clone()))
        });
        Ok(unread)
    }

    fn passage_folder(&self) -> Result<DocumentFolder, Error> {
        match self {
            Self::Folder(folder) if folder.join("passages").is_dir() => {
                Ok(DocumentFolder::list(&folder.join("passages"))?.without_tables())
            }
            _ => Ok(DocumentFolder::default()),
        }
    }
}

/// Where the track's files are, for messages.
pub(super) fn location(data: &DataDir) -> String {
    match data {
        DataDir::Folder(folder) => folder.display().to_string(),
        DataDir::Sample => "<sample-ikat>".to_owned(),
    }
}

fn missing(data: &DataDir, name: &str) -> Problem {
    let splits =
        data.track_splits().into_iter().map(IkatSplit::name).collect::<Vec<_>>().join(", ");
    let topics = if splits.is_empty() {
        "no topics at all".to_owned()
    } else {
        format!("topics of {splits} alone")
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
        DataDir::Sample => (
            topics,
            "--data names a folder with the track's files; the built-in sample has the split \
             2023-test alone",
        ),
    };
    problem!((location(data)), "a file `{name}`", found, hint).kind(ProblemKind::MissingFile)
}

/// The problem that topics have the form of a year which is not that of their split.
pub(super) fn other_year(at: impl Into<Location>, found: Year, split: IkatSplit) -> Problem {
    problem!(
        at,
        (format!("topics in the form of {}", split.year())),
        "topics in the form of {found}",
        "each year has a form of its own: is the file another year's?"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_are_found_in_the_folder_and_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::Folder(folder.path().to_owned());
        assert!(data.track_splits().is_empty());
        let topics =
            DataDir::Sample.track_file("2023_test_topics.json").unwrap().read().unwrap().bytes;
        fs::create_dir(folder.path().join("topics")).unwrap();
        fs::write(folder.path().join("topics/2023_test_topics.json"), &topics).unwrap();
        fs::write(folder.path().join("2024_test_topics.json"), &topics).unwrap();
        assert_eq!(data.track_splits(), [IkatSplit::Test2023, IkatSplit::Test2024]);
        assert_eq!(data.topics(IkatSplit::Test2023).unwrap().conversations.len(), 6);
        let problem = data.topics(IkatSplit::Test2024).unwrap_err().to_string();
        assert!(problem.contains("expected topics in the form of 2024"), "{problem}");
        let problem = data.topics(IkatSplit::Test2025).unwrap_err().to_string();
        assert!(problem.contains("found topics of 2023-test, 2024 alone"), "{problem}");
    }

    #[test]
    fn the_sample_is_a_split_of_2023() {
        assert_eq!(DataDir::Sample.track_splits(), [IkatSplit::Test2023]);
        assert!(DataDir::Sample.topics(IkatSplit::Test2023).is_ok());
        assert!(DataDir::Sample.topics(IkatSplit::Test2025).is_err());
    }
}
