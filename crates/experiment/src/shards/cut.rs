//! Cutting a file into shards.

use super::{FORM, Plan, Shard};
use crate::contexts::Contexts;
use crate::record;
use crate::run::{FileInput, Job};
use crate::systems::Loaded;
use clariq_core::{Error, Sha256Sum};
use clariq_files::{MOST_OF_A_RUN, refuse_input, write_atomically};
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::{fs, panic, thread};

/// Lines that may wait to be written.
const WAITING: usize = 1024;

/// Cuts a file of conversations or requests into files of at most `count` contexts or requests
/// in `folder`. Each is in one of them, once, in the order of the file. `plan.json` takes its place
/// last, and shards of the plan that was there before go. With a system, the plan is for runs by
/// that system alone.
pub fn cut(
    contexts: &Contexts,
    file: &Path,
    skip_bad: bool,
    count: NonZeroUsize,
    folder: &Path,
    system: Option<&Loaded>,
) -> Result<Plan, Error> {
    let session = contexts.session();
    let input = FileInput::open(session, file, None, skip_bad)?;
    let before = count_shards(folder);
    let (mut fingerprint, mut arithmetic) = (None, None);
    if let Some(loaded) = system {
        fingerprint = Some(Job::new(contexts, loaded, &input, None)?.fingerprint());
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
        let shards = write_shards(lines, count, folder);
        (shards, reader.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    });
    let (skipped, shards) = match (skipped, shards) {
        (Ok(skipped), shards) => (skipped, shards?),
        (Err(error), shards) => {
            // Without a plan nobody needs the shards before what is wrong.
            for shard in shards.iter().flatten() {
                let _ = fs::remove_file(folder.join(&shard.file));
            }
            return Err(error);
        }
    };
    let contexts = shards.iter().map(|shard| shard.contexts).sum();
    let input = input.cut(contexts, skipped.count);
    let bank_sha256 = session.documents.checksum().to_string();
    let plan = Plan { form: FORM, input, bank_sha256, fingerprint, arithmetic, shards };
    write_atomically(&folder.join("plan.json"), |out| {
        serde_json::to_writer_pretty(&mut *out, &plan)?;
        writeln!(out)
    })?;
    for index in plan.shards.len()..before {
        remove_shard(&folder.join(shard_name(index)))?;
    }
    if let Some(first) = &skipped.first {
        session.observer.note(&format!(
            "warning: {}: {} bad records are left out; the first: {first}",
            plan.input.file, skipped.count
        ));
    }
    Ok(plan)
}

fn shard_name(index: usize) -> String {
    format!("shard-{index:05}.jsonl")
}

/// How many shards the plan in a folder names, if there is one. It is not read as an input, for it
/// will be replaced.
fn count_shards(folder: &Path) -> usize {
    let path = folder.join("plan.json");
    let is_bounded = |about: &fs::Metadata| about.is_file() && about.len() <= MOST_OF_A_RUN;
    let plan = fs::metadata(&path).ok().filter(is_bounded).and_then(|_| fs::read(path).ok());
    let plan: Option<Plan> = plan.and_then(|plan| serde_json::from_slice(&plan).ok());
    let shards = plan.map(|plan| plan.shards).unwrap_or_default();
    (0..).zip(&shards).take_while(|(index, shard)| shard.file == shard_name(*index)).count()
}

/// Removes a shard of an earlier plan, unless it is the file that was cut.
fn remove_shard(path: &Path) -> Result<(), Error> {
    if refuse_input(path).is_err() {
        return Ok(());
    }
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(source))
        }
        _ => Ok(()),
    }
}

fn write_shards(
    lines: Receiver<Vec<u8>>,
    contexts: NonZeroUsize,
    folder: &Path,
) -> Result<Vec<Shard>, Error> {
    let mut lines = lines.into_iter().peekable();
    let mut shards: Vec<Shard> = Vec::new();
    while lines.peek().is_some() {
        let file = shard_name(shards.len());
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
