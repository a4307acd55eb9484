//! Predicted clarification needs, and the models that predict them.

mod few_shot;

use crate::session::Session;
use clariq_collections::Split;
use clariq_core::{Need, Request, RequestId, Result, SplitRole, bail};
use clariq_files::{Source, Target};
use clariq_need::{Classifier, HELD_OUT_FOLDS, NeedConfig, NeedTraining, Prediction};
use clariq_systems::{NeedTable, SystemConfig};
use clariq_track_clariq::evaluation::NeedReport;
use clariq_track_clariq::evaluation::need_report;
use clariq_track_clariq::{ClariQ, ClariqSplit, NeedLine, put_need_lines};
use few_shot::FewShotModel;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

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
    fn predict(&self, session: &Session, openings: &[&str]) -> Result<Vec<Need>> {
        match self {
            Self::Classifier(model) => {
                Ok(model.predict(openings).into_iter().map(|prediction| prediction.need).collect())
            }
            Self::FewShot(model) => model.predict(session, openings),
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
    let is_clariq = session.collection.downcast::<ClariQ>().is_some();
    config.need.is_some() || is_clariq && session.options.need_model.is_some()
}

/// Predicts the needs of requests that have none.
pub(crate) fn predict(
    model: &NeedPredictor,
    session: &Session,
    requests: &mut [Request],
) -> Result<()> {
    let mut missing: Vec<&mut Request> =
        requests.iter_mut().filter(|request| request.need.is_none()).collect();
    let openings: Vec<&str> = missing.iter().map(|request| request.opening()).collect();
    let needs = model.predict(session, &openings)?;
    for (request, need) in missing.iter_mut().zip(needs) {
        request.need = Some(need);
    }
    Ok(())
}

/// The predicted needs of a split, and their description for the record.
pub(crate) struct PredictedNeeds {
    needs: HashMap<RequestId, Need>,
    pub(crate) made_by: Value,
}

impl PredictedNeeds {
    pub(crate) fn of(&self, request: &Request) -> Option<Need> {
        self.needs.get(&request.id).copied()
    }

    pub(crate) fn put(&self, out: &mut dyn Write, requests: &[Request]) -> io::Result<()> {
        put_need_lines(out, requests.iter().filter_map(|it| Some((&it.id, self.of(it)?))))
    }
}

/// Predicts the needs of the requests of a split, if stages or `writes` use them and there is a need
/// model. If stages use needs, requests of train get held-out predictions: otherwise, rankings of train would see their
/// labels and those of dev would not.
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
    let openings: Vec<&str> = requests.iter().map(Request::opening).collect();
    let mut predicted = model.predict(session, &openings)?;
    let mut made_by = model.record();
    if !held_out.is_empty() {
        made_by["folds"] = HELD_OUT_FOLDS.into();
    }
    // Every topic of train has a label, so the predictions are in the order of the requests.
    for (own, held_out) in predicted.iter_mut().zip(held_out) {
        *own = held_out.need;
    }
    let mut needs = HashMap::new();
    for (request, need) in requests.iter().zip(predicted) {
        needs.insert(request.id.clone(), need);
    }
    Ok(Some(PredictedNeeds { needs, made_by }))
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

/// Reads the need model that the user named, or trains that of the system, optionally with held-out
/// predictions for the training topics. A collection without need labels has no model: no needs are
/// predicted, and stages ignore them.
fn open_model(
    session: &Session,
    config: &SystemConfig,
    holds_out: bool,
) -> Result<Option<(NeedPredictor, Vec<Prediction>)>> {
    let named = session.options.need_model.as_deref();
    if let Some(file) = named {
        if matches!(config.need, Some(NeedTable::FewShot(_))) {
            let found = format!("{} with `{}`", file.display(), config.name);
            bail!("--need-model", "a system whose [need] has a `model`", found, "leave it out");
        }
        let source = Source::new(file);
        let model = match session.collection.downcast::<ClariQ>() {
            Some(clariq) => Classifier::read(&source, &clariq.bank)?,
            // A need model uses ClariQ's question bank, which other collections do not have.
            None => Classifier::read(&source, &clariq_track_clariq::open_usual()?.bank)?,
        };
        return Ok(Some((NeedPredictor::Classifier(Box::new(model)), Vec::new())));
    }
    let Some(table) = &config.need else { return Ok(None) };
    let clariq = session.collection.downcast::<ClariQ>();
    if let Some(clariq) = clariq.filter(|clariq| clariq.has(ClariqSplit::Train, true)) {
        let config = match table {
            NeedTable::Trained(config) => config,
            // No request is its own example: nothing has to be held out.
            NeedTable::FewShot(config) => {
                let train = clariq.labelled(ClariqSplit::Train)?;
                let model = FewShotModel::new(config.clone(), &train);
                return Ok(Some((NeedPredictor::FewShot(model), Vec::new())));
            }
        };
        let training = training(session, clariq, config)?;
        let held_out = holds_out.then(|| training.held_out(session.options.seed)).transpose()?;
        let model = NeedPredictor::Classifier(Box::new(training.fit()?));
        return Ok(Some((model, held_out.unwrap_or_default())));
    }
    // Other collections have no need files: there is nothing to miss unless stages look at needs.
    if clariq.is_some() || config.plan.sees_need() {
        let conditions = if config.plan.sees_need() { ", and need conditions are off" } else { "" };
        let location = session.collection.location();
        let name = &config.name;
        let text =
            format!("note: no need labels in {location}: `{name}` predicts no needs{conditions}");
        session.observer.note(&text);
    }
    Ok(None)
}

fn training(session: &Session, clariq: &ClariQ, config: &NeedConfig) -> Result<NeedTraining> {
    let config = config.clone().to_answer(session.split.map(Split::role));
    let labels = clariq.training_labels(config.train_on())?;
    NeedTraining::new(config, &clariq.bank, &labels)
}

/// Need models of a collection that has need labels.
pub struct NeedModels<'a> {
    session: Session<'a>,
    clariq: &'a ClariQ,
}

