//! Trained models in the cache, by everything that they depend on. Missing models are trained.

use crate::cache::{self, CacheState};
use crate::installed;
use crate::session::Session;
use clariq_core::{
    Checksum, Error, IoAction, Job, JudgedQuestions, ReadingOverrides, Recipe, Result, Training,
    TrainingEvent, TrainingSummary, bail, count_of, read_regular, training_key,
};
use clariq_files::{Lock, MOST_OF_A_TABLE, StagedFolder, manifest, remove_folder, with_ending};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The use of an existing model or checkpoint of the same training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrainMode {
    /// Use a finished model; begin an interrupted training anew.
    Reuse,
    /// Use a finished model; continue an interrupted training from its last checkpoint.
    Resume,
    /// Train again.
    Force,
}

/// A recipe's model: the training key, which is a checksum of everything that makes the model, and
/// the folder in the cache, whose name includes it.
struct TrainedModel<'a> {
    recipe: &'a Recipe,
    base: PathBuf,
    key: Checksum,
    folder: PathBuf,
}

impl<'a> TrainedModel<'a> {
    fn new(session: &Session, recipe: &'a Recipe, examples: &JudgedQuestions) -> Result<Self> {
        let models = session.models_folder();
        let base = installed::locate(&models, &recipe.base, recipe.objective.kind())?;
        let engine = session.engine_for(&recipe.name)?;
        let computes_with = session.model_options(ReadingOverrides::default()).computes_with();
        let key = training_key(recipe, &engine.checksum(&base)?, examples, computes_with);
        let folder = models.join(format!("{}-{}", recipe.name, key.short()));
        fs::create_dir_all(&models).map_err(Error::io(IoAction::Write, &models))?;
        Ok(Self { recipe, base, key, folder })
    }

    /// True if the model is in the cache, and every file is as it was written.
    fn is_cached(&self) -> bool {
        cache::check(&self.folder) == CacheState::Sound
    }

    /// True if a folder holds this model, and every file is as it was written.
    fn is_in(&self, folder: &Path) -> bool {
        record_of(folder)["key"] == self.key.as_str() && cache::check(folder) == CacheState::Sound
    }
}

/// The record of a training in the folder of its model; null if there is none.
fn record_of(folder: &Path) -> Value {
    let record = read_regular(&folder.join("training.json"), MOST_OF_A_TABLE);
    serde_json::from_slice(&record.unwrap_or_default()).unwrap_or_default()
}

/// The topics that the training of the model in a folder held out.
pub(super) fn held_out_topics(folder: &Path) -> Vec<String> {
    serde_json::from_value(record_of(folder)["held_out_topics"].clone()).unwrap_or_default()
}

/// Returns the folder of a recipe's model, and the figures of a training that was needed. The model
/// is found in the cache or in `output`, or trained into the cache and copied to `output`.
pub(super) fn obtain(
    session: &Session,
    recipe: &Recipe,
    examples: &JudgedQuestions,
    mode: TrainMode,
    output: Option<&Path>,
) -> Result<(PathBuf, Option<TrainingSummary>)> {
    let model = TrainedModel::new(session, recipe, examples)?;
    let Some(output) = output else { return find_or_train(session, &model, examples, mode) };
    let mut trained = None;
    if !output.exists() {
        let (folder, summary) = find_or_train(session, &model, examples, mode)?;
        copy(&folder, output)?;
        trained = summary;
    } else if mode == TrainMode::Force || !model.is_in(output) {
        let found = format!("{} exists already", output.display());
        let hint = "name another folder, or remove that one";
        bail!("--output", "a folder that does not exist, or this recipe's model", found, hint);
    }
    Ok((output.to_owned(), trained))
}

/// Trains a model into the cache, unless it is found. If another process trains it, waits for that.
fn find_or_train(
    session: &Session,
    model: &TrainedModel,
    examples: &JudgedQuestions,
    mode: TrainMode,
) -> Result<(PathBuf, Option<TrainingSummary>)> {
    let TrainedModel { recipe, folder, .. } = model;
    // An engine that is missing is told before anything else.
    session.engine_for(&recipe.name)?;
    if mode != TrainMode::Force && model.is_cached() {
        return Ok((folder.clone(), None));
    }
    let name = &recipe.name;
    let _lock = Lock::acquire(&with_ending(folder, ".lock"), || {
        let text = format!("note: waiting for another process, which trains `{name}`");
        session.observer.note(&text);
    })?;
    if mode != TrainMode::Force {
        if model.is_cached() {
            return Ok((folder.clone(), None));
        }
        if let CacheState::Damaged { found } = cache::check(folder) {
            session.observer.note(&format!(
                "note: the model in {} is damaged and is trained again: {found}",
                folder.display()
            ));
        }
    }
    let trained = train(session, model, examples, mode == TrainMode::Resume)?;
    Ok((folder.clone(), Some(trained)))
}

