//! Runs: what a system ranks for every request of an input, with the record of what made it.
//!
//! An input is a split, or a file of conversations that may hold millions of records. Requests are
//! ranked in blocks: one thread reads, all rank. Where there is more than one block, what is
//! finished is appended to `<run>.partial`, with how far that is in `<run>.partial.json`; when
//! everything is written, the run takes its name. After a kill, a run that is resumed continues
//! behind the last whole block, if the same inputs would be read.

mod answers;
mod blocks;
mod conversations;
mod file;
mod given;
mod input;
mod partial;
mod requests;
mod split;

use crate::contexts::Contexts;
use crate::needs::{PredictedNeeds, need_model, need_record, predict_needs};
use crate::pipelines::Pipelines;
use crate::record;
use crate::session::Session;
use crate::systems::Loaded;
use blocks::{Blocks, Write};
use clariq_collections::Collection;
use clariq_core::Error;
use clariq_core::{Location, Models, Problem, ProblemKind, sha256_hex};
use clariq_files::{Staged, Target, refuse_input};
use clariq_need::Classifier;
use clariq_rank::{Pipeline, System};
use file::{FileKind, InputFile};
use partial::{Partial, Progress};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::{panic, thread};

use answers::SplitAnswers;
pub use answers::ranking_path;
pub use conversations::Conversations;
pub(crate) use file::Cut;
pub use given::Given;
pub(crate) use input::Divisible;
pub use input::{Input, Skipped};
pub use requests::RequestFile;
use split::SplitRequests;
pub use split::as_run;

/// The folder of a collection's runs: `folder` itself for the released ClariQ, and one inside it
/// that is named after the collection for every other, so that their runs keep apart.
pub fn folder_of(folder: &Path, collection: &dyn Collection) -> PathBuf {
    match collection.label().as_str() {
        "clariq" => folder.to_owned(),
        label => folder.join(label),
    }
}

/// The usual path of a run over an input of that name: `<folder of the
/// collection>/<system>.<name>.run`. What is handed in ends in `.json`, and lies in `folder` itself
/// but for a sample.
pub fn usual_path(folder: &Path, session: &Session, loaded: &Loaded, name: &str) -> PathBuf {
    let (system, collection) = (&loaded.system, session.collection);
    if system.tasks.is_empty() {
        return folder_of(folder, collection).join(format!("{}.{name}.run", system.name));
    }
    let file = format!("{}.{name}.json", system.name);
    if collection.is_sample() {
        folder.join(collection.label()).join(file)
    } else {
        folder.join(file)
    }
}

/// A split as the input of a run by a system, perhaps with the documents that another run gives to
/// each request.
///
/// # Errors
///
/// A split that cannot be read, a collection without the tasks of the system, and documents that it
/// does not have.
pub fn open_split<'a>(
    session: &Session<'a>,
    loaded: &Loaded,
    split: &'static str,
    given: Option<&'a Given>,
) -> Result<Box<dyn Input + 'a>, Error> {
    Ok(match &loaded.answer {
        Some(config) => Box::new(SplitAnswers::open(session, loaded, config, split, given)?),
        None => Box::new(SplitRequests::read(session, split)?.given(given)?),
    })
}

/// How a run is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// The last field of every line; the system's name if there is none.
    pub tag: Option<&'a str>,
    /// Whether an interrupted run is continued.
    pub resume: bool,
    /// What tells the run from others where it is a part of one. A part is small: its lines stay in
    /// memory, and there may be none.
    pub part: Option<&'a Value>,
}

/// What came of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Requests that were ranked.
    pub requests: u64,
    /// Lines that were written for them.
    pub lines: u64,
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
) -> Result<Done, Error> {
    for (_, file) in files_of(input, path) {
        refuse_input(&file)?;
    }
    Job::new(contexts, loaded, input, options.tag)?.run(options, path)
}

