//! A file of conversations or of requests as the input of a run.

use super::input::{RunEntry, RunInput, put_ranking};
use crate::ranker::UserRequest;
use crate::requests::{ARCHIVE, RequestReader};
use crate::session::Session;
use clariq_collections::{Collection, ConversationForm, SkippedRecords};
use clariq_core::{Checksum, Documents, Hint, ProblemKind, Result, bail, problem};
use clariq_files::Source;
use clariq_files::archive::Archive;
use clariq_rank::{Uses, WrittenScores};
use clariq_systems::SystemConfig;
use serde_json::{Value, json};
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::slice;

/// The content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFileKind {
    /// Conversations in the collection's own form, with runs of a form of their own.
    Conversations,
    /// Requests as JSON lines, as for `clariq rank`. Their runs are TREC runs.
    Requests,
}

impl RequestFileKind {
    fn key(self) -> &'static str {
        match self {
            Self::Conversations => "conversations",
            Self::Requests => "requests",
        }
    }
}

/// A file of requests in one of the two forms.
pub struct FileInput<'a> {
    source: Source,
    /// The file's name up to the first dot.
    stem: String,
    kind: RequestFileKind,
    /// The file's name without its folder.
    file: String,
    sha256: Option<Checksum>,
    skip_bad: bool,
    documents: &'a dyn Documents,
    /// The form of the collection's conversations, if the file has some.
    conversations: Option<Box<dyn ConversationForm + 'a>>,
}

impl<'a> FileInput<'a> {
    /// Opens a file, plain or gzip; `-` is standard input.
    /// With `skip_bad`, bad records are skipped and counted; otherwise the first one is an error.
    pub fn open(
        session: &Session<'a>,
        file: &Path,
        kind: RequestFileKind,
        skip_bad: bool,
    ) -> Result<Self> {
        let source = Source::new(file).repeatable()?;
        let sha256 = match &source {
            // The reader reports the error.
            Source::Path(path) if !path.is_file() => None,
            // This also protects the file from being replaced by an output.
            source => Some(source.checksum()?),
        };
        let name = file.file_name().map_or("stdin".into(), |name| name.to_string_lossy());
        let stem = name.split('.').next().filter(|stem| !stem.is_empty() && *stem != "-");
        let stem = stem.unwrap_or("stdin").to_owned();
        let file = name.into_owned();
        let conversations = match kind {
            RequestFileKind::Conversations => Some(conversation_form(session.collection)?),
            RequestFileKind::Requests => None,
        };
        let documents = session.documents;
        Ok(Self { source, stem, kind, file, sha256, skip_bad, documents, conversations })
    }

    fn read_requests(
        &self,
        send: &mut dyn FnMut(UserRequest) -> ControlFlow<()>,
    ) -> Result<SkippedRecords> {
        let archive = Archive::new(slice::from_ref(&self.source), &ARCHIVE)?;
        let lines = Box::new(BufReader::new(archive.open()?));
        let requests = RequestReader::new(archive.name(), lines, self.documents, false);
        let mut requests = requests.with_unique_ids();
        let mut skipped = SkippedRecords::default();
        let mut is_empty = true;
        while let Some(next) = requests.read_next()? {
            is_empty = false;
            match next {
                Ok(query) => {
                    if send(query).is_break() {
                        break;
                    }
                }
                Err(problem) if self.skip_bad => {
                    skipped.count += 1;
                    skipped.first.get_or_insert(problem);
                }
                Err(problem) => return Err(problem.into()),
            }
        }
        if is_empty {
            let expected = "at least one request";
            let problem = problem!(archive.name(), expected, "none", (ARCHIVE.hint));
            return Err(problem.kind(ProblemKind::Empty).into());
        }
        Ok(skipped)
    }
}

fn conversation_form(collection: &dyn Collection) -> Result<Box<dyn ConversationForm + '_>> {
    collection.conversation_form().ok_or_else(|| {
        let found = format!("{} in {}", collection.kind(), collection.location());
        let hint = "--requests ranks for the requests of a file over any collection";
        problem!("--conversations", "a collection with a form of conversations", found, hint).into()
    })
}

impl RunInput for FileInput<'_> {
    fn name(&self) -> &str {
        &self.stem
    }

    fn location(&self) -> String {
        self.source.name()
    }

    /// Refuses a system that answers, and stages that compare requests with each other: a file is
    /// ranked in blocks, and a ranking must not depend on the block.
    fn check(&self, config: &SystemConfig) -> Result<()> {
        let (found, hint) = match self.kind {
            RequestFileKind::Conversations => (
                "conversations",
                Hint::from(
                    "systems for conversations are `dense-conversation`, `bm25-conversation` and \
                     `bm25-multi-turn`",
                ),
            ),
            RequestFileKind::Requests => (
                "a file of requests",
                Hint::on_data("rank --batch").and(" ranks the requests of a file together"),
            ),
        };
        if config.answers() {
            let flag = self.kind.key();
            let name = &config.name;
            let hint = format!("systems that answer run over a split: leave --{flag} out");
            let found = format!("`{name}`, which has several");
            bail!(format!("--{flag}"), "a system for one task", found, hint);
        }
        let mut stages = config.plan.stages();
        let Some(stage) = stages.find(|stage| stage.uses.contains(&Uses::Batch)) else {
            return Ok(());
        };
        let expected = "requests of a split, each with questions of its own";
        bail!(format!("stage `{}`", stage.name), expected, found, hint)
    }

    fn describe(&self, config: &SystemConfig, record: &mut Value) -> Result<()> {
        if self.kind == RequestFileKind::Conversations {
            record["conversation"] = json!(config.conversation);
        }
        record["skip_bad"] = self.skip_bad.into();
        record[self.kind.key()] = json!({ "file": self.file, "sha256": self.sha256 });
        Ok(())
    }

    fn count(&self, record: &mut Value, requests: u64, skipped: &SkippedRecords) {
        let (count, skipped_count) = match self.kind {
            RequestFileKind::Conversations => ("contexts", "bad_records"),
            RequestFileKind::Requests => ("count", "bad_lines"),
        };
        record[self.kind.key()][count] = requests.into();
        record[self.kind.key()][skipped_count] = skipped.count.into();
    }

    fn read(&self, send: &mut dyn FnMut(UserRequest) -> ControlFlow<()>) -> Result<SkippedRecords> {
        match &self.conversations {
            Some(form) => {
                form.read(&self.source, self.skip_bad, &mut |request| send(request.into()))
            }
            None => self.read_requests(send),
        }
    }

    fn put(&self, out: &mut [Vec<u8>], entry: &RunEntry) -> io::Result<u64> {
        let Some(conversations) = &self.conversations else {
            return put_ranking(&mut out[0], self.documents, entry);
        };
        let ranking = &entry.outcome.ranking;
        let form = entry.config.conversation;
        let hits = &ranking[..ranking.len().min(form.lines.get())];
        for (index, hit) in hits.iter().enumerate() {
            let (rank, score) = match form.scores {
                WrittenScores::Own => (index + 1, hit.score),
                WrittenScores::Remaining => (index, (ranking.len() - index) as f64),
            };
            let hit = (hit.doc, rank, score);
            conversations.put_hit(&mut out[0], &entry.request.id, hit, entry.tag)?;
        }
        Ok(hits.len() as u64)
    }
}
