//! Requests ranked block by block while the next ones are read.

use super::Job;
use super::input::{Skipped, Writing};
use super::partial::Progress;
use crate::system::Query;
use clariq_core::Error;
use clariq_core::Task;
use clariq_rank::Uses;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{panic, thread};

/// Requests that are ranked together. A run does not depend on it: a system with a stage that looks
/// at the whole batch gets all requests as one block.
const BLOCK: usize = if cfg!(test) { 4 } else { 4096 };
const WAITING: usize = 1;

/// Takes what a block adds to each file, how far the run is, and whether it is the only block.
pub(super) type Write<'a> = &'a mut dyn FnMut(&[Vec<u8>], Progress, bool) -> Result<(), Error>;

impl Job<'_> {
    pub(super) fn rank_blocks(
        &self,
        mut progress: Progress,
        write: Write,
    ) -> Result<(Progress, Skipped), Error> {
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
        let skipped = thread::scope(|scope| {
            let done = progress.requests;
            let reader = scope.spawn(move || self.read(done, size, &send));
            let ranked = self.rank_all(blocks, task.as_ref(), &mut progress, write);
            let read = reader.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            ranked?;
            read
        })?;
        task.finish(&format!("{} requests", progress.requests));
        Ok((progress, skipped))
    }

    /// Reads the input and sends what it holds in blocks, but for the first `done`.
    fn read(
        &self,
        done: u64,
        size: usize,
        send: &SyncSender<Vec<Query>>,
    ) -> Result<Skipped, Error> {
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
    ) -> Result<(), Error> {
        let counts_stages = self.input.known().is_some();
        let files = self.input.files(Path::new("")).len();
        let writing = Writing { loaded: self.system.loaded, tag: &self.tag };
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
                let (input, index) = (self.input, progress.requests);
                let written = input.put(&mut lines, index, &query.request, outcome, &writing);
                let written = written.map_err(Error::io("rank", input.location()))?;
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
