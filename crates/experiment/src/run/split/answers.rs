//! The requests of a split for a system that answers. Its run is a submission, with the runs of
//! statements and of passages beside it.

use super::{SplitSource, set_candidates, sight_of};
use crate::ranker::{Answer, Statements, UserRequest};
use crate::run::candidates::CandidateDocs;
use crate::run::input::{RunEntry, RunInput};
use crate::session::Session;
use clariq_collections::{
    Collection, Requests, Sight, SkippedRecords, Split, SubmissionForm, SubmittedAnswer, Submitter,
    SystemClass, Task, ranking_path,
};
use clariq_core::{Documents, Ranking, RequestId, Result, bail};
use clariq_files::{as_written, put_run_lines};
use clariq_systems::SystemConfig;
use clariq_systems::plan::{PASSAGES, STATEMENTS};
use serde_json::Value;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A task that the system ranks for, with its documents.
struct RankedTask<'a> {
    task: Task,
    documents: &'a dyn Documents,
}

impl<'a> RankedTask<'a> {
    fn of(collection: &'a dyn Collection, name: &str) -> Result<Self> {
        let task = collection.find_task(name)?;
        Ok(Self { task, documents: collection.documents(task)? })
    }
}

/// The requests of a split, which are read from the collection one after the other.
pub(super) struct AnsweredSplit<'a> {
    source: SplitSource<'a>,
    sight: Sight,
    form: Box<dyn SubmissionForm + 'a>,
    team: Option<String>,
    /// The statements of users, if the system ranks them.
    statements: Option<RankedTask<'a>>,
    passages: RankedTask<'a>,
    candidates: Option<CandidateDocs>,
    /// The maximum number of passages per turn in a submission.
    most_passages: usize,
    /// The number of requests.
    count: usize,
}

impl<'a> AnsweredSplit<'a> {
    pub(super) fn open(
        session: &Session<'a>,
        config: &SystemConfig,
        source: SplitSource<'a>,
    ) -> Result<Self> {
        let SplitSource { collection, split, .. } = source;
        config.check_tasks(collection)?;
        check_limit(config, collection, split)?;
        let form = open_form(session, config, &source)?;
        let sight = sight_of(config);
        let ranks_statements = config.ranks_statements();
        let statements =
            ranks_statements.then(|| RankedTask::of(collection, STATEMENTS)).transpose()?;
        let passages = RankedTask::of(collection, PASSAGES)?;
        let mut ids: Vec<RequestId> = Vec::new();
        for request in collection.requests_seen(split, passages.task, sight)? {
            ids.push(request?.id);
        }
        let candidates = source.candidates(session, passages.documents, ids.iter())?;
        Ok(Self {
            source,
            sight,
            form,
            team: session.options.team.clone(),
            statements,
            passages,
            candidates,
            most_passages: config.plan.answer().map_or(0, |answer| answer.passages),
            count: ids.len(),
        })
    }

    /// The requests of a task, with the parts that the system may see.
    fn requests(&self, task: Task) -> Result<Requests<'_>> {
        self.source.collection.requests_seen(self.source.split, task, self.sight)
    }

    fn put_run(
        &self,
        out: &mut Vec<u8>,
        entry: &RunEntry,
        of: &RankedTask,
        ranking: &Ranking,
    ) -> io::Result<()> {
        let request = &entry.request.id;
        let named = ranking.iter().map(|hit| {
            let id = of.documents.id(hit.doc);
            let name = self.source.collection.name_in_runs(request.as_str(), of.task, &id);
            (name.into_owned(), hit.score)
        });
        put_run_lines(out, request, named, entry.tag)
    }
}

/// Refuses responses that may be longer than the guidelines of the split allow.
fn check_limit(config: &SystemConfig, collection: &dyn Collection, split: Split) -> Result<()> {
    let Some(limit) = collection.response_limit(split) else { return Ok(()) };
    let Some(answer) = config.plan.answer() else { return Ok(()) };
    let Some(response) = &answer.response else { return Ok(()) };
    let tokens = if limit.together { limit.tokens / answer.responses.max(1) } else { limit.tokens };
    if response.tokens > tokens {
        let of = if limit.together { "all responses to a request together" } else { "a response" };
        let expected = format!("answer.response.tokens up to {tokens}, for {split}");
        let hint = format!("its guidelines allow {of} {} tokens", limit.tokens);
        let found = format!("{} in each of {}", response.tokens, answer.responses);
        bail!(&*config.name, expected, found, hint);
    }
    Ok(())
}

