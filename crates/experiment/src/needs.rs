//! The clarification needs that a system predicts, and what made the predictions.

use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::clariq::{ClariQ, put_need_lines};
use clariq_core::Error;
use clariq_core::{Models, Need, Request};
use clariq_need::{Classifier, HELD_OUT_FOLDS, Training};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The needs that a system predicts for a split, and what made them.
pub struct PredictedNeeds {
    /// One for each request, in the order of the split.
    pub needs: Vec<Need>,
    pub(crate) made_by: Value,
}

impl PredictedNeeds {
    /// Writes the need file of the requests.
    pub(crate) fn put(&self, out: &mut dyn Write, requests: &[Request]) -> io::Result<()> {
        let ids = requests.iter().map(|request| &request.id);
        put_need_lines(out, ids.zip(self.needs.iter().copied()))
    }
}

/// Predicts the needs of the requests of a split, if the system has a model of them. Where stages
/// look at them, a request of train gets the prediction of a model that did not see its label:
/// otherwise rankings of train would know more than those of dev.
pub fn predict_needs(
    session: &Session,
    models: &dyn Models,
    loaded: &Loaded,
    split: &str,
    requests: &[Request],
) -> Result<Option<PredictedNeeds>, Error> {
    let Some(training) = open_training(session, models, loaded)? else { return Ok(None) };
    let hold_out = loaded.system.pipeline.sees_need() && split == "train";
    let held_out = if hold_out { training.held_out(session.options.seed)? } else { Vec::new() };
    let model = training.fit()?;
    let openings: Vec<&str> = requests.iter().map(Request::opening).collect();
    let mut predictions = model.predict(&openings)?;
    // Every topic of train has a label, so that these are in the order of the requests.
    predictions.iter_mut().zip(held_out).for_each(|(own, held_out)| *own = held_out);
    let mut made_by = need_record(&model);
    if hold_out {
        made_by["folds"] = HELD_OUT_FOLDS.into();
    }
    let needs = predictions.into_iter().map(|prediction| prediction.need).collect();
    Ok(Some(PredictedNeeds { needs, made_by }))
}

/// The need model that a system declares, trained.
pub fn need_model(
    session: &Session,
    models: &dyn Models,
    loaded: &Loaded,
) -> Result<Option<Classifier>, Error> {
    let training = open_training(session, models, loaded)?;
    Ok(training.map(Training::fit).transpose()?)
}

/// What made a need model, as it is written beside a run.
pub(crate) fn need_record(model: &Classifier) -> Value {
    let config = &model.made_of.config;
    json!({
        "model": config.name(),
        "train_on": config.train_on(),
        "parameters": model.model.parameters(),
    })
}

/// The labels and features that a system's need model is trained on. On a collection without need
/// labels there is none: nothing is predicted, and stages pass over the need.
fn open_training(
    session: &Session,
    models: &dyn Models,
    loaded: &Loaded,
) -> Result<Option<Training>, Error> {
    let Some(config) = &loaded.need else { return Ok(None) };
    let Some(clariq) = session.collection.downcast::<ClariQ>() else {
        let passed =
            if loaded.system.pipeline.sees_need() { ", and its stages pass over it" } else { "" };
        session.observer.note(&format!(
            "note: {} has no need labels: `{}` predicts no need{passed}",
            session.collection.kind(),
            loaded.system.name
        ));
        return Ok(None);
    };
    let config = config.clone().to_answer(session.split);
    let labels = clariq.training_labels(config.train_on())?;
    Ok(Some(Training::new(config, &clariq.bank, models, &labels)?))
}
