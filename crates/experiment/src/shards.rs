//! A file of conversations cut into shards, and the parts of a run over them put together.
//!
//! `plan.json` lies beside the shards and says what they were cut from. Each shard is a file of
//! conversations of its own, so that whoever ranks it needs the plan and that file alone. A part is
//! whole when its record is there; parts put together are the run over the whole file, byte for
//! byte.

use crate::contexts::Contexts;
use crate::error::Error;
use crate::record;
use crate::run::{Conversations, Cut, Input, RunOptions, describe_run, run as write_run};
use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::clariq::ClariQ;
use clariq_collections::clariq::conversation::{Reading, Record, put_json_lines, read_records};
use clariq_core::{Location, Problem, ProblemKind, sha256_hex, sha256_of_file};
use clariq_files::{Source, Staged, write_atomically};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io;
use std::iter;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::{panic, thread};

/// The form of `plan.json`.
const FORM: u32 = 1;

/// Contexts that may wait to be written.
const WAITING: usize = 1024;

/// What a file of conversations was cut into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The number of this form.
    #[serde(rename = "clariq_plan")]
    form: u32,
    /// The file that was cut.
    pub(crate) input: Cut,
    /// The SHA-256 of the question bank that it was checked against.
    bank_sha256: String,
    /// What made a run by the system that the plan is for, if it is for one.
    fingerprint: Option<String>,
    /// The shards, in the order of their contexts.
    pub shards: Vec<Shard>,
}

/// One shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The file, beside the plan.
    pub file: String,
    /// How many contexts come before its first.
    pub first: u64,
    /// How many it has.
    pub contexts: u64,
    /// The SHA-256 of the file.
    pub sha256: String,
}

