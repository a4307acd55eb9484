//! A file that the requests of a run are read from, and what tells it from others.

use crate::requests::ARCHIVE;
use clariq_core::Error;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_files::Source;
use clariq_files::archive::Archive;
use clariq_rank::{System, Uses};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;

/// So much of a file shows what it holds.
const HEAD: u64 = 1 << 20;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FileKind {
    /// Conversations of `ClariQ`: their runs name questions by their texts.
    Conversations,
    /// Requests as JSON lines, as `clariq rank` reads them: their runs are those of TREC.
    Requests,
}

impl FileKind {
    /// Writes into a record how many requests there were, and how many records were left out.
    pub(crate) fn count(self, record: &mut Value, requests: u64, bad: u64) {
        let (key, count, left_out) = match self {
            Self::Conversations => ("conversations", "contexts", "bad_records"),
            Self::Requests => ("requests", "count", "bad_lines"),
        };
        record[key][count] = requests.into();
        record[key][left_out] = bad.into();
    }

    fn key(self) -> &'static str {
        match self {
            Self::Conversations => "conversations",
            Self::Requests => "requests",
        }
    }
}

/// What a plan says of a file that was cut into shards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cut {
    pub(crate) kind: FileKind,
    pub(crate) file: String,
    pub(crate) sha256: String,
    pub(crate) contexts: u64,
    pub(crate) skip_bad: bool,
    pub(crate) bad_records: u64,
}

/// A file of requests in some form.
#[derive(Debug, Clone)]
pub(super) struct InputFile {
    pub(super) source: Source,
    /// The file's name up to the first dot.
    pub(super) stem: String,
    file: String,
    checksum: String,
    /// Whether bad records are left out and counted; else the first is the error.
    pub(super) skip_bad: bool,
}

impl InputFile {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(file: &Path, skip_bad: bool) -> Result<Self, Error> {
        let source = Source::new(file).repeatable()?;
        let checksum = match &source {
            // Whatever else it is, the reader says.
            Source::Path(path) if !path.is_file() => String::new(),
            // It is an input from now on, though it is read only after outputs were begun.
            source => source.checksum()?,
        };
        let name = file.file_name().map_or("stdin".into(), |name| name.to_string_lossy());
        let stem = name.split('.').next().filter(|stem| !stem.is_empty() && *stem != "-");
        let (stem, file) = (stem.unwrap_or("stdin").to_owned(), name.into_owned());
        Ok(Self { source, stem, file, checksum, skip_bad })
    }

    /// Opens a shard, which describes itself as the whole file.
    pub(super) fn of_shard(shard: &Path, cut: &Cut) -> Self {
        Self {
            source: Source::new(shard),
            stem: String::new(),
            file: cut.file.clone(),
            checksum: cut.sha256.clone(),
            skip_bad: cut.skip_bad,
        }
    }

    /// What it holds: requests, if its first JSON object has their keys.
    pub(super) fn kind(&self) -> FileKind {
        let head =
            || Archive::new(std::slice::from_ref(&self.source), &ARCHIVE).ok()?.head(HEAD).ok();
        let head = head().unwrap_or_default();
        let mut values =
            serde_json::Deserializer::from_slice(&head).into_iter::<Map<String, Value>>();
        match values.next() {
            Some(Ok(first)) if first.contains_key("text") || first.contains_key("said") => {
                FileKind::Requests
            }
            _ => FileKind::Conversations,
        }
    }

    /// What a plan says of it; nothing is counted yet.
    pub(super) fn cut(&self, kind: FileKind) -> Cut {
        let (file, sha256) = (self.file.clone(), self.checksum.clone());
        Cut { kind, file, sha256, contexts: 0, skip_bad: self.skip_bad, bad_records: 0 }
    }

    /// What the record of a run says of it.
    pub(super) fn describe(&self, kind: FileKind) -> Map<String, Value> {
        let mut described = Map::new();
        described.insert("skip_bad".to_owned(), self.skip_bad.into());
        let file = json!({ "file": self.file, "sha256": self.checksum });
        described.insert(kind.key().to_owned(), file);
        described
    }
}

/// Refuses a system that answers, and stages that compare requests with each other. A file goes
/// through in blocks, and what a request gets must not depend on the block that it falls into.
pub(super) fn check_system(kind: FileKind, system: &System) -> Result<(), Error> {
    let (found, hint) = match kind {
        FileKind::Conversations => (
            "conversations",
            "systems for conversations are `dense-conversation`, `bm25-conversation` and \
             `bm25-multi-turn`",
        ),
        FileKind::Requests => {
            ("a file of requests", "`clariq rank --batch` ranks the requests of a file together")
        }
    };
    if !system.tasks.is_empty() {
        let at = Location::file(format!("--{}", kind.key()));
        let found = format!("`{}`, which ranks for several", system.name);
        return Err(Problem::new(at, ProblemKind::Argument, "a system for one task", found)
            .hint("systems that answer are run over a split: leave it out")
            .into());
    }
    let mut stages = system.pipeline.about();
    let Some(stage) = stages.find(|stage| stage.uses.contains(&Uses::Batch)) else {
        return Ok(());
    };
    let at = Location::file(format!("stage `{}`", stage.name));
    let expected = "the requests of a split, of which each has questions of its own";
    Err(Problem::new(at, ProblemKind::Argument, expected, found).hint(hint).into())
}
