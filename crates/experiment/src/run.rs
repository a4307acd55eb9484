//! Runs: a system ranks every request of an input, the outcomes are written in order, and a record
//! beside them describes how they were made.
//!
//! Requests are ranked in blocks: while one block is ranked, another thread reads the next. All
//! files of a run are temporary until they are complete, and take their names together.

mod candidates;
mod check;
mod file;
mod input;
mod other_data;
mod split;

use crate::needs::{NeedScope, PredictedNeeds, predict_split};
use crate::ranker::{Ranker, RankerOutcome, UserRequest};
use crate::record::{self, RecordedOutput, describe};
use crate::session::{Contexts, Session};
use crate::training::open_system;
use clariq_collections::{Collection, Submitter};
use clariq_core::{
    Error, Hint, IoAction, Job, Observer, Problem, Request, Result, count_of, one_or, problem,
};
use clariq_files::{StagedFile, StagedWriter, Target};
use clariq_rank::Uses;
use clariq_systems::SystemConfig;
use input::RunEntry;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{panic, thread};

pub use candidates::CandidateRun;
pub use check::check_input;
pub use clariq_collections::SkippedRecords;
pub use clariq_collections::ranking_path;
pub use file::{FileInput, RequestFileKind};
pub use input::RunInput;
pub use other_data::refuse_other_data;
pub use split::{as_run, open_split};

/// The number of requests that are ranked together. It does not change a run: a system with a stage
/// that compares requests gets all of them as one block.
const BLOCK: usize = 4096;

/// The folder of a collection's runs in `folder`.
pub fn folder_of(folder: &Path, collection: &dyn Collection) -> PathBuf {
    folder.join(collection.folder_name())
}

/// The usual path of a run: `<folder>/<collection>/<system>.<input>.run`, where the system's name
/// includes overridden parameters, and a task that is not the usual one. A submission ends in
/// `.json`, or in `.jsonl` where it has that form.
pub fn usual_path(folder: &Path, session: &Session, config: &SystemConfig, input: &str) -> PathBuf {
    let system = config.full_name();
    let collection = session.collection;
    let file = match config.class() {
        Some(class) => {
            let submitter = Submitter { class, team: None, responds: config.writes() };
            let split = collection.find_split(input).ok();
            let form = split.and_then(|split| collection.submission_form(split, submitter));
            format!("{system}.{input}{}", form.map_or(".json", |form| form.ending()))
        }
        None if session.task == collection.tasks()[0] => format!("{system}.{input}.run"),
        None => format!("{system}-{}.{input}.run", session.task),
    };
    folder_of(folder, collection).join(file)
}

/// The size of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Requests that were ranked.
    pub requests: u64,
    /// Lines that were written for them.
    pub lines: u64,
    /// Requests without a line.
    pub empty: u64,
}

/// Ranks every request of an input and writes the run to `path`, and beside it the rankings that
/// answers are based on, the predicted needs of a split, and the record. A stream gets only the
/// run.
///
/// `tag` is the last field of every line; the default is the system's name.
///
/// # Errors
///
/// Errors of stages and readers, a system that does not fit the input, and a system that ranks
/// nothing for any request of a split.
pub fn run(
    contexts: &Contexts,
    config: &SystemConfig,
    input: &dyn RunInput,
    tag: Option<&str>,
    path: &Path,
) -> Result<RunSummary> {
    let session = contexts.session;
    let is_stream = Target::new(path).is_stream();
    let is_dry_run = session.registry.calls().is_dry_run();
    check::refuse_input_as_output(session, config, input, path)?;
    check_input(config, input, session.observer)?;
    session.registry.calls().begin_run();
    session.begin_answers(requests_of(input, config)?.filter(|_| !is_dry_run));
    // The calls of this run must be its own: documents that were encoded for another system are
    // encoded again, from the cache.
    let own = (!config.endpoints.is_empty()).then(|| Contexts::new(session));
    let contexts = own.as_ref().unwrap_or(contexts);
    // The needs of requests in memory are predicted for all of them at once.
    let requests = input.in_memory();
    let predict = if requests.is_some() { NeedScope::Never } else { NeedScope::ForStages };
    let system = open_system(contexts, config, predict)?;
    let needs = match requests {
        Some(requests) => predict_split(session, config, requests, !is_stream)?,
        None => None,
    };
    let full_name = config.full_name();
    let tag = tag.unwrap_or(&full_name).replace(char::is_whitespace, "_");
    let mut made_by = describe(&system, &tag)?;
    if let Some(needs) = &needs {
        made_by["need"] = needs.made_by.clone();
    }
    input.describe(config, &mut made_by)?;

    let mut writer = RunWriter::create(input, &tag, path, is_dry_run)?;
    let (summary, skipped) = rank_input(&system, needs.as_ref(), &mut writer)?;
    session.report_answers();
    if is_dry_run {
        return Ok(summary);
    }
    session.end_answers()?;
    // The run of a file may be empty: the file may be a block of a larger one.
    if summary.lines == 0 && input.known().is_some() {
        return Err(nothing_ranked(config, input, summary.requests).into());
    }
    let mut files = writer.finish()?;
    if !is_stream {
        if let (Some(needs), Some(requests)) = (&needs, requests) {
            let path = record::need_path(path);
            let file = StagedFile::new(&path, |out| needs.put(out, requests))?;
            files.push(RecordedOutput { kind: "need", path, file });
        }
        files.extend(record::record_calls(session, config, path, &mut made_by)?);
        input.count(&mut made_by, summary.requests, &skipped);
        record::put(path, made_by, files)?;
    }
    skipped.report(&input.location(), session.observer);
    warn_of_empty(&summary, session.observer);
    Ok(summary)
}

