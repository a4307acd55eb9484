//! The requests of a split for a system that ranks. Its run is a TREC run; if the collection has a form
//! of submissions for rankings, a submission is written beside it.

use super::{SplitSource, set_candidates, sight_of};
use crate::ranker::UserRequest;
use crate::run::input::{RunEntry, RunInput, put_ranking};
use crate::session::Session;
use clariq_collections::{SkippedRecords, SubmissionForm, SubmittedAnswer};
use clariq_core::{Documents, Hit, Ranking, Request, Result, bail};
use clariq_files::{Run, RunLine, as_written, with_ending};
use clariq_systems::SystemConfig;
use serde_json::Value;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The requests of a split, in memory, and the documents that are ranked for them.
pub(super) struct RankedSplit<'a> {
    source: SplitSource<'a>,
    documents: &'a dyn Documents,
    requests: Vec<Request>,
    form: Option<Box<dyn SubmissionForm + 'a>>,
}

impl<'a> RankedSplit<'a> {
    pub(super) fn open(
        session: &Session<'a>,
        config: &SystemConfig,
        source: SplitSource<'a>,
    ) -> Result<Self> {
        if session.options.team.is_some() {
            let found = format!("`{}`, which writes a TREC run", config.name);
            bail!("--team", "a system that answers", found, "leave it out");
        }
        let documents = session.documents;
        let SplitSource { collection, split, .. } = source;
        let requests = collection.requests_seen(split, session.task, sight_of(config))?;
        let mut requests = requests.collect::<Result<Vec<Request>>>()?;
        let ids = requests.iter().map(|request| &request.id);
        let candidates = source.candidates(session, documents, ids)?;
        for request in &mut requests {
            set_candidates(candidates.as_ref(), request);
        }
        let form = collection.ranking_form(split);
        Ok(Self { source, documents, requests, form })
    }
}

impl RunInput for RankedSplit<'_> {
    fn name(&self) -> &str {
        self.source.split.name()
    }

    fn location(&self) -> String {
        self.source.location()
    }

    fn in_memory(&self) -> Option<&[Request]> {
        Some(&self.requests)
    }

    fn describe(&self, config: &SystemConfig, record: &mut Value) -> Result<()> {
        self.source.describe(config, record)
    }

    fn read(&self, send: &mut dyn FnMut(UserRequest) -> ControlFlow<()>) -> Result<SkippedRecords> {
        for request in &self.requests {
            if send(request.clone().into()).is_break() {
                break;
            }
        }
        Ok(SkippedRecords::default())
    }

    fn files(&self, path: &Path) -> Vec<(&'static str, PathBuf)> {
        let Some(form) = &self.form else { return vec![("run", path.to_owned())] };
        let name = path.to_string_lossy();
        // Either of both files may be named.
        let named = [form.ending(), ".run"].iter().find_map(|ending| name.strip_suffix(ending));
        let stem = Path::new(named.unwrap_or(&name));
        let run =
            if name.ends_with(form.ending()) { with_ending(stem, ".run") } else { path.to_owned() };
        vec![("run", run), ("submission", with_ending(stem, form.ending()))]
    }

    fn put(&self, out: &mut [Vec<u8>], entry: &RunEntry) -> io::Result<u64> {
        if let (Some(form), Some(submission)) = (&self.form, out.get_mut(1)) {
            let answer = SubmittedAnswer {
                run: entry.tag,
                index: entry.index,
                request: &entry.request.id,
                responses: &[],
                statements: &[],
                passages: &as_written(&entry.outcome.ranking),
            };
            form.put(submission, &answer)?;
        }
        put_ranking(&mut out[0], self.documents, entry)
    }

    fn put_end(&self, file: usize, out: &mut dyn Write) -> io::Result<()> {
        match &self.form {
            Some(form) if file == 1 => form.put_end(out),
            _ => Ok(()),
        }
    }
}

/// Rankings as a TREC run.
pub fn as_run(documents: &dyn Documents, requests: &[Request], rankings: &[Ranking]) -> Run {
    let mut run = Run::default();
    for (request, ranking) in requests.iter().zip(rankings) {
        for Hit { doc, score } in as_written(ranking) {
            let document = documents.id(doc).as_ref().into();
            run.lines.push(RunLine { topic: request.id.clone(), document, score, line: 0 });
        }
    }
    run
}
