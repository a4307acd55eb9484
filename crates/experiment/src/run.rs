//! Runs: what a system ranks for every request of an input, with the record of what made it.
//!
//! An input is a split, or a file of conversations that may hold millions of records. Requests are
//! ranked in blocks: one thread reads, all rank. Where there is more than one block, what is
//! finished is appended to `<run>.partial`; when everything is written, the run takes its name.
//! After a kill, a run that is resumed continues behind the last whole block, if the same inputs
//! would be read.

mod file;
mod input;
mod partial;
mod split;
#[cfg(test)]
mod tests;

use crate::needs::{Predict, PredictedNeeds, predict_split};
use crate::record::{self, describe};
use crate::session::{Contexts, Session};
use crate::system::{Query, System};
use crate::systems::Loaded;
use clariq_collections::Collection;
use clariq_core::{Error, Problem, ProblemKind, Result, Task, problem};
use clariq_files::{Staged, Target, refuse_input};
use clariq_rank::Uses;
use input::Found;
use partial::Partial;
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{panic, thread};

pub use clariq_collections::ranking_path;
pub use file::{FileInput, FileKind};
pub use input::{Input, Skipped};
pub use partial::Progress;
pub use split::{Given, SplitInput, as_run};

/// The folder of a collection's runs: `folder` itself for the released ClariQ, and one inside it
/// that is named after the collection for every other, so that their runs keep apart.
pub fn folder_of(folder: &Path, collection: &dyn Collection) -> PathBuf {
    match collection.label().as_str() {
        "clariq" => folder.to_owned(),
        label => folder.join(label),
    }
}

/// The usual path of a run over an input: `<folder of the collection>/<system>.<name>.run`, where the
/// system's name says which parameters are overridden. What is handed in ends in `.json`, and lies in
/// `folder` itself but for a sample.
pub fn usual_path(folder: &Path, session: &Session, loaded: &Loaded, name: &str) -> PathBuf {
    let (system, collection) = (loaded.full_name(), session.collection);
    if !loaded.answers() {
        return folder_of(folder, collection).join(format!("{system}.{name}.run"));
    }
    let file = format!("{system}.{name}.json");
    if collection.is_sample() {
        folder.join(collection.label()).join(file)
    } else {
        folder.join(file)
    }
}

/// How a run is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// The last field of every line; the system's name if there is none.
    pub tag: Option<&'a str>,
    /// Whether an interrupted run is continued.
    pub resume: bool,
}

/// Ranks for every request of an input, and writes the run to `path`, beside it what else belongs
/// to it (the rankings that answers rest on, the predicted needs of a split), and last the record of
/// all. None of them takes its place before all are complete. A stream gets the run alone.
///
/// # Errors
///
/// Whatever stops a stage or the reader of the input, a system that the input refuses, and a system
/// that retrieves nothing for any request.
pub fn run(
    contexts: &Contexts,
    loaded: &Loaded,
    input: &dyn Input,
    options: &RunOptions,
    path: &Path,
) -> Result<Progress> {
    if Target::new(path).is_stream() {
        refuse_input(path)?;
    } else {
        let files: Vec<PathBuf> = input.files(path).into_iter().map(|(_, file)| file).collect();
        let has_need = loaded.need.is_some() && input.in_memory().is_some();
        let beside = has_need.then(|| record::need_path(path)).into_iter();
        let beside = beside.chain([record::path_of(path), partial::path_of(path)]);
        files.iter().cloned().chain(beside).try_for_each(|file| refuse_input(&file))?;
    }
    if let Some(rewrites) = &loaded.rewrites {
        rewrites.check(input, contexts.session.observer)?;
    }
    Job::new(contexts, loaded, input, options.tag)?.run(options, path)
}

/// Requests that are ranked together. A run does not depend on it: a system with a stage that looks
/// at the whole batch gets all requests as one block.
const BLOCK: usize = if cfg!(test) { 4 } else { 4096 };
const WAITING: usize = 1;

/// Takes what a block adds to each file, how far the run is, and whether it is the only block.
type Write<'a> = &'a mut dyn FnMut(&[Vec<u8>], Progress, bool) -> Result<()>;

pub(crate) struct Job<'a> {
    system: System<'a>,
    input: &'a dyn Input,
    tag: String,
    /// The needs of requests in memory, if a stage looks at them.
    needs: Option<PredictedNeeds>,
    made_by: Value,
}

