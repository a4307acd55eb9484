//! Requests ranked block by block while the next ones are read.

use super::Needs;
use super::input::{Input, Skipped, Writing};
use super::partial::Progress;
use crate::observer::{Observer, Task};
use crate::pipelines::{Block, Found, Pipelines};
use clariq_core::Error;
use clariq_core::Request;
use clariq_rank::Uses;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{panic, thread};

/// Requests that are ranked together. A run does not depend on it: a system with a stage that looks
/// at the whole batch gets all requests as one block.
const BLOCK: usize = 4096;
/// Blocks that may wait to be ranked.
const WAITING: usize = 1;

/// Takes what a block adds to each file, how far the run is with it, and whether it is the only
/// one.
pub(super) type Write<'a> = &'a mut dyn FnMut(&[Vec<u8>], Progress, bool) -> Result<(), Error>;

/// A system over an input.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    pub(super) observer: &'a dyn Observer,
    pub(super) pipelines: &'a Pipelines<'a>,
    pub(super) input: &'a dyn Input,
    /// The number of files that a run has.
    pub(super) files: usize,
    pub(super) tag: &'a str,
    pub(super) needs: &'a Needs,
}

impl Blocks<'_> {
    /// Ranks every request behind those that are done already.
    pub(super) fn rank(
        &self,
        mut progress: Progress,
        write: Write,
    ) -> Result<(Progress, Skipped), Error> {
        let (known, system) = (self.input.known(), self.pipelines.system());
        let title = match known {
            Some(_) => format!("{} {}", system.name, self.input.name()),
            None => system.name.clone(),
        };
        let task = self.observer.begin(&title, known.map(|known| known as u64));
        let mut stages = system.pipelines().flat_map(clariq_rank::Pipeline::about);
        let compares = stages.any(|stage| stage.uses.contains(&Uses::Batch));
        let size = if compares { usize::MAX } else { BLOCK };
        let (send, blocks) = sync_channel(WAITING);
        let skipped = thread::scope(|scope| {
            let done = progress.requests;
            let reader = scope.spawn(move || self.read(done, size, &send));
            let count = known.filter(|known| *known <= size);
            let ranked = self.rank_all(blocks, count, task.as_ref(), &mut progress, write);
            let read = reader.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            ranked?;
            read
        })?;
        task.finish(&format!("{} requests", progress.requests));
        Ok((progress, skipped))
    }

    /// Reads the input and sends what it holds in blocks, but for the first `done`.
    fn read(&self, done: u64, size: usize, send: &SyncSender<Block>) -> Result<Skipped, Error> {
        let mut block = Block::default();
        let skipped = self.input.read(done, &mut |asked| {
            block.push(asked);
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

    /// Ranks the blocks that come. `count` is the number of all requests where they are one block:
    /// the stages then count them one after the other.
    fn rank_all(
        &self,
        blocks: Receiver<Block>,
        count: Option<usize>,
        task: &dyn Task,
        progress: &mut Progress,
        write: Write,
    ) -> Result<(), Error> {
        let stages = count.map(|count| Stages::new(self.pipelines, task, count));
        let (mut lines, mut is_first) = (vec![Vec::new(); self.files], true);
        let mut blocks = blocks.into_iter().peekable();
        while let Some(mut block) = blocks.next() {
            self.add_needs(progress.requests, block.requests_mut())?;
            let advance = |finished| {
                if let Some(stages) = &stages {
                    stages.advance(finished);
                }
            };
            let all = self.pipelines.rank(&block, &advance)?;
            lines.iter_mut().for_each(Vec::clear);
            for (request, found) in block.requests().iter().zip(&all) {
                let written = self.put(&mut lines, progress.requests, request, found)?;
                progress.requests += 1;
                progress.lines += written;
                progress.silent += u64::from(written == 0);
            }
            write(&lines, *progress, is_first && blocks.peek().is_none())?;
            is_first = false;
            if stages.is_none() {
                task.advance(block.len() as u64);
            }
        }
        Ok(())
    }

    fn put(
        &self,
        lines: &mut [Vec<u8>],
        index: u64,
        request: &Request,
        found: &Found,
    ) -> Result<u64, Error> {
        let writing = Writing { system: self.pipelines.system(), tag: self.tag };
        self.input.put(lines, index, request, found, &writing).map_err(|source| {
            let path = self.input.location().into();
            Error::Io { action: "rank", path, source }.into()
        })
    }

    /// Gives the requests of a block, the first of which is the `first` of all, their predicted
    /// needs.
    fn add_needs(&self, first: u64, block: &mut [Request]) -> Result<(), Error> {
        match self.needs {
            Needs::None => {}
            Needs::All(predicted) => {
                let needs = predicted.needs.iter().skip(first as usize);
                block.iter_mut().zip(needs).for_each(|(request, &need)| request.need = Some(need));
            }
            Needs::Each(model) => {
                let openings: Vec<&str> = block.iter().map(Request::opening).collect();
                let predictions = model.predict(&openings)?;
                for (request, prediction) in block.iter_mut().zip(predictions) {
                    request.need = Some(prediction.need);
                }
            }
        }
        Ok(())
    }
}

/// How far the stage is that is at work: one may take minutes and the next no time, so that each is
/// counted by itself.
struct Stages<'a> {
    task: &'a dyn Task,
    names: Vec<&'static str>,
    requests: u64,
    done: AtomicU64,
}

impl<'a> Stages<'a> {
    fn new(pipelines: &Pipelines, task: &'a dyn Task, requests: usize) -> Self {
        let names = pipelines.stages();
        task.describe(names.first().unwrap_or(&""));
        Self { task, names, requests: requests.max(1) as u64, done: AtomicU64::new(0) }
    }

    fn advance(&self, requests: u64) {
        let before = self.done.fetch_add(requests, Ordering::Relaxed);
        self.task.advance(requests);
        let stage = |done: u64| (done / self.requests) as usize;
        let now = stage(before + requests);
        if let Some(name) = self.names.get(now).filter(|_| now > stage(before)) {
            self.task.begin_part(name);
        }
    }
}
