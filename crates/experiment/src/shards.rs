//! A file of conversations or requests cut into shards, and the parts of a run over them put
//! together.
//!
//! `plan.json` lies beside the shards and says what they were cut from. Each shard is a file of its
//! own, so that whoever ranks it needs the plan and that file alone. A part is
//! whole when its record is there; parts put together are the run over the whole file, byte for
//! byte.

mod cut;

pub use cut::cut;

use crate::contexts::Contexts;
use crate::record;
use crate::run::{Cut, FileInput, Job, RunOptions};
use crate::systems::Loaded;
use clariq_core::{Error, Problem, problem, sha256_of_file};
use clariq_files::{Source, Staged, protect, refuse_input};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The form of `plan.json`.
const FORM: u32 = 2;

/// What a file was cut into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The number of this form.
    #[serde(rename = "clariq_plan")]
    form: u32,
    /// The file that was cut.
    pub(crate) input: Cut,
    /// The SHA-256 of the documents that it was checked against.
    bank_sha256: String,
    /// What made a run by the system that the plan is for, if it is for one.
    fingerprint: Option<String>,
    /// What the learned models of that system compute with, if it has any.
    arithmetic: Option<Value>,
    /// The shards, in the order of their contexts.
    pub shards: Vec<Shard>,
}

/// One shard of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The file, beside the plan.
    pub file: String,
    /// How many contexts or requests come before its first.
    pub first: u64,
    /// How many it has.
    pub contexts: u64,
    /// The SHA-256 of the file.
    pub sha256: String,
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
            let hint = "cut the file again with this version of clariq";
            problem!(path, "a plan of `clariq data shard`", found, hint)
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
        Problem::at(&*self.path, expected, found)
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
        contexts: &Contexts,
        loaded: &Loaded,
        index: usize,
        output: Option<&Path>,
    ) -> Result<PathBuf, Error> {
        let session = contexts.session();
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
        let path = output.map_or_else(|| self.part(&loaded.name, index), Path::to_owned);
        self.plan.shards.iter().for_each(|shard| protect(&self.beside(&shard.file)));
        refuse_input(&path)?;
        self.check_arithmetic(contexts, loaded)?;
        let input = FileInput::open_shard(session, &file, &self.plan.input)?;
        let job = Job::new(contexts, loaded, &input, None)?;
        let fingerprint = job.fingerprint();
        if let Some(planned) = self.plan.fingerprint.as_ref().filter(|it| **it != fingerprint) {
            let expected = format!("the system, parameters and weights {}", short(planned));
            return Err(self
                .problem(expected, format!("others, {}", short(&fingerprint)))
                .hint("the plan is for one system; cut the file again for another")
                .into());
        }
        if self.whole_part(&path, index).is_ok_and(|part| part.fingerprint == fingerprint) {
            session.observer.note(&format!("note: {} is there already, whole", path.display()));
            return Ok(path);
        }
        let beside = serde_json::json!({
            "fingerprint": fingerprint, "shard": index, "sha256": shard.sha256,
        });
        let options = RunOptions { part: Some(&beside), ..RunOptions::default() };
        job.run(&options, &path)?;
        Ok(path)
    }

    /// Refuses a processor that computes otherwise than the one that the plan was made on.
    fn check_arithmetic(&self, contexts: &Contexts, loaded: &Loaded) -> Result<(), Error> {
        let Some(planned) = &self.plan.arithmetic else { return Ok(()) };
        match record::arithmetic(contexts.session(), loaded) {
            Some(found) if found != *planned => Err(self
                .problem(format!("learned models computed with {planned}"), found.to_string())
                .hint(ALIKE)
                .into()),
            _ => Ok(()),
        }
    }

    /// Puts the parts of a run together, as the run over the whole file would have been written,
    /// and its record. Every part is verified first.
    pub fn merge(&self, system: Option<&str>, output: &Path) -> Result<(), Error> {
        let system = system.map_or_else(|| self.only_system(), |name| Ok(name.to_owned()))?;
        for (index, shard) in self.plan.shards.iter().enumerate() {
            let part = self.part(&system, index);
            protect(&self.beside(&shard.file));
            protect(&record::path_of(&part));
            protect(&part);
        }
        refuse_input(output)?;
        let mut parts = Vec::with_capacity(self.plan.shards.len());
        for index in 0..self.plan.shards.len() {
            let part = self.whole_part(&self.part(&system, index), index)?;
            let first: &Part = parts.first().unwrap_or(&part);
            if part.fingerprint != first.fingerprint {
                return Err(self.differs(first, &part).into());
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
        let Cut { kind, contexts, bad_records, .. } = self.plan.input;
        kind.count(&mut made_by, contexts, bad_records);
        let files: Vec<record::Output> = vec![("run", output.to_owned(), run)];
        let record = record::stage(output, made_by, &files)?;
        files.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
        Ok(())
    }

    /// Two parts that do not belong to one run.
    fn differs(&self, first: &Part, part: &Part) -> Problem {
        let path = part.path.display();
        let [planned, found] = [first, part].map(|part| &part.record["arithmetic"]);
        if planned != found {
            let expected = format!("parts whose learned models computed with {planned}");
            return self.problem(expected, format!("`{path}`, with {found}")).hint(ALIKE);
        }
        let expected = "parts of one system, made with the same weights";
        self.problem(expected, format!("`{path}`, made otherwise")).hint("make that part again")
    }

    /// The system whose first part lies beside the plan, if it is the only one.
    fn only_system(&self) -> Result<String, Error> {
        let ending = ".part-00000.run.json";
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let entries = std::fs::read_dir(folder).map_err(Error::io("read", folder))?;
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

const ALIKE: &str = "`--isa avx2` for `clariq data shard` and every `clariq run --shard` makes all \
                     x86 processors compute alike; --precision must be one for all as well";

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