/// The form of submissions for the split.
fn open_form<'a>(
    session: &Session<'a>,
    config: &SystemConfig,
    source: &SplitSource<'a>,
) -> Result<Box<dyn SubmissionForm + 'a>> {
    let SplitSource { collection, split, .. } = *source;
    let team = session.options.team.clone();
    let submitter = Submitter {
        class: config.class().unwrap_or(SystemClass::Automatic),
        team: team.clone(),
        responds: config.writes(),
    };
    let Some(form) = collection.submission_form(split, submitter) else {
        let expected = "a collection with a format for submissions";
        let hint = "--data names a folder with the files of iKAT or MTRAG; `clariq rank` and \
                    `clariq ask` answer from any documents";
        bail!(&*config.file, expected, (collection.described()), hint);
    };
    if team.is_some() && !form.names_team() {
        let expected = "a split whose submissions name the team (iKAT: 2025)";
        bail!("--team", expected, "--split {split}", "leave it out");
    }
    if team.is_none() && form.names_team() {
        session.observer.note("note: the submission's `team_id` is clariq; --team names yours");
    }
    Ok(form)
}

impl RunInput for AnsweredSplit<'_> {
    fn name(&self) -> &str {
        self.source.split.name()
    }

    fn location(&self) -> String {
        self.source.location()
    }

    fn known(&self) -> Option<usize> {
        Some(self.count)
    }

    fn describe(&self, config: &SystemConfig, record: &mut Value) -> Result<()> {
        self.source.describe(config, record)?;
        if let Some(team) = &self.team {
            record["team"] = team.as_str().into();
        }
        Ok(())
    }

    fn read(&self, send: &mut dyn FnMut(UserRequest) -> ControlFlow<()>) -> Result<SkippedRecords> {
        // The requests of the two tasks differ only in their candidates.
        let of_user = self.statements.as_ref().map(|part| self.requests(part.task));
        let mut of_user = of_user.transpose()?;
        for request in self.requests(self.passages.task)? {
            let of_user = of_user.as_mut().and_then(Iterator::next).transpose()?;
            let statements = match of_user {
                Some(request) => Statements::Known(request.candidates),
                None => Statements::Own(Vec::new()),
            };
            let mut request = request?;
            set_candidates(self.candidates.as_ref(), &mut request);
            if send(UserRequest { request, statements }).is_break() {
                break;
            }
        }
        Ok(SkippedRecords::default())
    }

    fn files(&self, path: &Path) -> Vec<(&'static str, PathBuf)> {
        let mut files = vec![("submission", path.to_owned())];
        files.push((PASSAGES, ranking_path(path, self.passages.task)));
        if let Some(statements) = &self.statements {
            files.push((STATEMENTS, ranking_path(path, statements.task)));
        }
        files
    }

    fn put(&self, out: &mut [Vec<u8>], entry: &RunEntry) -> io::Result<u64> {
        let passages = &entry.outcome.ranking;
        let (Some(answer), [submission, passage_run, others @ ..]) = (&entry.outcome.answer, out)
        else {
            return Ok(0);
        };
        let Answer { responses, statements, chosen, .. } = answer;
        let submitted = SubmittedAnswer {
            run: entry.tag,
            index: entry.index,
            request: &entry.request.id,
            responses,
            statements: &as_written(chosen),
            passages: &as_written(&passages[..passages.len().min(self.most_passages)]),
        };
        self.form.put(submission, &submitted)?;
        if let (Some(task), Some(statement_run)) = (&self.statements, others.first_mut()) {
            self.put_run(statement_run, entry, task, statements)?;
        }
        self.put_run(passage_run, entry, &self.passages, passages)?;
        Ok((statements.len() + passages.len()) as u64)
    }

    fn put_end(&self, file: usize, out: &mut dyn Write) -> io::Result<()> {
        if file == 0 { self.form.put_end(out) } else { Ok(()) }
    }
}