impl<'a> Job<'a> {
    /// Opens the system; `tag` as in [`RunOptions`].
    pub(crate) fn new(
        contexts: &'a Contexts<'a>,
        loaded: &'a Loaded,
        input: &'a dyn Input,
        tag: Option<&str>,
    ) -> Result<Self> {
        input.check(loaded)?;
        let (session, requests, name) = (contexts.session, input.in_memory(), input.name());
        let predict = if requests.is_some() { Predict::Never } else { Predict::ForStages };
        let system = System::open_predicting(contexts, loaded, predict)?;
        let requests = requests.filter(|_| loaded.plan.sees_need());
        let needs = requests.map(|requests| predict_split(session, loaded, name, requests));
        let needs = needs.transpose()?.flatten();
        let full_name = loaded.full_name();
        let tag = tag.unwrap_or(&full_name);
        let tag: String = tag.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
        let mut made_by = describe(&system, &tag)?;
        if let Some(needs) = &needs {
            made_by["need"] = needs.made_by.clone();
        }
        input.describe(loaded, &mut made_by)?;
        Ok(Self { system, input, tag, needs, made_by })
    }

    pub(crate) fn fingerprint(&self) -> String {
        record::fingerprint_of(&self.made_by)
    }

    pub(crate) fn run(&self, options: &RunOptions, path: &Path) -> Result<Progress> {
        let (progress, skipped) = if Target::new(path).is_stream() {
            self.stream(path)?
        } else {
            self.write(path, options)?
        };
        let Session { observer, models, .. } = self.system.session();
        models.save();
        skipped.report(&self.input.location(), *observer);
        if progress.silent > 0 {
            observer.note(&format!(
                "warning: for {} of {} requests nothing is left to rank, and they have no line",
                progress.silent, progress.requests
            ));
        }
        Ok(progress)
    }

    /// Writes to standard output or a pipe, which cannot be taken back.
    fn stream(&self, path: &Path) -> Result<(Progress, Skipped)> {
        let mut ranked = None;
        let written = Target::new(path).write(|out| {
            let write: Write =
                &mut |lines, _, _| out.write_all(&lines[0]).map_err(Error::io("write", path));
            let result = self.rank_blocks(Progress::default(), write);
            let failed = result.is_err();
            ranked = Some(result);
            if failed { Err(std::io::ErrorKind::Other.into()) } else { self.input.put_end(0, out) }
        });
        // What stopped the ranking is the news, not that the output was not finished.
        match ranked {
            Some(Err(error)) => Err(error),
            Some(Ok(done)) => written.map(|()| done),
            None => Err(written.err().unwrap_or_else(|| nothing_retrieved(self, 0).into())),
        }
    }

    /// Writes files by way of a partial one, and the record beside them.
    fn write(&self, path: &Path, options: &RunOptions) -> Result<(Progress, Skipped)> {
        let observer = self.system.session().observer;
        let files = self.input.files(path);
        let paths: Vec<PathBuf> = files.iter().map(|(_, path)| path.clone()).collect();
        let (mut partial, progress, note) =
            Partial::open(&paths, &self.fingerprint(), options.resume, observer)?;
        if let Some(note) = note {
            observer.note(&note);
        }
        let write: Write = &mut |lines, progress, only| partial.append(lines, progress, only);
        // Needs that no stage looks at, but a file is written of: reading the training labels takes
        // as long as ranking. Not in the pool, one of whose threads could be lent the other task
        // while it holds a model's lock.
        let (loaded, requests) = (self.system.loaded, self.input.in_memory());
        let unseen = requests.filter(|_| loaded.need.is_some() && !loaded.plan.sees_need());
        let (session, name) = (self.system.session(), self.input.name());
        let (beside, ranked) = side_by_side(
            || unseen.map(|requests| predict_split(session, loaded, name, requests)).transpose(),
            || self.rank_blocks(progress, write),
        );
        // A file may be a block of a larger one: its run may be empty.
        let may_be_empty = self.input.known().is_none();
        let (progress, skipped) = match ranked {
            Ok(done) if done.0.lines > 0 || may_be_empty => done,
            stopped => {
                // What was refused once is refused again: there is nothing to continue from.
                partial.remove();
                let nothing = |done: (Progress, _)| nothing_retrieved(self, done.0.requests).into();
                return Err(stopped.map_or_else(|error| error, nothing));
            }
        };
        let beside = beside?.flatten();
        let predicted = self.needs.as_ref().or(beside.as_ref());
        let mut outputs: Vec<record::Output> = Vec::with_capacity(files.len() + 1);
        for (file, (kind, path)) in files.iter().enumerate() {
            let staged = Staged::new(path, |out| {
                partial.copy(file, out)?;
                self.input.put_end(file, out)
            })?;
            outputs.push((kind, path.clone(), staged));
        }
        let (path, mut made_by) = (&paths[0], self.made_by.clone());
        if let Some((predicted, requests)) = predicted.zip(requests) {
            let path = record::need_path(path);
            let need = Staged::new(&path, |out| predicted.put(out, requests))?;
            outputs.push(("need", path, need));
            made_by["need"] = predicted.made_by.clone();
        }
        self.input.count(&mut made_by, progress.requests, &skipped);
        record::put(path, made_by, outputs)?;
        partial.remove();
        Ok((progress, skipped))
    }

