//! What a system answers to the requests of a split, and the files that are written of it.

use crate::error::Error;
use crate::observer::Task;
use crate::record;
use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::clariq::{QuestionBank, Split, SplitData, Topic, put_need_lines};
use clariq_core::Ranking;
use clariq_core::{ModelName, Need, Request};
use clariq_files::{Run, RunLine, Staged, Target, put_run_lines, strictly_decreasing, write_run};
use clariq_need::{Classifier, HELD_OUT_FOLDS, NeedConfig, Training};
use clariq_rank::{Batch, Context, System};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// `runs/<system>.<split>.run`.
pub fn usual_path(folder: &Path, loaded: &Loaded, split: Split) -> PathBuf {
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

/// The needs that a system predicts for a split, and what made them.
pub struct PredictedNeeds {
    /// One for each topic, in the order of the split.
    pub needs: Vec<Need>,
    made_by: Value,
}

/// Predicts the needs of a split, if the system has a model of them. Where stages look at them, a topic of train gets the
/// prediction of a model that did not see its label: rankings of train would know more than those of dev else.
pub fn predict_needs(
    session: &Session,
    context: &Context,
    system: &System,
    data: &SplitData,
) -> Result<Option<PredictedNeeds>, Error> {
    let Some(training) = need_training(session, context, system)? else { return Ok(None) };
    let hold_out = system.pipeline.sees_need() && data.split == Split::Train;
    let held_out = if hold_out { training.held_out(session.options.seed)? } else { Vec::new() };
    let model = training.fit()?;
    let texts: Vec<&str> = data.topics.iter().map(|topic| topic.request.as_str()).collect();
    let mut predictions = model.predict(&texts)?;
    let labelled =
        data.topics.iter().zip(&mut predictions).filter(|(topic, _)| topic.need.is_some());
    labelled.zip(held_out).for_each(|((_, prediction), held_out)| *prediction = held_out);
    let mut made_by = need_record(&model);
    if hold_out {
        made_by["folds"] = HELD_OUT_FOLDS.into();
    }
    Ok(Some(PredictedNeeds {
        needs: predictions.into_iter().map(|prediction| prediction.need).collect(),
        made_by,
    }))
}

fn need_training(
    session: &Session,
    context: &Context,
    system: &System,
) -> Result<Option<Training>, Error> {
    let Some(section) = &system.need else { return Ok(None) };
    let config = NeedConfig::read(section)?.to_answer(session.split.map(Split::name));
    let labels = session.collection.training_labels(config.train_on())?;
    Ok(Some(Training::new(config, &session.collection.bank, context.models, &labels)?))
}

/// The need model that a system declares, trained.
pub fn need_model(
    session: &Session,
    context: &Context,
    system: &System,
) -> Result<Option<Classifier>, Error> {
    let training = need_training(session, context, system)?;
    Ok(training.map(Training::fit).transpose()?)
}

/// What made a need model, as it is written beside a run.
pub fn need_record(model: &Classifier) -> Value {
    let config = &model.made_of.config;
    json!({
        "model": config.name(),
        "train_on": config.train_on(),
        "parameters": model.model.parameters(),
    })
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

/// The topics of a split as systems see them, with their predicted needs.
pub fn requests(topics: &[Topic], needs: Option<&[Need]>) -> Vec<Request> {
    let need = |index: usize| needs.and_then(|needs| needs.get(index)).copied();
    let topics = topics.iter().enumerate();
    topics.map(|(index, topic)| Request { need: need(index), ..topic.into() }).collect()
}

/// Runs the pipeline and the need model of a system.
pub fn answer(
    session: &Session,
    context: &Context,
    loaded: &Loaded,
    data: &SplitData,
) -> Result<Answers, Error> {
    let system = &loaded.system;
    let predict = || predict_needs(session, context, system, data);
    system.models().iter().try_for_each(|model| context.models.prepare(model))?;
    let title = format!("{} {}", system.name, data.split);
    let task = session.observer.begin(&title, Some(data.topics.len() as u64));
    let stages = Stages::new(system, task.as_ref(), data.topics.len());
    let rank = |needs: Option<&[Need]>| {
        let requests = requests(&data.topics, needs);
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
    task.finish(&format!("{} topics", data.topics.len()));
    let (needs, need_model) =
        predicted.map_or((None, Value::Null), |all| (Some(all.needs), all.made_by));
    let models = model_record(context, system);
    Ok(Answers { rankings, needs, need_model, models })
}

/// Rankings as the lines that are written of them, ready to be scored.
pub fn as_run(bank: &QuestionBank, topics: &[Topic], rankings: &[Ranking]) -> Run {
    let mut run = Run::default();
    for (topic, ranking) in topics.iter().zip(rankings) {
        let scores: Vec<f64> = ranking.iter().map(|hit| hit.score).collect();
        run.lines.extend(ranking.iter().zip(strictly_decreasing(&scores)).map(|(hit, score)| {
            RunLine { topic: topic.id.clone(), question: bank.id(hit.doc).clone(), score, line: 0 }
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
        data: &SplitData,
        path: &Path,
        tag: &str,
    ) -> Result<(), Error> {
        let bank = &session.collection.bank;
        let rankings = data.topics.iter().zip(&self.rankings).map(|(topic, ranking)| {
            (&topic.id, ranking.iter().map(|hit| (bank.id(hit.doc), hit.score)))
        });
        let target = Target::new(path);
        if target.is_stream() {
            return Ok(write_run(&target, rankings, tag)?);
        }
        let run = Staged::new(path, |out| put_run_lines(out, rankings, tag))?;
        let mut files: Vec<record::Output> = vec![("run", path.to_owned(), run)];
        if let Some(needs) = &self.needs {
            let path = record::need_path(path);
            let lines = data.topics.iter().map(|topic| &topic.id).zip(needs.iter().copied());
            let need = Staged::new(&path, |out| put_need_lines(out, lines))?;
            files.push(("need", path, need));
        }
        let record = record::stage(path, self.made_by(session, loaded, data, tag)?, &files)?;
        files.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
        Ok(())
    }

    fn made_by(
        &self,
        session: &Session,
        loaded: &Loaded,
        data: &SplitData,
        tag: &str,
    ) -> Result<Value, Error> {
        let system = &loaded.system;
        let file = data.name.rsplit(['/', '\\']).next().unwrap_or_default();
        let bytes = session.collection.data.require(file.trim_end_matches(".gz"))?.read()?.bytes;
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
            "split": data.split,
            "topics": { "file": file, "sha256": clariq_core::sha256_hex(&bytes), "count": data.topics.len() },
            "bank": { "sha256": session.collection.bank.checksum(), "questions": session.collection.bank.len() },
        }))
    }
}
