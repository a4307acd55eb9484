//! What a system answers to the requests of a split, and the files that are written of it.

use crate::error::Error;
use crate::needs::predict_needs;
use crate::observer::Task;
use crate::record;
use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::clariq::put_need_lines;
use clariq_core::{Documents, ModelName, Need, Ranking, Request};
use clariq_files::{Run, RunLine, Staged, Target, put_run_lines, strictly_decreasing, write_run};
use clariq_rank::{Batch, Context, System};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// `runs/<system>.<split>.run`.
pub fn usual_path(folder: &Path, loaded: &Loaded, split: &str) -> PathBuf {
    folder.join(format!("{}.{split}.run", loaded.system.name))
}

/// What a system gives for a split.
pub struct Answers {
    /// A ranking for each topic, in the order of the split.
    pub rankings: Vec<Ranking>,
    /// The predicted need of each topic, if the system has a model of it.
    pub needs: Option<Vec<Need>>,
    need_model: Value,
    /// Checksums of the learned models that were asked, by name.
    models: Value,
}

/// How far the stage is that is at work: one may take minutes and the next no time, so that each is counted by itself.
struct Stages<'a> {
    task: &'a dyn Task,
    names: Vec<&'static str>,
    topics: u64,
    done: AtomicU64,
}

impl<'a> Stages<'a> {
    fn new(system: &System, task: &'a dyn Task, topics: usize) -> Self {
        let names: Vec<&str> = system.pipeline.about().map(|stage| stage.name).collect();
        task.describe(names.first().unwrap_or(&""));
        Self { task, names, topics: topics.max(1) as u64, done: AtomicU64::new(0) }
    }

    fn advance(&self, topics: u64) {
        let before = self.done.fetch_add(topics, Ordering::Relaxed);
        self.task.advance(topics);
        let stage = |done: u64| (done / self.topics) as usize;
        let now = stage(before + topics);
        if let Some(name) = self.names.get(now).filter(|_| now > stage(before)) {
            self.task.begin_part(name);
        }
    }
}

/// The checksums of the learned models that were asked, by name.
pub fn model_record(context: &Context, system: &System) -> Value {
    let checksum = |model: ModelName| {
        let checksum = context.models.checksum(&model.name);
        (model.name, json!(checksum))
    };
    system.models().into_iter().map(checksum).collect()
}

/// The requests of a split for the task of a session.
pub fn requests_of(session: &Session, split: &str) -> Result<Vec<Request>, Error> {
    let requests = session.collection.requests(split, session.task)?;
    Ok(requests.collect::<Result<_, _>>()?)
}

/// The same requests with their predicted needs.
pub(crate) fn with_needs(requests: &[Request], needs: Option<&[Need]>) -> Vec<Request> {
    let need = |index: usize| needs.and_then(|needs| needs.get(index)).copied();
    let requests = requests.iter().enumerate();
    requests.map(|(index, request)| Request { need: need(index), ..request.clone() }).collect()
}

/// Runs the pipeline and the need model of a system.
pub fn answer(
    session: &Session,
    context: &Context,
    loaded: &Loaded,
    split: &str,
    requests: &[Request],
) -> Result<Answers, Error> {
    let system = &loaded.system;
    let predict = || predict_needs(session, context, system, split, requests);
    system.models().iter().try_for_each(|model| context.models.prepare(model))?;
    let title = format!("{} {split}", system.name);
    let task = session.observer.begin(&title, Some(requests.len() as u64));
    let stages = Stages::new(system, task.as_ref(), requests.len());
    let rank = |needs: Option<&[Need]>| {
        let requests = with_needs(requests, needs);
        let progress = |finished| stages.advance(finished);
        let batch = Batch { progress: &progress, ..Batch::new(context, &requests) };
        system.pipeline.run(&batch, batch.unranked())
    };
    let (predicted, rankings) = if system.pipeline.sees_need() {
        let predicted = predict()?;
        let rankings = rank(predicted.as_ref().map(|predicted| &predicted.needs[..]))?;
        (predicted, rankings)
    } else {
        // At the same time: neither needs the other, and reading the training labels takes as long as ranking.
        // Threads of their own: one of the pool could be lent the other task while it holds a model's lock.
        let (predicted, rankings) = thread::scope(|scope| {
            let predicting = scope.spawn(predict);
            let rankings = rank(None);
            (predicting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), rankings)
        });
        (predicted?, rankings?)
    };
    task.finish(&format!("{} topics", requests.len()));
    let (needs, need_model) =
        predicted.map_or((None, Value::Null), |all| (Some(all.needs), all.made_by));
    let models = model_record(context, system);
    Ok(Answers { rankings, needs, need_model, models })
}

/// Rankings as the lines that are written of them, ready to be scored.
pub fn as_run(documents: &dyn Documents, requests: &[Request], rankings: &[Ranking]) -> Run {
    let mut run = Run::default();
    for (request, ranking) in requests.iter().zip(rankings) {
        let scores: Vec<f64> = ranking.iter().map(|hit| hit.score).collect();
        run.lines.extend(ranking.iter().zip(strictly_decreasing(&scores)).map(|(hit, score)| {
            let (topic, question) =
                (request.id.as_str().into(), documents.id(hit.doc).as_ref().into());
            RunLine { topic, question, score, line: 0 }
        }));
    }
    run
}

impl Answers {
    /// Writes the run, the need file if there is one, and last the record of both. None of them takes its place before
    /// all are complete. A stream gets the run alone.
    pub fn write(
        &self,
        session: &Session,
        loaded: &Loaded,
        split: &str,
        requests: &[Request],
        path: &Path,
        tag: &str,
    ) -> Result<(), Error> {
        let documents = session.documents;
        let rankings = requests.iter().zip(&self.rankings).map(|(request, ranking)| {
            (&request.id, ranking.iter().map(|hit| (documents.id(hit.doc), hit.score)))
        });
        let target = Target::new(path);
        if target.is_stream() {
            return Ok(write_run(&target, rankings, tag)?);
        }
        let run = Staged::new(path, |out| put_run_lines(out, rankings, tag))?;
        let mut files: Vec<record::Output> = vec![("run", path.to_owned(), run)];
        if let Some(needs) = &self.needs {
            let path = record::need_path(path);
            let lines = requests.iter().map(|request| &request.id).zip(needs.iter().copied());
            let need = Staged::new(&path, |out| put_need_lines(out, lines))?;
            files.push(("need", path, need));
        }
        let record = record::stage(
            path,
            self.made_by(session, loaded, split, requests.len(), tag)?,
            &files,
        )?;
        files.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
        Ok(())
    }

    fn made_by(
        &self,
        session: &Session,
        loaded: &Loaded,
        split: &str,
        requests: usize,
        tag: &str,
    ) -> Result<Value, Error> {
        let system = &loaded.system;
        let source = session.collection.source(split)?;
        let name = source.name();
        let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let sha256 = clariq_core::sha256_hex(&source.read()?.bytes);
        let documents = session.documents;
        Ok(json!({
            "clariq": env!("CARGO_PKG_VERSION"),
            "system": system.name,
            "config_sha256": loaded.checksum,
            "uses": loaded.uses(session.split),
            "stages": system.pipeline.parameters(),
            "models": self.models,
            "need": self.need_model,
            "seed": session.options.seed,
            "run_tag": tag,
            "split": split,
            "topics": { "file": file, "sha256": sha256, "count": requests },
            "bank": { "sha256": documents.checksum(), "questions": documents.len() },
        }))
    }
}