    fn rank_blocks(&self, mut progress: Progress, write: Write) -> Result<(Progress, Skipped)> {
        let (known, loaded) = (self.input.known(), self.system.loaded);
        let title = match known {
            Some(_) => format!("{} {}", loaded.name, self.input.name()),
            None => loaded.name.clone(),
        };
        let stages: Vec<_> = loaded.plan.stages().collect();
        let steps = known.map(|known| (known * stages.len()) as u64);
        let task = self.system.session().observer.begin(&title, steps);
        let compares = stages.iter().any(|stage| stage.uses.contains(&Uses::Batch));
        let size = if compares { usize::MAX } else { BLOCK };
        let (send, blocks) = sync_channel(WAITING);
        let done = progress.requests;
        let (read, ranked) = side_by_side(
            move || self.read(done, size, &send),
            || self.rank_all(blocks, task.as_ref(), &mut progress, write),
        );
        ranked?;
        let skipped = read?;
        task.finish(&format!("{} requests", progress.requests));
        Ok((progress, skipped))
    }

    /// Reads the input and sends what it holds in blocks, but for the first `done`.
    fn read(&self, done: u64, size: usize, send: &SyncSender<Vec<Query>>) -> Result<Skipped> {
        let mut block = Vec::new();
        let skipped = self.input.read(done, &mut |query| {
            block.push(query);
            if block.len() < size {
                return ControlFlow::Continue(());
            }
            // Nobody takes it where ranking has failed.
            match send.send(std::mem::take(&mut block)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        if !block.is_empty() {
            let _ = send.send(block);
        }
        Ok(skipped)
    }

    /// Ranks the blocks that come. Where the number of requests is known, each stage is a step of
    /// each of them: one block may take minutes.
    fn rank_all(
        &self,
        blocks: Receiver<Vec<Query>>,
        task: &dyn Task,
        progress: &mut Progress,
        write: Write,
    ) -> Result<()> {
        let counts_stages = self.input.known().is_some();
        let files = self.input.files(Path::new("")).len();
        let (loaded, tag) = (self.system.loaded, &self.tag);
        let (mut lines, mut is_first) = (vec![Vec::new(); files], true);
        let mut blocks = blocks.into_iter().peekable();
        while let Some(mut block) = blocks.next() {
            for query in &mut block {
                query.request.need = self.needs.as_ref().and_then(|it| it.of(&query.request));
            }
            let advance = |finished| task.advance(if counts_stages { finished } else { 0 });
            let all = self.system.rank_counting(&block, &advance)?;
            lines.iter_mut().for_each(Vec::clear);
            for (query, outcome) in block.iter().zip(&all) {
                let (request, index) = (&query.request, progress.requests);
                let found = Found { index, request, outcome, loaded, tag };
                let written = self.input.put(&mut lines, &found);
                let written = written.map_err(Error::io("rank", self.input.location()))?;
                progress.requests += 1;
                progress.lines += written;
                progress.silent += u64::from(written == 0);
            }
            write(&lines, *progress, is_first && blocks.peek().is_none())?;
            is_first = false;
            if !counts_stages {
                task.advance(block.len() as u64);
            }
        }
        Ok(())
    }
}

/// Does something on a thread of its own while the caller does something else.
pub(crate) fn side_by_side<A: Send, B>(
    other: impl FnOnce() -> A + Send,
    here: impl FnOnce() -> B,
) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let here = here();
        (other.join().unwrap_or_else(|panic| panic::resume_unwind(panic)), here)
    })
}

fn nothing_retrieved(job: &Job, requests: u64) -> Problem {
    let expected = "a system that ranks something for at least one request";
    let found = format!("nothing for any of {requests} requests of {}", job.input.location());
    let hint = "see what each stage leaves: `clariq explain --system …` follows one document";
    problem!(&*job.system.loaded.file, expected, found, hint).kind(ProblemKind::Empty)
}
