//! Predicted clarification needs, and the models that predict them.

mod few_shot;
mod models;

pub use models::{HeldOutNeeds, NeedModels};

use crate::session::Session;
use clariq_collections::documents::Bank;
use clariq_collections::{Collection, LabelledRequests, NeedLabel, Split, put_need_lines};
use clariq_core::{Need, Request, RequestId, Result, SplitRole, TrainOn, bail};
use clariq_files::Source;
use clariq_need::{Classifier, HELD_OUT_FOLDS, NeedConfig, NeedTraining};
use clariq_systems::{NeedTable, SystemConfig};
use clariq_tracks::TRACKS;
use few_shot::FewShotModel;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

/// The requests whose need a system predicts before it ranks.
#[derive(Clone, Copy)]
pub enum NeedScope {
    /// None: the requests have needs already, or do not need them.
    Never,
    /// All, if a stage uses needs.
    ForStages,
    /// All: needs are part of the result.
    Always,
}

/// A model that predicts needs.
pub(crate) enum NeedPredictor {
    Classifier(Box<Classifier>),
    FewShot(FewShotModel),
}

impl NeedPredictor {
    fn predict(&self, session: &Session, texts: &[String]) -> Result<Vec<NeedLabel>> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        match self {
            Self::Classifier(model) => {
                let predictions = model.predict(&texts);
                Ok(predictions.iter().map(|prediction| model.label(prediction).clone()).collect())
            }
            Self::FewShot(model) => {
                let needs = model.predict(session, &texts)?;
                Ok(needs.into_iter().map(|need| NeedLabel::Number(need.get().into())).collect())
            }
        }
    }

    /// The description for the record of a run.
    pub(crate) fn record(&self) -> Value {
        match self {
            Self::Classifier(model) => need_record(model),
            Self::FewShot(model) => model.record(),
        }
    }
}

/// Opens or trains the need model of a system, if its predictions are used.
pub(crate) fn open(
    session: &Session,
    config: &SystemConfig,
    predict: NeedScope,
) -> Result<Option<NeedPredictor>> {
    let is_wanted = match predict {
        NeedScope::Never => false,
        NeedScope::Always => true,
        NeedScope::ForStages => config.plan.sees_need(),
    };
    if is_wanted {
        return Ok(open_model(session, config, false)?.map(|(model, _)| model));
    }
    if let NeedScope::ForStages = predict {
        refuse_named(session, config)?;
    }
    Ok(None)
}

/// Refuses a need model that the user named, where nothing would use it.
fn refuse_named(session: &Session, config: &SystemConfig) -> Result<()> {
    let Some(file) = &session.options.need_model else { return Ok(()) };
    let expected =
        "a need file of ClariQ to write, or a system whose stages look at predicted needs";
    let found = format!("{} with `{}`", file.display(), config.name);
    bail!("--need-model", expected, found, "leave it out: it would change nothing")
}

/// True if a run over a split of the collection has a need file beside it.
pub(crate) fn writes_needs(session: &Session, config: &SystemConfig) -> bool {
    let ranks_questions = session.collection.question_bank().is_some();
    config.need.is_some() || ranks_questions && session.options.need_model.is_some()
}

/// A label as the need that stages compare; `None` for a name and for other numbers.
fn need_of(label: &NeedLabel) -> Option<Need> {
    match label {
        NeedLabel::Number(number) => u8::try_from(*number).ok().and_then(Need::new),
        NeedLabel::Name(_) => None,
    }
}

/// Predicts the needs of requests that have none.
pub(crate) fn predict(
    model: &NeedPredictor,
    session: &Session,
    requests: &mut [Request],
) -> Result<()> {
    let mut missing: Vec<&mut Request> =
        requests.iter_mut().filter(|request| request.need.is_none()).collect();
    let texts: Vec<String> =
        missing.iter().map(|request| session.collection.labelled_text(request)).collect();
    let labels = model.predict(session, &texts)?;
    for (request, label) in missing.iter_mut().zip(labels) {
        request.need = need_of(&label);
    }
    Ok(())
}

/// The predicted needs of a split, and their description for the record.
pub(crate) struct PredictedNeeds {
    labels: HashMap<RequestId, NeedLabel>,
    pub(crate) made_by: Value,
}

impl PredictedNeeds {
    pub(crate) fn of(&self, request: &Request) -> Option<Need> {
        self.labels.get(&request.id).and_then(need_of)
    }

    pub(crate) fn put(&self, out: &mut dyn Write, requests: &[Request]) -> io::Result<()> {
        put_need_lines(
            out,
            requests.iter().filter_map(|it| Some((&it.id, self.labels.get(&it.id)?))),
        )
    }
}

