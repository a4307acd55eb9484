//! A split of a collection as the input of a run of answers: what is handed in, and beside it the
//! rankings of statements and of passages.

use super::given::{Candidates, Given};
use super::input::{Input, Skipped, Writing};
use super::split::describe_split;
use crate::answers::{AnswerConfig, PASSAGES, STATEMENTS};
use crate::pipelines::{Asked, Found};
use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::{Answer, AnswerForm, Class, Collection};
use clariq_core::Error;
use clariq_core::{Documents, Location, Problem, ProblemKind, Request};
use clariq_files::put_run_lines;
use clariq_rank::System;
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The requests of a split as a system of a class sees them, read as they are ranked.
pub(super) struct SplitAnswers<'a> {
    collection: &'a dyn Collection,
    split: &'static str,
    class: Class,
    form: Box<dyn AnswerForm + 'a>,
    statements: &'a dyn Documents,
    passages: &'a dyn Documents,
    given: Option<(&'a Given, Candidates)>,
    requests: usize,
}

impl<'a> SplitAnswers<'a> {
    /// The split for a system that answers, perhaps of the documents that another run gives to each
    /// request.
    pub(super) fn open(
        session: &Session<'a>,
        loaded: &Loaded,
        config: &AnswerConfig,
        split: &'static str,
        given: Option<&'a Given>,
    ) -> Result<Self, Error> {
        let (collection, class) = (session.collection, config.class());
        loaded.check_tasks(collection)?;
        let form = collection.answer_form(split, class).ok_or_else(|| {
            let (expected, found) =
                ("a collection that answers are handed in for", collection.kind());
            Problem::new(Location::file(&loaded.file), ProblemKind::Argument, expected, found)
                .hint("--data names a folder with the files of iKAT")
        })?;
        let passages = collection.documents(PASSAGES)?;
        let candidates = given.map(|given| given.candidates(passages)).transpose()?;
        Ok(Self {
            collection,
            split,
            class,
            form,
            statements: collection.documents(STATEMENTS)?,
            passages,
            given: given.zip(candidates),
            requests: collection.requests_seen(split, PASSAGES, class)?.count(),
        })
    }

    fn put_rankings(
        &self,
        out: &mut [Vec<u8>],
        request: &Request,
        found: &Found,
        tag: &str,
    ) -> io::Result<u64> {
        let tasks = [(STATEMENTS, self.statements), (PASSAGES, self.passages)];
        let mut lines = 0;
        for (((task, documents), ranking), out) in tasks.iter().zip(&found.rankings).zip(out) {
            let name = |doc| {
                let id = documents.id(doc);
                self.collection.name_in_runs(task, &id).to_owned()
            };
            let hits = ranking.iter().map(|hit| (name(hit.doc), hit.score));
            put_run_lines(out, [(&request.id, hits)], tag)?;
            lines += ranking.len() as u64;
        }
        Ok(lines)
    }
}

/// The run of a task that belongs to what is handed in at `path`: `X.json` has `X.statements.run`
/// and `X.passages.run`.
pub fn ranking_path(path: &Path, task: &str) -> PathBuf {
    let name = path.to_string_lossy();
    PathBuf::from(format!("{}.{task}.run", name.strip_suffix(".json").unwrap_or(&name)))
}

impl Input for SplitAnswers<'_> {
    fn name(&self) -> &str {
        self.split
    }

    fn location(&self) -> String {
        format!("{} in {}", self.split, self.collection.location())
    }

    fn known(&self) -> Option<usize> {
        Some(self.requests)
    }

    fn check(&self, _system: &System) -> Result<(), Error> {
        Ok(())
    }

    fn describe(&self, system: &System) -> Result<Map<String, Value>, Error> {
        let given = self.given.as_ref().map(|(given, _)| *given);
        describe_split(self.collection, self.split, given, system)
    }

    fn count(&self, record: &mut Value, requests: u64, _skipped: &Skipped) {
        record["topics"]["count"] = requests.into();
    }

    fn read(
        &self,
        done: u64,
        send: &mut dyn FnMut(Asked) -> ControlFlow<()>,
    ) -> Result<Skipped, Error> {
        let seen = |task| self.collection.requests_seen(self.split, task, self.class);
        for (of_user, request) in seen(STATEMENTS)?.zip(seen(PASSAGES)?).skip(done as usize) {
            let mut request = request?;
            if let Some((_, candidates)) = &self.given {
                candidates.give(&mut request);
            }
            if send(vec![of_user?, request]).is_break() {
                break;
            }
        }
        Ok(Skipped::default())
    }

    fn files(&self, path: &Path) -> Vec<(&'static str, PathBuf)> {
        let rankings = [STATEMENTS, PASSAGES].map(|task| (task, ranking_path(path, task)));
        [("submission", path.to_owned())].into_iter().chain(rankings).collect()
    }

    fn put(
        &self,
        out: &mut [Vec<u8>],
        index: u64,
        request: &Request,
        found: &Found,
        writing: &Writing,
    ) -> io::Result<u64> {
        let Some(answered) = &found.answer else { return Ok(0) };
        let answer = Answer {
            request: &request.id,
            text: &answered.text,
            statements: &answered.statements,
            passages: &answered.passages,
            used: &answered.used,
        };
        self.form.put(&mut out[0], index, writing.tag, &answer)?;
        self.put_rankings(&mut out[1..], request, found, writing.tag)
    }

    fn put_end(&self, file: usize, out: &mut dyn Write) -> io::Result<()> {
        if file == 0 { self.form.put_end(out) } else { Ok(()) }
    }
}