fn warn_of_empty(summary: &RunSummary, observer: &dyn Observer) {
    if summary.empty > 0 {
        observer.note(&format!(
            "warning: {} of {} {} no document left to rank, and no line",
            summary.empty,
            count_of(summary.requests, "request"),
            one_or(summary.empty, "has", "have")
        ));
    }
}

/// The number of requests of a run by a language model, which ends as soon as too many answers cannot be read.
fn requests_of(input: &dyn RunInput, config: &SystemConfig) -> Result<Option<usize>> {
    if input.known().is_some() || !config.uses.contains(&Uses::LanguageModel) {
        return Ok(input.known());
    }
    let mut count = 0;
    input.read(&mut |_| {
        count += 1;
        ControlFlow::Continue(())
    })?;
    Ok(Some(count))
}

/// Ranks an input and gives the outcomes to `writer`, in the order of the requests.
fn rank_input(
    system: &Ranker,
    needs: Option<&PredictedNeeds>,
    writer: &mut RunWriter,
) -> Result<(RunSummary, SkippedRecords)> {
    let input = writer.input;
    let stages: Vec<_> = system.config.plan.stages().collect();
    let compares_requests = stages.iter().any(|stage| stage.uses.contains(&Uses::Batch));
    let block_size = if compares_requests { usize::MAX } else { BLOCK };
    let name = &system.config.name;
    let observer = system.session().observer;
    let task = match input.known() {
        Some(requests) => {
            observer.begin(&format!("{name} {}", input.name()), Some(requests as u64))
        }
        None => observer.begin(name, None),
    };
    let (sender, blocks) = sync_channel(1);
    let (summary, skipped) = thread::scope(|scope| {
        let reader = scope.spawn(move || read_blocks(input, block_size, &sender));
        let summary = rank_blocks(system, blocks, needs, writer, task.as_ref());
        let skipped = reader.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        // An error of the ranking stops the reader, so it is reported first.
        Ok::<_, Error>((summary?, skipped?))
    })?;
    task.finish(&count_of(summary.requests, "request"));
    Ok((summary, skipped))
}

