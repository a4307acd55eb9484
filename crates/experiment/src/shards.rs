//! A file of conversations or requests cut into shards, and the parts of a run put together.
//!
//! `plan.json` lies beside the shards and says what they were cut from: whoever ranks a shard needs
//! the plan and its file alone. A part is whole when its record is there; parts put together are
//! the run over the whole file, byte for byte.

mod cut;

pub use cut::cut;

use crate::record::{self, Arithmetic, Digest, MOST_OF_A_RECORD, fingerprint_of};
use crate::rewrites::{Rewrites, RewritesFile};
use crate::run::{Cut, FileInput, FileKind, Job, RunOptions};
use crate::session::Contexts;
use crate::systems::Loaded;
use clariq_core::{
    Error, Location, Problem, Result, bail, open_regular, problem, read_regular, sha256_of_file,
};
use clariq_files::{Source, Staged, protect, refuse_input};
use clariq_rank::{ConversationConfig, Uses};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FORM: u32 = 2;

/// Bytes that a plan may have, unpacked: those of 80,000 shards.
const MOST_OF_A_PLAN: u64 = 16 << 20;

/// What a file was cut into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    #[serde(rename = "clariq_plan")]
    form: u32,
    pub(crate) input: Cut,
    /// The SHA-256 of the documents that it was checked against.
    bank_sha256: String,
    /// What made a run by the system that the plan is for, if it is for one.
    fingerprint: Option<String>,
    /// What the learned models of that system compute with, if it has any.
    arithmetic: Option<Arithmetic>,
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
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(path, &Source::new(path).read_at_most(MOST_OF_A_PLAN)?.bytes)
    }

    /// Parses the content of a plan; `path` is where it lies.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Form {
            clariq_plan: Option<u32>,
        }

        let wrong = |found: String| {
            let hint = "cut the file again with this version of clariq";
            problem!(path, "a plan of `clariq data shard`", found, hint)
        };
        let form: Form = serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
        match form.clariq_plan {
            Some(FORM) => {}
            Some(found) => return Err(wrong(format!("a plan of form {found}, not {FORM}")).into()),
            None => return Err(wrong("no key `clariq_plan`".to_owned()).into()),
        }
        let plan: Plan = serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
        let is_name =
            |shard: &Shard| Path::new(&shard.file).file_name() == Some(shard.file.as_ref());
        if plan.shards.is_empty() || !plan.shards.iter().all(is_name) {
            return Err(wrong("no shards, or one outside the plan's folder".to_owned()).into());
        }
        let (mut next, mut names) = (0_u64, HashSet::new());
        for Shard { file, first, contexts, .. } in &plan.shards {
            if *first != next || !names.insert(file) {
                let found = format!("`{file}` from context {first} on, where {next} comes next");
                return Err(wrong(found).into());
            }
            next = next.saturating_add(*contexts);
        }
        if next != plan.input.contexts {
            let all = plan.input.contexts;
            return Err(wrong(format!("{next} contexts in shards, of {all}")).into());
        }
        Ok(Self { path: path.to_owned(), plan })
    }

    /// Parses the record of a part of a run; `path` is where it lies.
    pub fn parse_record(path: &Path, text: &[u8]) -> Result<Part> {
        serde_json::from_slice(text).map_err(|error| {
            let line = text.split(|&byte| byte == b'\n').nth(error.line().max(1) - 1);
            let line = String::from_utf8_lossy(line.unwrap_or_default());
            let at = Location::line(path.display().to_string(), error.line() as u64);
            let expected = "the record of a part as `clariq run --shard` writes it";
            let problem = Problem::of_serde(at, &error.to_string(), expected).hint(HOW);
            let found = format!("`{}`: {}", line.trim(), problem.found);
            Problem { found, ..problem }.into()
        })
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.path.with_file_name(name)
    }

    /// Where the part of a run over shard `index` is.
    pub fn part(&self, system: &str, index: usize) -> PathBuf {
        self.beside(&format!("{system}.part-{index:05}.run"))
    }

    /// Makes the part of a run over one shard, in `output` or [`Planned::part`], unless it is
    /// there.
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
    ) -> Result<PathBuf> {
        let session = contexts.session;
        let Some(shard) = self.plan.shards.get(index) else {
            let last = self.plan.shards.len() - 1;
            bail!(&*self.path, "a shard from 0 to {last}", "{index}", "shards count from 0");
        };
        let bank = session.documents.checksum().as_str();
        if bank != self.plan.bank_sha256 {
            let (expected, found) = (short(&self.plan.bank_sha256), short(bank));
            let hint = "--data names the collection that the plan was made with";
            bail!(&*self.path, "the question bank {expected}", "the bank {found}", hint);
        }
        let file = self.beside(&shard.file);
        let lines = count_lines(&Source::new(&file))?;
        if lines != shard.contexts || Source::new(&file).checksum()? != shard.sha256 {
            let (name, all) = (&shard.file, shard.contexts);
            let found = format!("{lines} contexts of {all}, or a file with another checksum");
            let hint = "copy the shard again, or cut the file again";
            bail!(&*self.path, "`{name}` as it was cut", found, hint);
        }
        let path = output.map_or_else(|| self.part(&loaded.name, index), Path::to_owned);
        self.plan.shards.iter().for_each(|shard| protect(&self.beside(&shard.file)));
        refuse_inputs(&path)?;
        self.check_arithmetic(contexts, loaded)?;
        let input = FileInput::open_shard(session, &file, &self.plan.input)?;
        let job = Job::new(contexts, loaded, &input, None)?;
        let fingerprint = job.fingerprint();
        if let Some(planned) = self.plan.fingerprint.as_ref().filter(|it| **it != fingerprint) {
            let expected = format!("the system, parameters and weights {}", short(planned));
            let hint = "the plan is for one system; cut the file again for another";
            bail!(&*self.path, expected, (format!("others, {}", short(&fingerprint))), hint);
        }
        match self.whole_part(&path, index) {
            Ok(part) if part.made.fingerprint == fingerprint => {
                session.observer.note(&format!("note: {} is there already, whole", path.display()));
                return Ok(path);
            }
            Ok(_) if output.is_none() => {
                let expected =
                    "no part of another system, or of other parameters, rewrites or weights";
                let hint = "-o names another file for this part, or the same, to replace it";
                bail!(&*path, expected, "one", hint);
            }
            _ => {}
        }
        let count = |rewrites: &Arc<Rewrites>| rewrites.count(&input, session.observer);
        let rewritten = loaded.rewrites.as_ref().map(count).transpose()?;
        let sha256 = shard.sha256.clone();
        let made = json!(MadeOf { fingerprint, shard: index, sha256, rewritten });
        let options = RunOptions { part: Some(&made), ..RunOptions::default() };
        job.run(&options, &path)?;
        Ok(path)
    }

    /// Refuses a processor that computes otherwise than the one that the plan was made on.
    fn check_arithmetic(&self, contexts: &Contexts, loaded: &Loaded) -> Result<()> {
        let Some(planned) = &self.plan.arithmetic else { return Ok(()) };
        match Arithmetic::of(contexts.session, loaded) {
            Some(found) if found != *planned => {
                let expected = format!("learned models computed with {}", json!(planned));
                bail!(&*self.path, expected, (json!(found).to_string()), ALIKE)
            }
            _ => Ok(()),
        }
    }

    /// Puts the parts of a run together, as the run over the whole file would have been written,
    /// and its record. Every part is verified first.
    ///
    /// # Errors
    ///
    /// A part that is not whole, parts that do not belong together, and rewrites that are of no
    /// request of any part.
    pub fn merge(&self, system: Option<&str>, output: &Path) -> Result<()> {
        let system = system.map_or_else(|| self.only_system(), |name| Ok(name.to_owned()))?;
        for (index, shard) in self.plan.shards.iter().enumerate() {
            let part = self.part(&system, index);
            protect(&self.beside(&shard.file));
            protect(&record::path_of(&part));
            protect(&part);
        }
        refuse_inputs(output)?;
        let mut first: Option<Part> = None;
        let (mut paths, mut rewritten) = (Vec::with_capacity(self.plan.shards.len()), 0);
        for index in 0..self.plan.shards.len() {
            let path = self.part(&system, index);
            let part = self.whole_part(&path, index)?;
            let first = first.get_or_insert_with(|| part.clone());
            if part.made.fingerprint != first.made.fingerprint {
                return Err(self.differs(first, &part, &path).into());
            }
            rewritten += part.made.rewritten.unwrap_or_default();
            paths.push(path);
        }
        if let (0, Some(rewrites)) = (rewritten, first.as_ref().and_then(|it| it.rewrites.as_ref()))
        {
            let (file, all) = (&rewrites.file, &self.plan.input.file);
            let found = format!("`{file}`, with ids of none of them");
            bail!(&*self.path, "rewrites of requests of `{all}`", found, "make the parts again");
        }
        let run = Staged::new(output, |out| {
            paths.iter().try_for_each(|path| io::copy(&mut open_regular(path)?, out).map(drop))
        })?;
        let (mut made_by, input) = (json!(first), &self.plan.input);
        input.kind.count(&mut made_by, input.contexts, input.bad_records);
        record::put(output, made_by, vec![("run", output.to_owned(), run)])
    }

    /// Two parts that do not belong to one run.
    fn differs(&self, first: &Part, part: &Part, path: &Path) -> Problem {
        let path = path.display();
        let [planned, found] = [first, part].map(|part| json!(part.arithmetic));
        if planned != found {
            let expected = format!("parts whose learned models computed with {planned}");
            return problem!(&*self.path, expected, "`{path}`, with {found}", ALIKE);
        }
        if first.rewrites != part.rewrites {
            let [planned, found] = [first, part].map(|part| match &part.rewrites {
                Some(RewritesFile { file, sha256 }) => format!("`{file}`, {}", short(sha256)),
                None => "none".to_owned(),
            });
            let expected = format!("parts with the same rewrites: {planned}");
            return problem!(&*self.path, expected, "`{path}`, with {found}", HOW);
        }
        let expected = "parts of one system, made with the same weights";
        problem!(&*self.path, expected, "`{path}`, made otherwise", "make that part again")
    }

    /// The system whose first part lies beside the plan, if it is the only one.
    fn only_system(&self) -> Result<String> {
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
            [] => bail!(&*self.path, "the first part of a run beside it", "none", HOW),
            several => {
                let found = format!("parts of {}", several.join(", "));
                let hint = "name one: `clariq run SYSTEM --merge plan.json -o FILE`";
                bail!(&*self.path, "parts of one system", found, hint)
            }
        }
    }

    /// The record of a part whose checksums hold.
    fn whole_part(&self, path: &Path, index: usize) -> Result<Part> {
        let shard = &self.plan.shards[index];
        let refuse = |found: &str| {
            let expected = format!("part {index} of {} whole", self.plan.shards.len());
            problem!(&*self.path, expected, (format!("`{}`, {found}", path.display())), HOW)
        };
        let text = read_regular(&record::path_of(path), MOST_OF_A_RECORD).ok();
        let text = text.ok_or_else(|| refuse("without a record"))?;
        let part = Self::parse_record(&record::path_of(path), &text)?;
        if part.made.fingerprint != fingerprint_of(&json!(part)) {
            return Err(refuse("whose record is not as it was written").into());
        }
        let Cut { kind, file, sha256, .. } = self.plan.input.clone();
        let whole = FileRead { file, sha256, count: shard.contexts, bad_lines: 0 };
        let read = match kind {
            FileKind::Conversations => &part.conversations,
            FileKind::Requests => &part.requests,
        };
        if part.made.shard != index || part.made.sha256 != *shard.sha256 || *read != Some(whole) {
            return Err(refuse("which was made of another shard").into());
        }
        let sha256 = Some(path).filter(|path| path.is_file()).map(sha256_of_file);
        if sha256.ok_or_else(|| refuse("which is missing"))?? != part.outputs.run.sha256 {
            return Err(refuse("which is not as it was written").into());
        }
        if self.plan.fingerprint.as_ref().is_some_and(|it| *it != part.made.fingerprint) {
            return Err(refuse("made by another system or other weights than planned").into());
        }
        Ok(part)
    }
}