/// The files that a run at `path` has.
fn files_of(input: &dyn Input, path: &Path) -> Vec<(&'static str, PathBuf)> {
    if Target::new(path).is_stream() { vec![("run", path.to_owned())] } else { input.files(path) }
}

/// Opens a file of requests, whichever of the two forms it has.
pub(crate) fn open_file<'a>(
    session: &Session<'a>,
    file: &Path,
    skip_bad: bool,
) -> Result<Box<dyn Divisible + 'a>, Error> {
    let file = InputFile::open(file, skip_bad)?;
    Ok(match file.kind() {
        FileKind::Conversations => Box::new(Conversations::new(session, file)?),
        FileKind::Requests => Box::new(RequestFile::new(session, file)),
    })
}

/// Opens a shard of a file that was checked when it was cut. It describes itself as the whole file.
pub(crate) fn open_shard<'a>(
    session: &Session<'a>,
    shard: &Path,
    cut: &Cut,
) -> Result<Box<dyn Input + 'a>, Error> {
    let file = InputFile::of_shard(shard, cut);
    Ok(match cut.kind {
        FileKind::Conversations => Box::new(Conversations::new(session, file)?.checked()),
        FileKind::Requests => Box::new(RequestFile::new(session, file)),
    })
}

/// One system over one input, with its models open and its need model trained.
pub(crate) struct Job<'a> {
    contexts: &'a Contexts<'a>,
    pipelines: Pipelines<'a>,
    loaded: &'a Loaded,
    input: &'a dyn Input,
    tag: String,
    needs: Needs,
    /// What the lines are made by.
    made_by: Value,
}

/// The predicted needs that stages look at.
enum Needs {
    /// None, or none that a stage looks at.
    None,
    /// Predicted block by block.
    Each(Box<Classifier>),
    /// Predicted for all requests before the first is ranked.
    All(PredictedNeeds),
}

impl<'a> Job<'a> {
    /// Opens what the system needs; `tag` as in [`RunOptions`].
    pub(crate) fn new(
        contexts: &'a Contexts<'a>,
        loaded: &'a Loaded,
        input: &'a dyn Input,
        tag: Option<&str>,
    ) -> Result<Self, Error> {
        let (session, system) = (contexts.session(), &loaded.system);
        input.check(system)?;
        let pipelines = Pipelines::new(contexts, loaded)?;
        let tag = tag.unwrap_or(&system.name);
        let tag: String = tag.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
        let models = open_models(contexts.models(), loaded)?;
        let needs = if !system.pipeline.sees_need() {
            Needs::None
        } else if input.in_memory().is_some() {
            predict(contexts, loaded, input)?.map_or(Needs::None, Needs::All)
        } else {
            let model = need_model(session, contexts.models(), loaded)?;
            model.map_or(Needs::None, |model| Needs::Each(Box::new(model)))
        };
        let mut made_by = json!({
            "clariq": env!("CARGO_PKG_VERSION"),
            "system": system.name,
            "config_sha256": loaded.checksum,
            "uses": loaded.uses(session.split),
            "models": models,
            "need": needs.record(),
            "seed": session.options.seed,
            "run_tag": tag,
            "collection": session.collection.label(),
        });
        if let Some(arithmetic) = record::arithmetic(session, loaded) {
            made_by["arithmetic"] = arithmetic;
        }
        for (key, value) in describe_system(session, system, &pipelines)? {
            made_by[key] = value;
        }
        for (key, value) in input.describe(system)? {
            made_by[key] = value;
        }
        Ok(Self { contexts, pipelines, loaded, input, tag, needs, made_by })
    }

    /// What makes the lines, as the record begins, in one checksum.
    pub(crate) fn fingerprint(&self) -> String {
        sha256_hex(self.made_by.to_string().as_bytes())
    }

    /// Ranks and writes, as [`run`] says.
    pub(crate) fn run(&self, options: &RunOptions, path: &Path) -> Result<Done, Error> {
        let (progress, skipped) = if Target::new(path).is_stream() {
            self.stream(path)?
        } else {
            self.write(path, options)?
        };
        self.report(progress, &skipped);
        Ok(Done { requests: progress.requests, lines: progress.lines })
    }