/// The predictions of a model for dev, on which it was not trained.
pub struct HeldOutNeeds {
    /// Labels and predictions.
    pub pairs: Vec<(Need, Need)>,
    /// The probability of each predicted need, and true if it is the label.
    pub confidence: Vec<(f64, bool)>,
    /// The figures of each need.
    pub report: NeedReport,
}

impl<'a> NeedModels<'a> {
    /// Need models for the requests of a split, or for requests of no split.
    ///
    /// # Errors
    ///
    /// A collection without need labels or without that split.
    pub fn new(session: Session<'a>) -> Result<Self> {
        let clariq = ClariQ::of(session.collection)?;
        Ok(Self { session, clariq })
    }

    /// For the requests of a split: the one of that name, or the one to tune on.
    pub fn for_split(self, name: Option<&str>) -> Result<Self> {
        let split = self.session.collection.find_split_or(name, SplitRole::Tune)?;
        Ok(Self { session: Session { split: Some(split), ..self.session }, ..self })
    }

    /// The training data of a system's need model.
    pub fn training(&self, system: &str) -> Result<NeedTraining> {
        let Some(NeedTable::Trained(config)) = SystemConfig::open_any(system, &[])?.need else {
            let hint =
                "`bm25-tuned` has one; the documentation lists the need models (reference, Models)";
            let expected = "a system with a table [need] whose model is trained";
            bail!(system, expected, "a system without one", hint);
        };
        training(&self.session, self.clariq, &config)
    }

    /// Reads a saved model (`.json`), or trains the need model of a system.
    pub fn open(&self, name: &str) -> Result<Classifier> {
        let path = Path::new(name);
        if path.extension().is_none_or(|extension| extension != "json") {
            return self.training(name)?.fit();
        }
        let classifier = Classifier::read(&Source::new(path), &self.clariq.bank)?;
        let role = self.session.split.map_or(SplitRole::HeldOut, Split::role);
        let trained_on = classifier.made_of.config.train_on();
        if trained_on != trained_on.to_answer(Some(role)) {
            let expected = "a model that was not trained on labels of dev";
            let splits = trained_on.names().join(" and ");
            let hint =
                "train one for dev: `clariq need train CONFIG -o FILE`, without --split test";
            bail!(name, expected, "one trained on {splits}", hint);
        }
        Ok(classifier)
    }

    /// Writes the predictions for the split as a need file.
    pub fn write(&self, model: &Classifier, target: &Target) -> Result<()> {
        let Session { collection, split, task, .. } = self.session;
        let split = split.unwrap_or(ClariqSplit::Dev.as_split());
        let requests = collection.requests(split, task)?;
        let mut requests = requests.collect::<Result<Vec<Request>, _>>()?;
        let openings: Vec<&str> = requests.iter().map(Request::opening).collect();
        let predictions = model.predict(&openings);
        for (request, prediction) in requests.iter_mut().zip(predictions) {
            request.need = Some(prediction.need);
        }
        let labels = requests.iter().filter_map(|request| Some((&request.id, request.need?)));
        target.write(|out| put_need_lines(out, labels))
    }

    /// The predictions for dev; `None` if the model was trained on dev, or dev is missing.
    pub fn held_out(&self, model: &Classifier) -> Result<Option<HeldOutNeeds>> {
        if !self.clariq.has(ClariqSplit::Dev, true) || !model.made_of.config.train_on().is_default()
        {
            return Ok(None);
        }
        let labels = self.clariq.labelled(ClariqSplit::Dev)?;
        let requests: Vec<&str> = labels.topics.iter().map(|topic| &*topic.request).collect();
        let mut pairs = Vec::new();
        let mut confidence = Vec::new();
        let mut lines = Vec::new();
        for (topic, prediction) in labels.topics.iter().zip(model.predict(&requests)) {
            let Some(label) = topic.need else { continue };
            let need = prediction.need;
            pairs.push((label, need));
            let probability = prediction.probabilities[usize::from(need.get()) - 1];
            confidence.push((probability, need == label));
            let topic = topic.id.clone();
            lines.push(NeedLine { topic, label: i64::from(need.get()), line: 0 });
        }
        Ok(Some(HeldOutNeeds { pairs, confidence, report: need_report(&lines, &labels) }))
    }
}
