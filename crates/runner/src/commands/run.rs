//! `clariq run`: what does a system answer to every request of a split?

use crate::cli::RunArgs;
use crate::commands::{Outcome, conversations};
use crate::configs::{self, Loaded};
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::progress::Task;
use crate::record;
use crate::settings::Settings;
use clariq_collections::clariq::{
    Collection, QuestionBank, Split, SplitData, Topic, put_need_lines,
};
use clariq_core::{Location, Need, Problem, ProblemKind};
use clariq_files::{Run, RunLine, Staged, Target, put_run_lines, strictly_decreasing, write_run};
use clariq_need::{Classifier, HELD_OUT_FOLDS, NeedConfig, Training};
use clariq_rank::{Context, Ranking, System};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

pub(crate) fn run(settings: &Settings, arguments: &RunArgs) -> Result<Outcome, Failure> {
    if arguments.configs.len() > 1 && arguments.output.is_some() {
        let found = format!("{} systems", arguments.configs.len());
        let problem =
            Problem::new(Location::file("--output"), ProblemKind::Argument, "one system", found);
        return Err(problem
            .hint("without --output every system gets a file of its own in runs/")
            .into());
    }
    if let Some(file) = &arguments.conversations {
        return conversations::run(settings, arguments, file);
    }
    conversations::only_with_conversations(arguments)?;
    let overrides = configs::overrides(&arguments.parameters)?;
    let systems: Vec<Loaded> = arguments
        .configs
        .iter()
        .map(|name| configs::load(name, &overrides))
        .collect::<Result<_, _>>()?;
    names_differ(&systems)?;
    let collection = settings.collection()?;
    let data = collection.split(arguments.split)?;
    let models = crate::models::of(settings, &collection);
    let context = settings
        .context(&collection.bank, &arguments.place)
        .with_models(models.as_ref())
        .within(&collection, arguments.split);
    let mut sheet = Sheet::new(&["system", "split", "topics", "lines", "uses", "run file"]);
    for loaded in &systems {
        let answers = answer(settings, &collection, &context, loaded, &data)?;
        let path = arguments
            .output
            .clone()
            .unwrap_or_else(|| usual_path(Path::new("runs"), loaded, arguments.split));
        let tag = arguments.run_tag.as_deref().unwrap_or(&loaded.system.name);
        answers.write(settings, &collection, loaded, &data, &path, tag)?;
        sheet.row(answers.summary(loaded, &data, &path));
    }
    // The run itself may be on standard output then.
    if !arguments.output.as_ref().is_some_and(|path| Target::new(path).is_stream()) {
        sheet.print(settings.format)?;
    }
    Ok(Outcome::Done)
}

/// Systems of one name would write over each other's files.
pub(crate) fn names_differ(systems: &[Loaded]) -> Result<(), Failure> {
    let name = |place: usize| &systems[place].system.name;
    match (0..systems.len()).find(|&place| (0..place).any(|before| name(before) == name(place))) {
        Some(place) => {
            let found = format!("`{}` twice", name(place));
            let problem = Problem::new(
                Location::file("CONFIG"),
                ProblemKind::Argument,
                "systems of different names",
                found,
            );
            Err(problem.hint("files are named after systems: give one another `name`, or run them one by one").into())
        }
        None => Ok(()),
    }
}

/// `runs/<system>.<split>.run`.
pub(crate) fn usual_path(folder: &Path, loaded: &Loaded, split: Split) -> PathBuf {
    folder.join(format!("{}.{split}.run", loaded.system.name))
}

/// What a system declares to look at beyond one request and the bank.
pub(crate) fn uses_cell(loaded: &Loaded) -> Cell {
    let uses: Vec<String> = loaded.system.uses.iter().map(ToString::to_string).collect();
    if uses.is_empty() { Cell::Nothing } else { Cell::text(uses.join(", ")) }
}

/// What a system gives for a split.
pub(crate) struct Answers {
    pub(crate) rankings: Vec<Ranking>,
    pub(crate) needs: Option<Vec<Need>>,
    need_model: Value,
    /// Checksums of the learned models that were asked, by name.
    models: Value,
}

/// The needs that a system predicts for a split, and what made them.
pub(crate) struct PredictedNeeds {
    pub(crate) needs: Vec<Need>,
    made_by: Value,
}

/// Predicts the needs of a split, if the system has a model of them. Where stages look at them, a topic of train gets the
/// prediction of a model that did not see its label: rankings of train would know more than those of dev else.
pub(crate) fn predict_needs(
    settings: &Settings,
    collection: &Collection,
    context: &Context,
    system: &System,
    data: &SplitData,
) -> Result<Option<PredictedNeeds>, Failure> {
    let Some(training) = need_training(collection, context, system)? else { return Ok(None) };
    let hold_out = system.pipeline.looks_at_need() && data.split == Split::Train;
    let held_out = if hold_out { training.held_out(settings.seed)? } else { Vec::new() };
    let model = training.fit()?;
    let mut predictions = model.predict(&data.topics)?;
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
    collection: &Collection,
    context: &Context,
    system: &System,
) -> Result<Option<Training>, Failure> {
    let Some(section) = &system.need else { return Ok(None) };
    Ok(Some(Training::new(
        NeedConfig::read(section)?,
        &collection.bank,
        context.models(),
        &collection.labelled(Split::Train)?,
    )?))
}