/// Predicts the needs of the requests of a split, if stages or `writes` use them and there is a need
/// model. If stages use needs, requests of train get held-out predictions: otherwise, rankings of train
/// would see their labels and those of dev would not.
pub(crate) fn predict_split(
    session: &Session,
    config: &SystemConfig,
    requests: &[Request],
    writes: bool,
) -> Result<Option<PredictedNeeds>> {
    let are_used = config.plan.sees_need() || writes && writes_needs(session, config);
    if !are_used {
        refuse_named(session, config)?;
        return Ok(None);
    }
    let is_learned_from = session.split.map(Split::role) == Some(SplitRole::Learn);
    let holds_out = config.plan.sees_need() && is_learned_from;
    let Some((model, held_out)) = open_model(session, config, holds_out)? else { return Ok(None) };
    let texts: Vec<String> =
        requests.iter().map(|request| session.collection.labelled_text(request)).collect();
    let predicted = model.predict(session, &texts)?;
    let mut made_by = model.record();
    if !held_out.is_empty() {
        made_by["folds"] = HELD_OUT_FOLDS.into();
    }
    let mut labels = HashMap::new();
    for ((request, text), label) in requests.iter().zip(texts).zip(predicted) {
        let held_out = held_out.get(&(request.id.clone(), text));
        labels.insert(request.id.clone(), held_out.cloned().unwrap_or(label));
    }
    Ok(Some(PredictedNeeds { labels, made_by }))
}

/// The description of a need model for the record of a run.
fn need_record(model: &Classifier) -> Value {
    let config = &model.made_of.config;
    json!({
        "model": config.name(),
        "train_on": config.train_on(),
        "train_sha256": model.made_of.train_sha256,
        "parameters": model.model.parameters(),
    })
}

/// Labels of training requests by models that did not see them, by the request and its text.
type HeldOutLabels = HashMap<(RequestId, String), NeedLabel>;

/// Reads the need model that the user named, or trains that of the system, optionally with held-out
/// predictions for the training requests. A collection without need labels has no model: no needs are
/// predicted, and stages ignore them.
fn open_model(
    session: &Session,
    config: &SystemConfig,
    holds_out: bool,
) -> Result<Option<(NeedPredictor, HeldOutLabels)>> {
    let named = session.options.need_model.as_deref();
    if let Some(file) = named {
        if matches!(config.need, Some(NeedTable::FewShot(_))) {
            let found = format!("{} with `{}`", file.display(), config.name);
            bail!("--need-model", "a system whose [need] has a `model`", found, "leave it out");
        }
        let model =
            with_bank(session.collection, |bank| Classifier::read(&Source::new(file), bank))?;
        check_for_stages(config, &model.made_of.classes)?;
        return Ok(Some((NeedPredictor::Classifier(Box::new(model)), HeldOutLabels::new())));
    }
    let Some(table) = &config.need else { return Ok(None) };
    let train_on = match table {
        NeedTable::Trained(need) => need.train_on().to_answer(session.split.map(Split::role)),
        NeedTable::FewShot(_) => TrainOn::Train,
    };
    let labelled = session.collection.labelled_requests(train_on.roles())?;
    let mut splits = session.collection.available_splits();
    if splits.any(|split| split.role() == SplitRole::Learn) && !labelled.requests.is_empty() {
        let need = match table {
            NeedTable::Trained(need) => need,
            // No request is its own example: nothing has to be held out.
            NeedTable::FewShot(few_shot) => {
                let model = FewShotModel::new(few_shot.clone(), &labelled)?;
                return Ok(Some((NeedPredictor::FewShot(model), HeldOutLabels::new())));
            }
        };
        let training = training(session, need, &labelled)?;
        check_for_stages(config, training.classes())?;
        let mut held_out = HeldOutLabels::new();
        if holds_out {
            let predictions = training.held_out(session.options.seed)?;
            for (request, prediction) in labelled.requests.into_iter().zip(predictions) {
                let label = training.classes()[prediction.label].clone();
                held_out.insert((request.id, request.text), label);
            }
        }
        return Ok(Some((NeedPredictor::Classifier(Box::new(training.fit()?)), held_out)));
    }
    // Collections of documents seldom have needs: there is nothing to miss unless stages look at them.
    if session.collection.question_bank().is_some() || config.plan.sees_need() {
        let conditions = if config.plan.sees_need() { ", and need conditions are off" } else { "" };
        let location = session.collection.location();
        let name = &config.name;
        let text =
            format!("note: no need labels in {location}: `{name}` predicts no needs{conditions}");
        session.observer.note(&text);
    }
    Ok(None)
}

/// Refuses labels that stages cannot compare, where stages look at needs.
fn check_for_stages(config: &SystemConfig, classes: &[NeedLabel]) -> Result<()> {
    if config.plan.sees_need() && classes.iter().any(|label| need_of(label).is_none()) {
        let labels: Vec<String> = classes.iter().map(NeedLabel::to_string).collect();
        let expected = "needs from 1 to 4, since a stage or the table [ask] compares them";
        let found = format!("a model of the needs {}", labels.join(", "));
        bail!(&config.name, expected, found, "label the requests from 1 to 4");
    }
    Ok(())
}

/// Calls `make` with the question bank whose questions are features of need models: that of the usual
/// collection, if this one has none.
fn with_bank<T>(collection: &dyn Collection, make: impl FnOnce(&Bank) -> Result<T>) -> Result<T> {
    if let Some(bank) = collection.question_bank() {
        return make(bank);
    }
    let usual = TRACKS.open(&TRACKS.usual_data())?;
    match usual.question_bank() {
        Some(bank) => make(bank),
        None => make(&Bank::new(Vec::new(), "")),
    }
}

/// The training data of a model that may answer the split of the session.
fn training(
    session: &Session,
    config: &NeedConfig,
    labelled: &LabelledRequests,
) -> Result<NeedTraining> {
    let config = config.clone().to_answer(session.split.map(Split::role));
    with_bank(session.collection, |bank| NeedTraining::new(config, bank, labelled))
}