    fn blocks(&self) -> Blocks<'_> {
        let Self { contexts, pipelines, input, tag, needs, .. } = self;
        let files = input.files(Path::new("")).len();
        Blocks {
            observer: contexts.session().observer,
            pipelines,
            input: *input,
            files,
            tag,
            needs,
        }
    }

    /// Writes to standard output or a pipe, which cannot be taken back.
    fn stream(&self, path: &Path) -> Result<(Progress, Skipped), Error> {
        let mut ranked = None;
        let written = Target::new(path).write(|out| {
            let write: Write = &mut |lines, _, _| {
                Ok(out.write_all(&lines[0]).map_err(|source| Error::Io {
                    action: "write",
                    path: path.to_owned(),
                    source,
                })?)
            };
            let result = self.blocks().rank(Progress::default(), write);
            let failed = result.is_err();
            ranked = Some(result);
            if failed { Err(std::io::ErrorKind::Other.into()) } else { self.input.put_end(0, out) }
        });
        // What stopped the ranking is the news, not that the output was not finished.
        match ranked {
            Some(Err(error)) => Err(error),
            Some(Ok(done)) => Ok(written.map(|()| done)?),
            None => Err(written.map_or_else(Error::from, |()| nothing_retrieved(self, 0).into())),
        }
    }

    /// Writes files by way of a partial one, and the record beside them.
    fn write(&self, path: &Path, options: &RunOptions) -> Result<(Progress, Skipped), Error> {
        let observer = self.contexts.session().observer;
        let files = files_of(self.input, path);
        let paths: Vec<PathBuf> = files.iter().map(|(_, path)| path.clone()).collect();
        let (mut partial, progress, note) = match options.part {
            Some(_) => (Partial::in_memory(&paths, observer), Progress::default(), None),
            None => Partial::open(&paths, &self.fingerprint(), options.resume, observer)?,
        };
        if let Some(note) = note {
            observer.note(&note);
        }
        let (ranked, beside) = self.rank_beside_needs(progress, &mut partial);
        let (progress, skipped) = match ranked {
            Ok(done) if done.0.lines > 0 || options.part.is_some() => done,
            stopped => {
                // What was refused once is refused again: there is nothing to continue from.
                partial.remove();
                let nothing = |done: (Progress, _)| nothing_retrieved(self, done.0.requests).into();
                return Err(stopped.map_or_else(|error| error, nothing));
            }
        };
        let beside = beside?;
        let predicted = match &self.needs {
            Needs::All(predicted) => Some(predicted),
            _ => beside.as_ref(),
        };
        let mut outputs: Vec<record::Output> = Vec::with_capacity(files.len() + 1);
        for (file, (kind, path)) in files.iter().enumerate() {
            let staged = Staged::new(path, |out| {
                partial.copy(file, out)?;
                self.input.put_end(file, out)
            })?;
            outputs.push((kind, path.clone(), staged));
        }
        let (path, mut made_by) = (&paths[0], self.made_by.clone());
        if let Some((predicted, requests)) = predicted.zip(self.input.in_memory()) {
            let path = record::need_path(path);
            let need = Staged::new(&path, |out| predicted.put(out, requests))?;
            outputs.push(("need", path, need));
            made_by["need"] = predicted.made_by.clone();
        }
        self.input.count(&mut made_by, progress.requests, &skipped);
        if let Some(part) = options.part {
            made_by["part"] = part.clone();
        }
        let record = record::stage(path, made_by, &outputs)?;
        outputs.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
        partial.remove();
        Ok((progress, skipped))
    }

    /// Ranks, and predicts the needs that no stage looks at but a file is written of. Both at the
    /// same time: neither needs the other, and reading the training labels takes as long as
    /// ranking. On threads of their own: one of the pool could be lent the other task while it
    /// holds a model's lock.
    #[expect(clippy::type_complexity, reason = "two results of what runs side by side")]
    fn rank_beside_needs(
        &self,
        progress: Progress,
        partial: &mut Partial<'_>,
    ) -> (Result<(Progress, Skipped), Error>, Result<Option<PredictedNeeds>, Error>) {
        let write: Write = &mut |lines, progress, last| partial.append(lines, progress, last);
        if self.loaded.system.pipeline.sees_need() || self.loaded.need.is_none() {
            return (self.blocks().rank(progress, write), Ok(None));
        }
        thread::scope(|scope| {
            let predicting = scope.spawn(|| predict(self.contexts, self.loaded, self.input));
            let ranked = self.blocks().rank(progress, write);
            let predicted = predicting.join();
            (ranked, predicted.unwrap_or_else(|panic| panic::resume_unwind(panic)))
        })
    }

    fn report(&self, progress: Progress, skipped: &Skipped) {
        let note = |text: &str| self.contexts.session().observer.note(text);
        if let Some(first) = &skipped.first {
            let (file, bad) = (self.input.location(), skipped.count);
            note(&format!("warning: {file}: {bad} bad records are left out; the first: {first}"));
        }
        if progress.silent > 0 {
            note(&format!(
                "warning: for {} of {} requests nothing is left to rank, and they have no line",
                progress.silent, progress.requests
            ));
        }
    }
}