/// Refuses a run file that is an input, or whose record would take the place of one.
fn refuse_inputs(run: &Path) -> Result<()> {
    refuse_input(run)?;
    refuse_input(&record::path_of(run))
}

const ALIKE: &str = "`--isa avx2` for `clariq data shard` and every `clariq run --shard` makes all \
                     x86 processors compute alike; --precision must be one for all as well";

const HOW: &str = "`clariq run SYSTEM --shard plan.json:I` makes part I again";

/// The record of a part. It is written without what tells parts from each other, as what made it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    clariq: String,
    system: String,
    config_sha256: String,
    uses: Vec<Uses>,
    models: Map<String, Value>,
    need: Value,
    seed: u64,
    run_tag: String,
    collection: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rewrites: Option<RewritesFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arithmetic: Option<Arithmetic>,
    stages: Vec<Map<String, Value>>,
    bank: Bank,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<ConversationConfig>,
    skip_bad: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversations: Option<FileRead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<FileRead>,
    #[serde(rename = "part", skip_serializing)]
    made: MadeOf,
    #[serde(skip_serializing)]
    outputs: Outputs,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bank {
    sha256: String,
    questions: u64,
}

/// The whole file that a part is of, and what was read of it for the part.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRead {
    file: String,
    sha256: String,
    #[serde(alias = "contexts", skip_serializing)]
    count: u64,
    #[serde(alias = "bad_records", skip_serializing)]
    bad_lines: u64,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MadeOf {
    fingerprint: String,
    shard: usize,
    sha256: String,
    /// How many of its requests have a rewrite, where the run has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    rewritten: Option<u64>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outputs {
    run: Digest,
}