/// The need model that a system declares, trained.
pub(crate) fn need_model(
    collection: &Collection,
    context: &Context,
    system: &System,
) -> Result<Option<Classifier>, Failure> {
    let training = need_training(collection, context, system)?;
    Ok(training.map(Training::fit).transpose()?)
}

/// What made a need model, as it is written beside a run.
pub(crate) fn need_record(model: &Classifier) -> Value {
    json!({ "model": model.made_of.config.name(), "parameters": model.model.parameters() })
}

/// How far the stage is that is at work: one may take minutes and the next no time, so that each is counted by itself.
struct Stages<'a> {
    task: &'a Task,
    names: Vec<&'static str>,
    topics: u64,
    done: AtomicU64,
}

impl<'a> Stages<'a> {
    fn new(system: &System, task: &'a Task, topics: usize) -> Self {
        let names: Vec<&str> = system.pipeline.stages.iter().map(|stage| stage.name()).collect();
        task.say(names.first().unwrap_or(&""));
        Self { task, names, topics: topics.max(1) as u64, done: AtomicU64::new(0) }
    }

    fn advance(&self, topics: u64) {
        let before = self.done.fetch_add(topics, Ordering::Relaxed);
        self.task.advance(topics);
        let stage = |done: u64| (done / self.topics) as usize;
        let now = stage(before + topics);
        if let Some(name) = self.names.get(now).filter(|_| now > stage(before)) {
            self.task.next_part(name);
        }
    }
}

/// The checksums of the learned models that were asked, by name.
pub(crate) fn model_record(context: &Context, system: &System) -> Value {
    let checksum = |name: String| {
        let checksum = context.models().checksum(&name);
        (name, json!(checksum))
    };
    system.models().into_iter().map(checksum).collect()
}

/// Runs the pipeline and the need model of a system.
pub(crate) fn answer(
    settings: &Settings,
    collection: &Collection,
    context: &Context,
    loaded: &Loaded,
    data: &SplitData,
) -> Result<Answers, Failure> {
    let system = &loaded.system;
    let predict = || predict_needs(settings, collection, context, system, data);
    system.models().iter().try_for_each(|model| context.models().prepare(model))?;
    let task = Task::start(
        &format!("{} {}", system.name, data.split),
        data.topics.len() as u64,
        settings.progress,
    );
    let stages = Stages::new(system, &task, data.topics.len());
    let rank = |needs: Option<&[Need]>| {
        system
            .pipeline
            .run_with_needs(context, &data.topics, needs, &|topics| stages.advance(topics))
    };
    let (predicted, rankings) = if system.pipeline.looks_at_need() {
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
pub(crate) fn as_run(bank: &QuestionBank, topics: &[Topic], rankings: &[Ranking]) -> Run {
    let mut run = Run::default();
    for (topic, ranking) in topics.iter().zip(rankings) {
        let scores: Vec<f64> = ranking.iter().map(|hit| hit.score).collect();
        run.lines.extend(ranking.iter().zip(strictly_decreasing(&scores)).map(|(hit, score)| {
            RunLine {
                topic: topic.id.clone(),
                question: bank.id(hit.question).clone(),
                score,
                line: 0,
            }
        }));
    }
    run
}

impl Answers {
    /// Writes the run, the need file if there is one, and last the record of both. None of them takes its place before
    /// all are complete. A stream gets the run alone.
    pub(crate) fn write(
        &self,
        settings: &Settings,
        collection: &Collection,
        loaded: &Loaded,
        data: &SplitData,
        path: &Path,
        tag: &str,
    ) -> Result<(), Failure> {
        let bank = &collection.bank;
        let rankings = data.topics.iter().zip(&self.rankings).map(|(topic, ranking)| {
            (&topic.id, ranking.iter().map(|hit| (bank.id(hit.question), hit.score)))
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
        let record =
            record::stage(path, self.made_by(settings, collection, loaded, data, tag)?, &files)?;
        files.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
        Ok(())
    }

    fn made_by(
        &self,
        settings: &Settings,
        collection: &Collection,
        loaded: &Loaded,
        data: &SplitData,
        tag: &str,
    ) -> Result<Value, Failure> {
        let system = &loaded.system;
        let file = data.name.rsplit(['/', '\\']).next().unwrap_or_default();
        let bytes = collection.data.require(file.trim_end_matches(".gz"))?.read()?.bytes;
        Ok(json!({
            "clariq": env!("CARGO_PKG_VERSION"),
            "system": system.name,
            "config_sha256": loaded.checksum,
            "uses": system.uses,
            "stages": system.pipeline.parameters(),
            "models": self.models,
            "need": self.need_model,
            "seed": settings.seed,
            "run_tag": tag,
            "split": data.split,
            "topics": { "file": file, "sha256": clariq_core::sha256_hex(&bytes), "count": data.topics.len() },
            "bank": { "sha256": collection.bank.checksum(), "questions": collection.bank.len() },
        }))
    }

    fn summary(&self, loaded: &Loaded, data: &SplitData, path: &Path) -> Vec<Cell> {
        vec![
            Cell::text(&loaded.system.name),
            Cell::text(data.split.name()),
            Cell::count(data.topics.len()),
            Cell::count(self.rankings.iter().map(Vec::len).sum()),
            uses_cell(loaded),
            Cell::text(path.display().to_string()),
        ]
    }
}