/// Reads requests and sends them in blocks, until the receiver is gone.
fn read_blocks(
    input: &dyn RunInput,
    block_size: usize,
    sender: &SyncSender<Vec<UserRequest>>,
) -> Result<SkippedRecords> {
    let mut block = Vec::new();
    let skipped = input.read(&mut |query| {
        block.push(query);
        if block.len() == block_size && sender.send(std::mem::take(&mut block)).is_err() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    if !block.is_empty() {
        let _ = sender.send(block);
    }
    Ok(skipped)
}

fn rank_blocks(
    system: &Ranker,
    blocks: Receiver<Vec<UserRequest>>,
    needs: Option<&PredictedNeeds>,
    writer: &mut RunWriter,
    task: &dyn Job,
) -> Result<RunSummary> {
    // One block may take minutes: a request is done step by step, one for each stage. It takes more where
    // it has several responses.
    let stages = system.config.plan.stages().count().max(1) as u64;
    let steps = AtomicU64::new(0);
    let known = writer.input.known().map(|count| count as u64);
    let mut summary = RunSummary::default();
    for mut block in blocks {
        if let Some(needs) = needs {
            for query in &mut block {
                query.request.need = needs.of(&query.request);
            }
        }
        let advance = |more| {
            if let Some(known) = known {
                let before = steps.fetch_add(more, Relaxed);
                let [before, after] = [before, before + more].map(|at| (at / stages).min(known));
                task.advance(after - before);
            }
        };
        let outcomes = system.rank_counting(&block, &advance)?;
        for (query, outcome) in block.iter().zip(&outcomes) {
            let lines = writer.put(system.config, summary.requests, &query.request, outcome)?;
            summary.requests += 1;
            summary.lines += lines;
            summary.empty += u64::from(lines == 0);
        }
        if known.is_none() {
            task.advance(block.len() as u64);
        }
    }
    Ok(summary)
}

/// Writes the files of a run, or only the run to a stream.
struct RunWriter<'a> {
    input: &'a dyn RunInput,
    tag: &'a str,
    path: &'a Path,
    output: RunOutput,
    /// The lines of a request for each file.
    lines: Vec<Vec<u8>>,
}

enum RunOutput {
    Files(Vec<(&'static str, PathBuf, StagedWriter)>),
    Stream(Box<dyn Write>),
}

impl<'a> RunWriter<'a> {
    /// Prepares the files of a run; a dry run writes nothing.
    fn create(
        input: &'a dyn RunInput,
        tag: &'a str,
        path: &'a Path,
        is_dry_run: bool,
    ) -> Result<Self> {
        let files = input.files(path);
        let lines = vec![Vec::new(); files.len()];
        let target = Target::new(path);
        if is_dry_run || target.is_stream() {
            let stream = if is_dry_run { Box::new(io::sink()) } else { target.open_stream()? };
            let output = RunOutput::Stream(stream);
            return Ok(Self { input, tag, path, output, lines });
        }
        let mut writers = Vec::with_capacity(files.len());
        for (kind, path) in files {
            let writer = StagedWriter::create(&path)?;
            writers.push((kind, path, writer));
        }
        Ok(Self { input, tag, path, output: RunOutput::Files(writers), lines })
    }

    /// Writes the outcome of a request; returns the number of lines.
    fn put(
        &mut self,
        config: &SystemConfig,
        index: u64,
        request: &Request,
        outcome: &RankerOutcome,
    ) -> Result<u64> {
        for lines in &mut self.lines {
            lines.clear();
        }
        let entry = RunEntry { index, request, outcome, config, tag: self.tag };
        let count = self.input.put(&mut self.lines, &entry);
        let count = count.map_err(Error::io(IoAction::Read, self.input.location()))?;
        match &mut self.output {
            RunOutput::Stream(out) => {
                let written = out.write_all(&self.lines[0]);
                written.map_err(Error::io(IoAction::Write, Target::new(self.path).name()))?;
            }
            RunOutput::Files(writers) => {
                for ((.., writer), lines) in writers.iter_mut().zip(&self.lines) {
                    writer.put(|out| out.write_all(lines))?;
                }
            }
        }
        Ok(count)
    }

    /// Completes the files, which do not have their names yet; none for a stream.
    fn finish(self) -> Result<Vec<RecordedOutput>> {
        let mut files = Vec::new();
        match self.output {
            RunOutput::Stream(mut out) => {
                let written = self.input.put_end(0, &mut out).and_then(|()| out.flush());
                written.map_err(Error::io(IoAction::Write, Target::new(self.path).name()))?;
            }
            RunOutput::Files(writers) => {
                for (index, (kind, path, mut writer)) in writers.into_iter().enumerate() {
                    writer.put(|out| self.input.put_end(index, out))?;
                    let file = writer.finish()?;
                    files.push(RecordedOutput { kind, path, file });
                }
            }
        }
        Ok(files)
    }
}

fn nothing_ranked(config: &SystemConfig, input: &dyn RunInput, requests: u64) -> Problem {
    let expected = "a system that ranks something for at least one request";
    let found =
        format!("nothing for any of {} of {}", count_of(requests, "request"), input.location());
    let hint =
        Hint::on_data("explain --system …").and(" shows what each stage does with a document");
    problem!(&*config.file, expected, found, hint)
}