/// How many lines a shard has: one for each context.
fn count_lines(shard: &Source) -> Result<u64> {
    let mut lines = shard.stream()?.split(b'\n');
    let count = lines.try_fold(0, |count, line| line.map(|_| count + 1));
    count.map_err(Error::io("read", shard.name()))
}

fn short(checksum: &str) -> &str {
    checksum.get(..12).unwrap_or(checksum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_parts_are_typed_and_errors_name_file_and_key() {
        let text = String::from_utf8_lossy(include_bytes!("../../../fuzz/corpus/records/part"));
        let parse = |text: &str| Planned::parse_record(Path::new("a.run.json"), text.as_bytes());
        let part = parse(&text).unwrap();
        assert_eq!(part.made.fingerprint, fingerprint_of(&json!(part)));
        for (key, from, to) in [
            ("\"requests\"", "\"requests\": {", "\"requests\": \"x\", \"unknown\": {"),
            ("\"seed\"", "\"seed\": ", "\"seed\": -"),
            ("\"shard\"", "\"shard\": ", "\"shard\": {}, \"shard\": "),
            ("`runs`", "\"run\": ", "\"runs\": "),
            ("`systems`", "\"system\"", "\"systems\""),
            ("\"arithmetic\"", "\"need\"", "\"arithmetic\": 1, \"need\""),
            ("[{", "{", "[{"),
        ] {
            let error = parse(&text.replacen(from, to, 1)).map(drop).unwrap_err().to_string();
            assert!(error.contains("a.run.json") && error.contains(key), "{error}");
        }
    }
}
