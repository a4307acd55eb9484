//! Trained models in the cache: found under what they are made of, or trained now.

use super::max_sequence;
use crate::cache::{self, State};
use crate::observer::Task;
use crate::recipes;
use crate::session::Session;
use clariq_core::{
    Examples, Model, ModelKind, ModelOptions, Precision, Recipe, Result, Trained, Training,
    TrainingEvent, training_key,
};
use std::path::{Path, PathBuf};

/// What happens where a training was done or begun before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// A finished model is used; an interrupted training begins anew.
    Reuse,
    /// A finished model is used; an interrupted training continues after its last checkpoint.
    Resume,
    /// The model is trained again.
    Force,
}

/// A recipe with all that its training needs.
pub(super) struct Prepared {
    recipe: Recipe,
    base: PathBuf,
    examples: Examples,
    data: String,
    folder: PathBuf,
}

/// Finds the base of a recipe, and names the folder of the model: `output`, or one in the cache
/// after all that makes it.
pub(super) fn prepare(
    session: &Session,
    recipe: Recipe,
    examples: Examples,
    output: Option<&Path>,
) -> Result<Prepared> {
    let models = session.models_folder();
    let base = recipes::installed(&models, &recipe.base)
        .ok_or_else(|| recipes::unknown(&models, &recipe.base))?;
    let engine = session.engine_for(&recipe.name)?;
    let computes_with = session.model_options(None).computes_with();
    let key = training_key(&recipe, &engine.checksum(&base)?, &examples, &computes_with);
    let usual = || models.join(format!("{}-{}", recipe.name, &key[..12]));
    let folder = output.map_or_else(usual, Path::to_owned);
    let location = session.collection.location();
    let data = match &examples {
        Examples::Judged(_) => {
            format!("Question bank {} of {location}.", session.documents.checksum().short())
        }
        Examples::Resolved(_) => format!("Resolved utterances in {location}."),
    };
    Ok(Prepared { recipe, base, examples, data, folder })
}

impl Prepared {
    /// The folder of the model, trained now if need be, and the figures of the training.
    pub(super) fn obtain(
        &self,
        session: &Session,
        again: Again,
    ) -> Result<(PathBuf, Option<Trained>)> {
        match cache::check(&self.folder) {
            State::Sound if again != Again::Force => return Ok((self.folder.clone(), None)),
            State::Damaged { found } if again != Again::Force => session.observer.note(&format!(
                "note: the model in {} is damaged and is trained again: {found}",
                self.folder.display()
            )),
            _ => {}
        }
        session.observer.note(&format!(
            "training `{}`; it is kept in {}",
            self.recipe.name,
            self.folder.display()
        ));
        let trained = self.train(session, again == Again::Resume)?;
        Ok((self.folder.clone(), Some(trained)))
    }

    /// The base as an encoder of texts as stages open it, but always in 32-bit floats, where the
    /// recipe learns from its vectors.
    fn open_teacher(&self, session: &Session) -> Result<Option<Model>> {
        if self.recipe.objective.kind() != ModelKind::ConversationEncoder {
            return Ok(None);
        }
        let options = session.model_options(max_sequence(&self.base));
        let options = ModelOptions { precision: Precision::F32, ..options };
        let engine = session.engine_for(&self.recipe.name)?;
        engine.open(&self.base, ModelKind::Encoder, &options).map(Some)
    }

    /// Trains, and reports every step to the observer.
    fn train(&self, session: &Session, resume: bool) -> Result<Trained> {
        let Self { recipe, base, examples, data, folder } = self;
        let options = &session.model_options(Some(recipe.max_tokens));
        let teacher = self.open_teacher(session)?;
        let teacher = match &teacher {
            Some(Model::Encoder(encoder)) => Some(encoder.as_ref()),
            _ => None,
        };
        let data = data.clone();
        let training = Training { recipe, base, examples, data, teacher, options, resume };
        let mut task: Option<Box<dyn Task>> = None;
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
        let engine = session.engine_for(&recipe.name)?;
        // Complete, with the list of its files, before it takes its name. Checkpoints are named
        // after the model alone, so that another process can continue.
        let mut made = folder.as_os_str().to_owned();
        made.push(".made");
        let made = PathBuf::from(made);
        cache::remove(&made)?;
        let trained = engine.train(&training, &made, &mut report)?;
        cache::store(&made, folder)?;
        if let Some(task) = task {
            let Trained { steps, first_loss, last_loss, .. } = trained;
            task.finish(&format!("{steps} steps, loss {first_loss:.4} to {last_loss:.4}"));
        }
        Ok(trained)
    }
}
