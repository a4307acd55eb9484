//! Cutting a file into shards.

use super::{FORM, Plan, Shard};
use crate::contexts::Contexts;
use crate::error::Error;
use crate::record;
use crate::run::{Cut, Job, open_file};
use crate::session::Session;
use crate::systems::Loaded;
use clariq_core::Sha256Sum;
use clariq_files::write_atomically;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::{panic, thread};

/// Lines that may wait to be written.
const WAITING: usize = 1024;

/// Cuts a file of conversations or requests into files of at most `contexts` contexts or requests
/// in `folder`. Each is in one of them, once, in the order of the file. `plan.json` takes its place
/// last. With a system, the plan is for runs by that system alone.
pub fn cut(
    session: &Session,
    file: &Path,
    skip_bad: bool,
    contexts: NonZeroUsize,
    folder: &Path,
    system: Option<(&Contexts, &Loaded)>,
) -> Result<Plan, Error> {
    let input = open_file(session, file, skip_bad)?;
    let (mut fingerprint, mut arithmetic) = (None, None);
    if let Some((contexts, loaded)) = system {
        fingerprint = Some(Job::new(contexts, loaded, &*input, None)?.fingerprint());
        arithmetic = record::arithmetic(session, loaded);
    }
    let (send, lines) = sync_channel(WAITING);
    let (shards, skipped) = thread::scope(|scope| {
        let input = &input;
        let reader = scope.spawn(move || {
            input.lines(&mut |line| match send.send(line) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            })
        });
        let shards = write_shards(lines, contexts, folder);
        (shards, reader.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    });
    let (skipped, shards) = match (skipped, shards) {
        (Ok(skipped), shards) => (skipped, shards?),
        (Err(error), shards) => {
            // Without a plan nobody needs the shards before what is wrong.
            for shard in shards.iter().flatten() {
                let _ = std::fs::remove_file(folder.join(&shard.file));
            }
            return Err(error);
        }
    };
    let cut = input.cut();
    let input = Cut {
        contexts: shards.iter().map(|shard| shard.contexts).sum(),
        bad_records: skipped.count,
        ..cut
    };
    let bank_sha256 = session.documents.checksum().to_string();
    let plan = Plan { form: FORM, input, bank_sha256, fingerprint, arithmetic, shards };
    write_atomically(&folder.join("plan.json"), |out| {
        serde_json::to_writer_pretty(&mut *out, &plan)?;
        writeln!(out)
    })?;
    if let Some(first) = &skipped.first {
        session.observer.note(&format!(
            "warning: {}: {} bad records are left out; the first: {first}",
            plan.input.file, skipped.count
        ));
    }
    Ok(plan)
}

fn write_shards(
    lines: Receiver<Vec<u8>>,
    contexts: NonZeroUsize,
    folder: &Path,
) -> Result<Vec<Shard>, Error> {
    let mut lines = lines.into_iter().peekable();
    let mut shards: Vec<Shard> = Vec::new();
    while lines.peek().is_some() {
        let file = format!("shard-{:05}.jsonl", shards.len());
        let (mut count, mut sum) = (0, Sha256Sum::default());
        write_atomically(&folder.join(&file), |out| {
            for line in lines.by_ref().take(contexts.get()) {
                sum.update(&line);
                out.write_all(&line)?;
                count += 1;
            }
            Ok(())
        })?;
        let first = shards.last().map_or(0, |last| last.first + last.contexts);
        shards.push(Shard { file, first, contexts: count, sha256: sum.checksum().to_string() });
    }
    Ok(shards)
}