/// Trains a model into its folder, with progress.
fn train(
    session: &Session,
    model: &TrainedModel,
    examples: &JudgedQuestions,
    resume: bool,
) -> Result<TrainingSummary> {
    let TrainedModel { recipe, base, folder, .. } = model;
    let engine = session.engine_for(&recipe.name)?;
    session.observer.note(&format!(
        "training `{}`; it is kept in {}",
        recipe.name,
        folder.display()
    ));
    let splits = recipe.train_on.names().join(" and ");
    let collection = session.collection.folder_name();
    let documents = session.documents.checksum();
    let data = format!("{splits} of {collection} (documents {})", documents.short());
    let options = &session.model_options(ReadingOverrides::cut_at(recipe.max_tokens));
    let training = Training { recipe, base, examples, data, options, resume };
    let mut task: Option<Box<dyn Job>> = None;
    let mut report = |event: &TrainingEvent| match *event {
        TrainingEvent::Resumed(step) => {
            session.observer.note(&format!("continuing after step {step}"));
        }
        TrainingEvent::StoppedEarly(step) => {
            session.observer.note(&format!("stopped early, after step {step}"));
        }
        TrainingEvent::Step { step, steps, loss } => {
            let task = task.get_or_insert_with(|| {
                let task = session.observer.begin(&recipe.name, Some(steps as u64));
                task.advance(step as u64 - 1);
                task
            });
            task.describe(&format!("loss {loss:.4}"));
            task.advance(1);
        }
    };
    // The folder takes its name when it is complete. Checkpoints are named after the model, so that
    // another process can continue.
    let made = with_ending(folder, ".made");
    remove_folder(&made)?;
    let trained = engine.train(&training, &made, &mut report)?;
    let staged = StagedFolder::create(folder)?;
    fs::rename(&made, staged.path()).map_err(Error::io(IoAction::Write, folder))?;
    cache::commit(staged)?;
    if let Some(task) = task {
        let TrainingSummary { steps, first_loss, last_loss, .. } = trained;
        task.finish(&format!(
            "{}, loss {first_loss:.4} to {last_loss:.4}",
            count_of(steps, "step")
        ));
    }
    Ok(trained)
}

/// Copies a model to a folder that does not exist. The folder appears when it is complete.
fn copy(model: &Path, output: &Path) -> Result<()> {
    let staged = StagedFolder::create(output)?;
    for name in manifest::names(model, cache::SUMS)? {
        let file = staged.path().join(&name);
        let folder = file.parent().unwrap_or(staged.path());
        fs::create_dir_all(folder).map_err(Error::io(IoAction::Write, folder))?;
        fs::copy(model.join(&name), &file).map_err(Error::io(IoAction::Write, &file))?;
    }
    cache::commit(staged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionOptions;
    use clariq_core::{Engine, Model, ModelKind, ModelOptions, Observer, Silent};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Instant;

    /// Counts trainings. A training lasts until two others wait for it.
    struct Slow<'a>(AtomicUsize, &'a Waits);

    impl Engine for Slow<'_> {
        fn describe(&self) -> String {
            String::new()
        }

        fn checksum(&self, _: &Path) -> Result<Checksum> {
            Ok(Checksum::of(b""))
        }

        fn describe_model(&self, _: &Path) -> Result<String> {
            Ok(String::new())
        }

        fn open(&self, at: &Path, _: ModelKind, _: &ModelOptions) -> Result<Model> {
            Err(clariq_core::problem!(at, "nothing", "a model").into())
        }

        fn train(
            &self,
            _: &Training,
            folder: &Path,
            _: &mut dyn FnMut(&TrainingEvent),
        ) -> Result<TrainingSummary> {
            self.0.fetch_add(1, Ordering::SeqCst);
            fs::create_dir_all(folder).map_err(Error::io(IoAction::Write, folder))?;
            let (path, begin) = (folder.join("tokenizer.json"), Instant::now());
            fs::write(&path, "{}").map_err(Error::io(IoAction::Write, &path))?;
            while self.1.0.load(Ordering::SeqCst) < 2 && begin.elapsed().as_secs() < 9 {
                thread::yield_now();
            }
            Ok(TrainingSummary {
                steps: 1,
                first_loss: 1.0,
                last_loss: 1.0,
                recall: None,
                first_stage: None,
            })
        }
    }

    /// Counts notes about waiting for another process.
    struct Waits(AtomicUsize);

    impl Observer for Waits {
        fn note(&self, text: &str) {
            self.0.fetch_add(usize::from(text.starts_with("note: waiting")), Ordering::SeqCst);
        }

        fn detail(&self, _: &str) {}

        fn begin(&self, name: &str, steps: Option<u64>) -> Box<dyn Job> {
            Silent.begin(name, steps)
        }
    }

    #[test]
    fn parallel_first_runs_train_once_and_wait_with_a_note() {
        let folder = tempfile::tempdir().unwrap();
        let collection = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE).unwrap();
        let options =
            SessionOptions { cache: folder.path().join("cache"), ..SessionOptions::default() };
        let waits = Waits(AtomicUsize::new(0));
        let engine = Slow(AtomicUsize::new(0), &waits);
        let session = Session::new(&*collection, options).unwrap();
        let session = Session { engine: Some(&engine), observer: &waits, ..session };
        let mut recipe = clariq_systems::recipes::find("encoder").unwrap().unwrap();
        recipe.base = folder.path().display().to_string();
        fs::write(folder.path().join("config.json"), "{}").unwrap();
        thread::scope(|scope| {
            let obtain_model = || {
                let examples = JudgedQuestions::default();
                obtain(&session, &recipe, &examples, TrainMode::Resume, None).unwrap()
            };
            let threads = [(); 3].map(|()| scope.spawn(obtain_model));
            let models = threads.map(|thread| thread.join().unwrap());
            assert_eq!(models.iter().filter(|(_, trained)| trained.is_some()).count(), 1);
            assert_eq!(cache::check(&models[0].0), CacheState::Sound);
        });
        let counts = [&engine.0, &waits.0].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(counts, [1, 2]);
        assert_eq!(fs::read_dir(session.models_folder()).unwrap().count(), 1);
    }
}
