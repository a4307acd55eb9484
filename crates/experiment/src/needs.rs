//! The clarification needs that a system predicts, and what made the predictions.

use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::clariq::{ClariQ, put_need_lines};
use clariq_core::{Error, Need, Request, RequestId};
use clariq_need::{Classifier, HELD_OUT_FOLDS, Training};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

/// For which requests a system predicts the need before it ranks.
#[derive(Clone, Copy)]
pub enum Predict<'r> {
    /// For none: requests have their needs already.
    Never,
    /// For all, if a stage looks at needs.
    ForStages,
    /// For all: needs are part of the result.
    Always,
    /// For those of a split, if a stage looks at needs.
    Split(&'r str, &'r [Request]),
}

/// Where the needs that a system looks at come from.
pub(crate) enum Needs {
    /// There are none.
    None,
    /// From a model, as requests come.
    Model(Box<Classifier>),
    /// From a prediction for a whole split.
    Split(PredictedNeeds),
}

/// The needs that a system predicts for a split, and what made them.
pub(crate) struct PredictedNeeds {
    needs: HashMap<RequestId, Need>,
    pub(crate) made_by: Value,
}

impl Needs {
    /// Trains the need model of a system, where its predictions are wanted.
    pub(crate) fn open(
        session: &Session,
        loaded: &Loaded,
        predict: Predict,
    ) -> Result<Self, Error> {
        let is_wanted = match predict {
            Predict::Never => false,
            Predict::Always => true,
            Predict::ForStages | Predict::Split(..) => loaded.plan.sees_need(),
        };
        if !is_wanted {
            return Ok(Self::None);
        }
        if let Predict::Split(split, requests) = predict {
            let predicted = predict_split(session, loaded, split, requests)?;
            return Ok(predicted.map_or(Self::None, Self::Split));
        }
        let model = open_training(session, loaded)?.map(Training::fit).transpose()?;
        Ok(model.map_or(Self::None, |model| Self::Model(Box::new(model))))
    }

    /// Gives requests that have no need the predicted one.
    pub(crate) fn predict(&self, requests: &mut [Request]) -> Result<(), Error> {
        let open = requests.iter_mut().filter(|request| request.need.is_none());
        match self {
            Self::None => {}
            Self::Split(predicted) => {
                open.for_each(|request| request.need = predicted.needs.get(&request.id).copied());
            }
            Self::Model(model) => {
                let mut open: Vec<&mut Request> = open.collect();
                let openings: Vec<&str> = open.iter().map(|request| request.opening()).collect();
                let predictions = model.predict(&openings)?;
                for (request, prediction) in open.iter_mut().zip(predictions) {
                    request.need = Some(prediction.need);
                }
            }
        }
        Ok(())
    }

    /// What made them, for the record of a run.
    pub(crate) fn record(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Model(model) => need_record(model),
            Self::Split(predicted) => predicted.made_by.clone(),
        }
    }
}

impl PredictedNeeds {
    /// Writes the need file of the requests.
    pub(crate) fn put(&self, out: &mut dyn Write, requests: &[Request]) -> io::Result<()> {
        let need = |request: &'_ Request| Some((request.id.clone(), *self.needs.get(&request.id)?));
        let lines: Vec<_> = requests.iter().filter_map(need).collect();
        put_need_lines(out, lines.iter().map(|(id, need)| (id, *need)))
    }
}

/// Predicts the needs of the requests of a split, if the system has a model of them. Where stages
/// look at them, a request of train gets the prediction of a model that did not see its label:
/// otherwise rankings of train would know more than those of dev.
pub(crate) fn predict_split(
    session: &Session,
    loaded: &Loaded,
    split: &str,
    requests: &[Request],
) -> Result<Option<PredictedNeeds>, Error> {
    let Some(training) = open_training(session, loaded)? else { return Ok(None) };
    let hold_out = loaded.plan.sees_need() && split == "train";
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
    let ids = requests.iter().map(|request| request.id.clone());
    let needs = ids.zip(predictions.into_iter().map(|prediction| prediction.need)).collect();
    Ok(Some(PredictedNeeds { needs, made_by }))
}

fn need_record(model: &Classifier) -> Value {
    let config = &model.made_of.config;
    json!({
        "model": config.name(),
        "train_on": config.train_on(),
        "parameters": model.model.parameters(),
    })
}

/// The labels and features that a system's need model is trained on. On a collection without need
/// labels there is none: nothing is predicted, and stages pass over the need.
fn open_training(session: &Session, loaded: &Loaded) -> Result<Option<Training>, Error> {
    let Some(config) = &loaded.need else { return Ok(None) };
    let Some(clariq) = session.collection.downcast::<ClariQ>() else {
        let passed = if loaded.plan.sees_need() { ", and its stages pass over it" } else { "" };
        session.observer.note(&format!(
            "note: {} has no need labels: `{}` predicts no need{passed}",
            session.collection.kind(),
            loaded.name
        ));
        return Ok(None);
    };
    let config = config.clone().to_answer(session.split);
    let labels = clariq.training_labels(config.train_on())?;
    Ok(Some(Training::new(config, &clariq.bank, session, &labels)?))
}