impl Needs {
    fn record(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Each(model) => need_record(model),
            Self::All(predicted) => predicted.made_by.clone(),
        }
    }
}

/// The needs of an input whose requests are in memory, where the system predicts any.
fn predict(
    contexts: &Contexts,
    loaded: &Loaded,
    input: &dyn Input,
) -> Result<Option<PredictedNeeds>, Error> {
    let Some(requests) = input.in_memory() else { return Ok(None) };
    predict_needs(contexts.session(), contexts.models(), loaded, input.name(), requests)
}

/// What the record says of a system: its stages and what they rank, task by task where there are
/// several.
fn describe_system(
    session: &Session,
    system: &System,
    pipelines: &Pipelines,
) -> Result<Map<String, Value>, Error> {
    let documents = session.documents;
    let mut described = Map::new();
    let Some(answer) = pipelines.answer() else {
        let bank = json!({ "sha256": documents.checksum(), "questions": documents.len() });
        described.insert("stages".to_owned(), system.pipeline.parameters());
        described.insert("bank".to_owned(), bank);
        return Ok(described);
    };
    let parameters = |(task, pipeline): (&String, &Pipeline)| (task.clone(), pipeline.parameters());
    described
        .insert("tasks".to_owned(), Value::Object(system.tasks.iter().map(parameters).collect()));
    described.insert("answer".to_owned(), json!(answer));
    for task in pipelines.tasks() {
        let documents = session.collection.documents(task)?;
        let of_task = json!({ "sha256": documents.checksum(), "count": documents.len() });
        described.insert(task.to_owned(), of_task);
    }
    Ok(described)
}

/// Opens the learned models that stages ask for; their checksums by name. The weights are part of
/// what makes a run, and known before it begins.
fn open_models(models: &dyn Models, loaded: &Loaded) -> Result<Value, Error> {
    let mut checksums = serde_json::Map::new();
    for model in loaded.system.models() {
        let checksum = json!(models.open(&model)?.checksum());
        checksums.insert(model.name, checksum);
    }
    Ok(Value::Object(checksums))
}

fn nothing_retrieved(job: &Job, requests: u64) -> Problem {
    let at = Location::file(&job.loaded.file);
    let expected = "a system that ranks something for at least one request";
    let found = format!("nothing for any of {requests} requests of {}", job.input.location());
    Problem::new(at, ProblemKind::Empty, expected, found)
        .hint("see what each stage leaves: `clariq explain --system …` follows one document")
}
