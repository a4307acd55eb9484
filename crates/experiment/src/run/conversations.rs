//! A file of conversations as the input of a run, whose lines name questions by their texts.

use super::input::{Input, Skipped, Writing};
use crate::error::Error;
use crate::pipelines::{Asked, Found};
use crate::session::Session;
use clariq_collections::clariq::conversation::{Reading, read_records};
use clariq_collections::clariq::{ClariQ, QuestionBank, put_text_run_line};
use clariq_core::{Location, Problem, ProblemKind, Request};
use clariq_files::Source;
use clariq_rank::{System, Uses, WrittenScores};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// A file of conversations, and what tells it from others.
pub struct Conversations<'a> {
    bank: &'a QuestionBank,
    source: Source,
    stem: String,
    file: String,
    checksum: String,
    skip_bad: bool,
    /// Whether the questions of every record are known to be of the bank.
    checked: bool,
}

/// What a plan says of a file that was cut into shards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cut {
    pub(crate) file: String,
    pub(crate) sha256: String,
    pub(crate) contexts: u64,
    pub(crate) skip_bad: bool,
    pub(crate) bad_records: u64,
}

impl<'a> Conversations<'a> {
    /// Opens a file; `-` is standard input. With `skip_bad`, bad records are left out and counted;
    /// otherwise the first is the error.
    pub fn open(session: &Session<'a>, file: &Path, skip_bad: bool) -> Result<Self, Error> {
        let bank = &ClariQ::of(session.collection)?.bank;
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
        Ok(Self { bank, source, stem, file, checksum, skip_bad, checked: false })
    }

    /// Opens a shard of a file that was checked when it was cut. It describes itself as the whole
    /// file.
    pub(crate) fn of_shard(session: &Session<'a>, shard: &Path, cut: &Cut) -> Result<Self, Error> {
        Ok(Self {
            bank: &ClariQ::of(session.collection)?.bank,
            source: Source::new(shard),
            stem: String::new(),
            file: cut.file.clone(),
            checksum: cut.sha256.clone(),
            skip_bad: cut.skip_bad,
            checked: true,
        })
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// What a plan says of the file.
    pub(crate) fn cut(&self) -> Cut {
        let (file, sha256) = (self.file.clone(), self.checksum.clone());
        Cut { file, sha256, skip_bad: self.skip_bad, ..Cut::default() }
    }
}

impl Input for Conversations<'_> {
    /// The file's name up to the first dot.
    fn name(&self) -> &str {
        &self.stem
    }

    fn location(&self) -> String {
        self.source.name()
    }

    /// Refuses stages that compare requests with each other. A file of conversations goes through
    /// in blocks, and what a context gets must not depend on the block that it falls into.
    fn check(&self, system: &System) -> Result<(), Error> {
        if !system.tasks.is_empty() {
            let at = Location::file("--conversations");
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
        Err(Problem::new(at, ProblemKind::Argument, expected, "conversations")
            .hint(
                "systems for conversations are `dense-conversation`, `bm25-conversation` and \
                 `bm25-multi-turn`",
            )
            .into())
    }

    fn describe(&self, system: &System) -> Result<Map<String, Value>, Error> {
        let mut described = Map::new();
        described.insert("conversation".to_owned(), json!(system.conversation));
        described.insert("skip_bad".to_owned(), self.skip_bad.into());
        let file = json!({ "file": self.file, "sha256": self.checksum });
        described.insert("conversations".to_owned(), file);
        Ok(described)
    }

    fn count(&self, record: &mut Value, requests: u64, skipped: &Skipped) {
        record["conversations"]["contexts"] = requests.into();
        record["conversations"]["bad_records"] = skipped.count.into();
    }

    fn read(
        &self,
        done: u64,
        send: &mut dyn FnMut(Asked) -> ControlFlow<()>,
    ) -> Result<Skipped, Error> {
        let bank = Some(self.bank).filter(|_| !self.checked);
        let reading = Reading { bank, skip_bad: self.skip_bad };
        let mut seen = 0;
        let counts = read_records(&self.source, &reading, &mut |record| {
            seen += u64::from(!record.again);
            if record.again || seen <= done {
                return ControlFlow::Continue(());
            }
            send(vec![Request::from(&record.conversation)])
        })?;
        Ok(Skipped { count: counts.bad, first: counts.first })
    }

    fn put(
        &self,
        out: &mut [Vec<u8>],
        _index: u64,
        request: &Request,
        found: &Found,
        writing: &Writing,
    ) -> io::Result<u64> {
        let [ranking] = &found.rankings[..] else { return Ok(0) };
        let form = writing.system.conversation;
        let hits = &ranking[..ranking.len().min(form.lines.get())];
        for (index, hit) in hits.iter().enumerate() {
            let (rank, score) = match form.scores {
                WrittenScores::Own => (index + 1, hit.score),
                WrittenScores::Remaining => (index, (ranking.len() - index) as f64),
            };
            let text = self.bank.text(hit.doc);
            put_text_run_line(&mut out[0], &request.id, text, rank, score, writing.tag)?;
        }
        Ok(hits.len() as u64)
    }
}