/// Cuts a file of conversations into files of at most `contexts` contexts in `folder`. Each context
/// is in one of them, once, in the order of the file. `plan.json` takes its place last. With a
/// system, the plan is for runs by that system alone.
pub fn cut(
    session: &Session,
    file: &Path,
    skip_bad: bool,
    contexts: NonZeroUsize,
    folder: &Path,
    system: Option<(&Contexts, &Loaded)>,
) -> Result<Plan, Error> {
    let clariq = ClariQ::of(session.collection)?;
    let input = Conversations::open(session, file, skip_bad)?;
    let fingerprint = match system {
        Some((contexts, loaded)) => {
            input.check(&loaded.system)?;
            Some(fingerprint(contexts, loaded, &input)?)
        }
        None => None,
    };
    let (send, records) = sync_channel(WAITING);
    let (shards, counts) = thread::scope(|scope| {
        let source = input.source();
        let reading = Reading { bank: Some(&clariq.bank), skip_bad };
        let reader = scope.spawn(move || {
            read_records(source, &reading, &mut |record: Record| {
                let sent = record.again || send.send(record).is_ok();
                if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        });
        let shards = write_shards(records, contexts, folder);
        (shards, reader.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    });
    let (counts, shards) = match (counts, shards) {
        (Ok(counts), shards) => (counts, shards?),
        (Err(error), shards) => {
            // Without a plan nobody needs the shards before what is wrong.
            for shard in shards.iter().flatten() {
                let _ = std::fs::remove_file(folder.join(&shard.file));
            }
            return Err(error.into());
        }
    };
    let input = Cut {
        contexts: shards.iter().map(|shard| shard.contexts).sum(),
        bad_records: counts.bad,
        ..input.cut()
    };
    let bank_sha256 = clariq.bank.checksum().to_string();
    let plan = Plan { form: FORM, input, bank_sha256, fingerprint, shards };
    write_atomically(&folder.join("plan.json"), |out| {
        serde_json::to_writer_pretty(&mut *out, &plan)?;
        writeln!(out)
    })?;
    if let Some(first) = &counts.first {
        session.observer.note(&format!(
            "warning: {}: {} bad records are left out; the first: {first}",
            plan.input.file, counts.bad
        ));
    }
    Ok(plan)
}

fn write_shards(
    records: Receiver<Record>,
    contexts: NonZeroUsize,
    folder: &Path,
) -> Result<Vec<Shard>, Error> {
    let mut records = records.into_iter().peekable();
    let mut shards: Vec<Shard> = Vec::new();
    while records.peek().is_some() {
        let file = format!("shard-{:05}.jsonl", shards.len());
        let mut count = 0;
        let staged = Staged::new(&folder.join(&file), |out| {
            let next = iter::from_fn(|| records.next());
            put_json_lines(out, next.take(contexts.get()).inspect(|_| count += 1))
        })?;
        let sha256 = sha256_hex(&staged.source().read()?.bytes);
        staged.commit()?;
        let first = shards.last().map_or(0, |last| last.first + last.contexts);
        shards.push(Shard { file, first, contexts: count, sha256 });
    }
    Ok(shards)
}

/// What makes a run by a system over an input, as one checksum.
fn fingerprint(contexts: &Contexts, loaded: &Loaded, input: &dyn Input) -> Result<String, Error> {
    let made_by = describe_run(contexts, loaded, input, &RunOptions::default())?;
    Ok(sha256_hex(made_by.to_string().as_bytes()))
}

/// A plan, and the folder that it lies in.
pub struct Planned {
    path: PathBuf,
    /// The plan.
    pub plan: Plan,
}

impl Planned {
    /// Reads a plan.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let input = Source::new(path).read()?;
        let wrong = |found: String| {
            let at = Location::file(path.display().to_string());
            Problem::new(at, ProblemKind::Argument, "a plan of `clariq data shard`", found)
                .hint("cut the file again with this version of clariq")
        };
        let form: Value = serde_json::from_slice(&input.bytes)
            .map_err(|_| wrong("a file that is no JSON".to_owned()))?;
        match form["clariq_plan"].as_u64() {
            Some(found) if found == u64::from(FORM) => {}
            Some(found) => return Err(wrong(format!("a plan of form {found}, not {FORM}")).into()),
            None => return Err(wrong("no key `clariq_plan`".to_owned()).into()),
        }
        let plan: Plan = serde_json::from_value(form).map_err(|error| wrong(error.to_string()))?;
        let is_name =
            |shard: &Shard| Path::new(&shard.file).file_name() == Some(shard.file.as_ref());
        if plan.shards.is_empty() || !plan.shards.iter().all(is_name) {
            return Err(wrong("no shards, or one outside the plan's folder".to_owned()).into());
        }
        Ok(Self { path: path.to_owned(), plan })
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.path.with_file_name(name)
    }

    /// Where the part of a run over shard `index` is.
    pub fn part(&self, system: &str, index: usize) -> PathBuf {
        self.beside(&format!("{system}.part-{index:05}.run"))
    }

    fn problem(&self, expected: impl Into<String>, found: impl Into<String>) -> Problem {
        let at = Location::file(self.path.display().to_string());
        Problem::new(at, ProblemKind::Argument, expected, found)
    }

    /// Makes the part of a run over one shard, unless it is there and whole. `output` names another
    /// file than [`Planned::part`].
    ///
    /// # Errors
    ///
    /// Another question bank, another shard than was cut, another system or other weights than the
    /// plan is for, and a system that compares requests with each other.
    pub fn run_shard(
        &self,
        session: &Session,
        contexts: &Contexts,
        loaded: &Loaded,
        index: usize,
        output: Option<&Path>,
    ) -> Result<PathBuf, Error> {
        let Some(shard) = self.plan.shards.get(index) else {
            let expected = format!("a shard from 0 to {}", self.plan.shards.len() - 1);
            return Err(self
                .problem(expected, index.to_string())
                .hint("shards count from 0")
                .into());
        };
        let bank = session.documents.checksum().as_str();
        if bank != self.plan.bank_sha256 {
            let (expected, found) = (short(&self.plan.bank_sha256), short(bank));
            return Err(self
                .problem(format!("the question bank {expected}"), format!("the bank {found}"))
                .hint("--data names the collection that the plan was made with")
                .into());
        }
        let file = self.beside(&shard.file);
        if sha256_of_file(&file)? != shard.sha256 {
            let expected = format!("`{}` as it was cut", shard.file);
            return Err(self
                .problem(expected, "a file with another checksum")
                .hint("copy the shard again, or cut the file again")
                .into());
        }
        let input = Conversations::of_shard(session, &file, &self.plan.input)?;
        input.check(&loaded.system)?;
        let fingerprint = fingerprint(contexts, loaded, &input)?;
        if let Some(planned) = self.plan.fingerprint.as_ref().filter(|it| **it != fingerprint) {
            let expected = format!("the system, parameters and weights {}", short(planned));
            return Err(self
                .problem(expected, format!("others, {}", short(&fingerprint)))
                .hint("the plan is for one system; cut the file again for another")
                .into());
        }
        let path = output.map_or_else(|| self.part(&loaded.system.name, index), Path::to_owned);
        if self.whole_part(&path, index).is_ok_and(|part| part.fingerprint == fingerprint) {
            session.observer.note(&format!("note: {} is there already, whole", path.display()));
            return Ok(path);
        }
        let beside = serde_json::json!({
            "fingerprint": fingerprint, "shard": index, "sha256": shard.sha256,
        });
        let options = RunOptions { part: Some(&beside), ..RunOptions::default() };
        write_run(contexts, loaded, &input, &options, &path)?;
        Ok(path)
    }

    /// Puts the parts of a run together, as the run over the whole file would have been written,
    /// and its record. Every part is verified first.
    pub fn merge(&self, system: Option<&str>, output: &Path) -> Result<(), Error> {
        let system = system.map_or_else(|| self.only_system(), |name| Ok(name.to_owned()))?;
        let mut parts = Vec::with_capacity(self.plan.shards.len());
        for index in 0..self.plan.shards.len() {
            let part = self.whole_part(&self.part(&system, index), index)?;
            let first: &Part = parts.first().unwrap_or(&part);
            if part.fingerprint != first.fingerprint {
                let expected = "parts of one system, made with the same weights";
                let found = format!("`{}`, made otherwise", part.path.display());
                return Err(self.problem(expected, found).hint("make that part again").into());
            }
            parts.push(part);
        }
        let run = Staged::new(output, |out| {
            parts.iter().try_for_each(|part| io::copy(&mut File::open(&part.path)?, out).map(drop))
        })?;
        let Some(mut made_by) = parts.into_iter().next().map(|part| part.record) else {
            return Ok(());
        };
        if let Some(record) = made_by.as_object_mut() {
            record.retain(|key, _| key != "part" && key != "outputs");
        }
        made_by["conversations"]["contexts"] = self.plan.input.contexts.into();
        made_by["conversations"]["bad_records"] = self.plan.input.bad_records.into();
        let files: Vec<record::Output> = vec![("run", output.to_owned(), run)];
        let record = record::stage(output, made_by, &files)?;
        files.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
        Ok(())
    }

    /// The system whose first part lies beside the plan, if it is the only one.
    fn only_system(&self) -> Result<String, Error> {
        let ending = ".part-00000.run.json";
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let entries = std::fs::read_dir(folder).map_err(|source| clariq_core::Error::Io {
            action: "read",
            path: folder.to_owned(),
            source,
        })?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut systems: Vec<String> =
            names.filter_map(|name| Some(name.strip_suffix(ending)?.to_owned())).collect();
        systems.sort();
        match &systems[..] {
            [only] => Ok(only.clone()),
            [] => Err(self.problem("the first part of a run beside it", "none").hint(HOW).into()),
            several => Err(self
                .problem("parts of one system", format!("parts of {}", several.join(", ")))
                .hint("name one: `clariq run SYSTEM --merge plan.json -o FILE`")
                .into()),
        }
    }

    /// A part with its record, whose checksums hold.
    fn whole_part(&self, path: &Path, index: usize) -> Result<Part, Error> {
        let shard = &self.plan.shards[index];
        let refuse = |found: &str| {
            let expected = format!("part {index} of {} whole", self.plan.shards.len());
            self.problem(expected, format!("`{}`, {found}", path.display())).hint(HOW)
        };
        let text = std::fs::read(record::path_of(path)).map_err(|_| refuse("without a record"))?;
        let record: Value =
            serde_json::from_slice(&text).map_err(|_| refuse("whose record is damaged"))?;
        let part = &record["part"];
        if part["shard"] != index || part["sha256"] != *shard.sha256 {
            return Err(refuse("which was made of another shard").into());
        }
        let sha256 = sha256_of_file(path).map_err(|_| refuse("which is missing"))?;
        if record["outputs"]["run"]["sha256"] != *sha256 {
            return Err(refuse("which is not as it was written").into());
        }
        let fingerprint = part["fingerprint"].as_str().unwrap_or_default().to_owned();
        if self.plan.fingerprint.as_ref().is_some_and(|planned| *planned != fingerprint) {
            return Err(refuse("made by another system or other weights than planned").into());
        }
        Ok(Part { path: path.to_owned(), record, fingerprint })
    }
}

const HOW: &str = "`clariq run SYSTEM --shard plan.json:I` makes part I again";

/// A part that is whole.
struct Part {
    path: PathBuf,
    record: Value,
    fingerprint: String,
}

fn short(checksum: &str) -> &str {
    checksum.get(..12).unwrap_or(checksum)
}
