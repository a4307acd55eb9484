//! The record beside a run, `<run>.json`.
//!
//! It contains everything that a figure depends on and nothing else, so that the same inputs give the
//! same bytes. It is renamed last and contains the checksums of the files that it describes: if they
//! differ, a command was interrupted.

mod depth;
mod recorded_file;

use crate::needs::NeedPredictor;
use crate::ranker::Ranker;
use crate::session::Session;
use clariq_collections::{Split, SystemClass};
use clariq_core::{Checksum, Error, IoAction, ReadingOverrides, Result};
use clariq_files::{StagedFile, with_ending};
use clariq_net::write_exchanges;
use clariq_systems::{Plan, SystemConfig};
pub use recorded_file::RecordedFile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The path of the record of a run: `X.run.json`, or `X.record.json` for a submission `X.json` or
/// `X.jsonl`.
pub fn path_of(run: &Path) -> PathBuf {
    if run.extension().is_some_and(|ending| ending == "json" || ending == "jsonl") {
        run.with_extension("record.json")
    } else {
        with_ending(run, ".json")
    }
}

/// True if a file has the name of a record, and its run is beside it.
pub fn is_record(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let Some(stem) = name.strip_suffix(".json") else { return false };
    let mut runs = vec![stem.to_owned()];
    if let Some(stem) = stem.strip_suffix(".record") {
        runs.extend([format!("{stem}.json"), format!("{stem}.jsonl")]);
    }
    runs.iter().any(|run| Path::new(run).is_file())
}

/// An output of a command.
pub struct RecordedOutput {
    /// Its key in the record.
    pub kind: &'static str,
    /// The path that it will have.
    pub path: PathBuf,
    /// The file, until all outputs take their places.
    pub file: StagedFile,
}

/// The arithmetic of learned models, which determines the last digits of their scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arithmetic {
    isa: String,
    precision: String,
}

impl Arithmetic {
    /// The arithmetic of a system's models; `None` for a system without any.
    pub(crate) fn of(session: &Session, config: &SystemConfig) -> Option<Self> {
        let options = session.model_options(ReadingOverrides::default());
        let precision = options.precision.to_string();
        config.needs_models().then(|| Self { isa: options.computes_with().to_owned(), precision })
    }
}

/// The first part of a record: the system, its stages and the documents that they rank, by task if
/// there are several.
pub(crate) fn describe(system: &Ranker, tag: &str) -> Result<Value> {
    let session = system.session();
    let config = system.config;
    let mut made_by = json!({
        "clariq": env!("CARGO_PKG_VERSION"),
        "system": config.name,
        "config_sha256": config.checksum,
        "uses": config.uses_for(session.split.map(Split::role)),
        "models": system.weights,
        "need": system.need_model.as_ref().map(NeedPredictor::record),
        "seed": session.options.seed,
        "run_tag": tag,
        "collection": session.collection.label(),
    });
    if let Some(rewrites) = &config.rewrites {
        made_by["rewrites"] = rewrites.describe();
    }
    let prompts = config.prompts();
    if !prompts.is_empty() {
        made_by["prompts"] = json!(prompts);
    }
    if let Some(arithmetic) = Arithmetic::of(session, config) {
        made_by["arithmetic"] = json!(arithmetic);
    }
    match &config.plan {
        Plan::Rank(pipeline) => {
            let documents = session.documents;
            made_by["stages"] = pipeline.parameters();
            made_by["bank"] =
                json!({ "sha256": documents.checksum(), "questions": documents.len() });
        }
        Plan::Answer(plan) => {
            let tasks = plan.tasks();
            let tasks = tasks.map(|(task, pipeline)| (task.to_owned(), pipeline.parameters()));
            made_by["tasks"] = Value::Object(tasks.collect());
            made_by["answer"] = json!(plan.config);
            if let Some(ask) = &plan.ask {
                made_by["ask"] = json!(ask);
            }
            if config.class() == Some(SystemClass::Manual) {
                made_by["answer"]["class"] = SystemClass::Manual.name().into();
            }
            for &part in system.parts() {
                let documents = system.documents(part)?;
                made_by[system.task_name(part)] =
                    json!({ "sha256": documents.checksum(), "count": documents.len() });
            }
        }
    }
    Ok(made_by)
}

/// The file with the exchanges of a run.
pub fn completions_path(run: &Path) -> PathBuf {
    with_ending(run, ".completions.jsonl.zst")
}

/// Describes the models of a system that are behind endpoints in the record of the run at `path`,
/// and stages its exchanges, if there are any.
pub(crate) fn record_calls(
    session: &Session,
    config: &SystemConfig,
    path: &Path,
    made_by: &mut Value,
) -> Result<Option<RecordedOutput>> {
    if !config.endpoints.is_empty() {
        made_by["endpoints"] = json!(config.endpoints);
    }
    let exchanges = session.registry.calls().take_exchanges();
    if exchanges.is_empty() {
        return Ok(None);
    }
    let path = completions_path(path);
    let file = StagedFile::new(&path, |out| write_exchanges(out, &exchanges))?;
    Ok(Some(RecordedOutput { kind: "completions", path, file }))
}

/// Commits staged outputs, and then their record.
pub fn put(run: &Path, mut made_by: Value, files: Vec<RecordedOutput>) -> Result<()> {
    let mut outputs = Map::new();
    for RecordedOutput { kind, path, file } in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let content = file.source();
        let checksum =
            Checksum::of_stream(content.stream()?).map_err(Error::io(IoAction::Read, path))?;
        outputs.insert((*kind).to_owned(), json!({ "file": name, "sha256": checksum }));
    }
    made_by["outputs"] = Value::Object(outputs);
    let record = StagedFile::new(&path_of(run), |out| {
        serde_json::to_writer_pretty(&mut *out, &made_by)?;
        writeln!(out)
    })?;
    files.into_iter().map(|output| output.file).chain([record]).try_for_each(StagedFile::commit)
}

/// The part of a run's record that other commands read.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct RunRecord {
    /// The name of the system, without the suffix of overridden parameters.
    pub system: String,
    /// Its stages with their parameters; nothing for a system that answers.
    pub stages: Value,
    /// The input of its system beyond one request.
    pub uses: Vec<String>,
    prompts: Vec<PromptFile>,
    /// The scores with which those of the run cannot be compared, because of the documents that it ranks.
    pub remark: Option<String>,
    split: Option<String>,
    bank: Option<Digest>,
    outputs: HashMap<String, Digest>,
}

impl RunRecord {
    /// The prompts by which language models wrote texts of the run.
    pub fn prompts(&self) -> Vec<&str> {
        self.prompts.iter().map(|prompt| prompt.file.as_str()).collect()
    }
}

/// A prompt of a language model: its file, or the name of a built-in one.
#[derive(Debug, Clone, Deserialize)]
struct PromptFile {
    file: String,
}

/// The checksum of a file of a run, or of its documents.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Digest {
    pub(crate) sha256: Checksum,
}

/// The path of the need file of a run: `X.need` for `X.run`; otherwise `.need` is appended.
pub(crate) fn need_path(run: &Path) -> PathBuf {
    let name = run.to_string_lossy();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    PathBuf::from(format!("{}.need", stem.strip_suffix(".run").unwrap_or(stem)))
}

/// The runs that could have the need file `need`.
pub fn runs_of_need(need: &Path) -> Vec<PathBuf> {
    let name = need.to_string_lossy();
    let Some(stem) = name.strip_suffix(".need") else { return Vec::new() };
    ["", ".run", ".run.gz", ".gz"].map(|suffix| PathBuf::from(format!("{stem}{suffix}"))).to_vec()
}
