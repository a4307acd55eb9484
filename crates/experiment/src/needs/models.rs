//! Need models by themselves: trained, read, compared with labels, and their predictions written.

use super::{training, with_bank};
use crate::session::Session;
use clariq_collections::{LabelledRequests, NeedLabel, Split, put_need_lines};
use clariq_core::{Hint, Request, Result, SplitRole, bail};
use clariq_files::{Source, Target};
use clariq_need::{Classifier, NeedTraining};
use clariq_systems::{NeedTable, SystemConfig};
use std::path::Path;

/// Need models of a collection that has need labels.
pub struct NeedModels<'a> {
    session: Session<'a>,
}

/// The predictions of a model for dev, on which it was not trained.
pub struct HeldOutNeeds {
    /// The names of the splits with these requests.
    pub splits: String,
    /// The labels that the model tells apart.
    pub classes: Vec<NeedLabel>,
    /// Labels and predictions, by their places among these.
    pub pairs: Vec<(usize, usize)>,
    /// The probability of each predicted need, and true if it is the label.
    pub confidence: Vec<(f64, bool)>,
}

impl<'a> NeedModels<'a> {
    /// Need models for requests of no split.
    pub fn new(session: Session<'a>) -> Self {
        Self { session }
    }

    /// For the requests of a split: the one of that name, or the one to tune on.
    ///
    /// # Errors
    ///
    /// A collection without that split.
    pub fn for_split(self, name: Option<&str>) -> Result<Self> {
        let split = self.session.collection.find_split_or(name, SplitRole::Tune)?;
        Ok(Self { session: Session { split: Some(split), ..self.session } })
    }

    /// The training data of a system's need model.
    pub fn training(&self, system: &str) -> Result<NeedTraining> {
        let Some(NeedTable::Trained(config)) = SystemConfig::open_any(system, &[])?.need else {
            let hint =
                "`bm25-tuned` has one; the documentation lists the need models (reference, Models)";
            let expected = "a system with a table [need] whose model is trained";
            bail!(system, expected, "a system without one", hint);
        };
        let Session { collection, split, task, .. } = self.session;
        let train_on = config.train_on().to_answer(split.map(Split::role));
        let labelled = collection.labelled_requests(train_on.roles())?;
        if labelled.requests.is_empty() {
            // A release without its file of train says which file is missing.
            for split in collection.splits().iter().filter(|it| it.role() == SplitRole::Learn) {
                drop(collection.requests(*split, task)?);
            }
        }
        training(&self.session, &config, &labelled)
    }

    /// Reads a saved model (`.json`), or trains the need model of a system.
    pub fn open(&self, name: &str) -> Result<Classifier> {
        let path = Path::new(name);
        if path.extension().is_none_or(|extension| extension != "json") {
            return self.training(name)?.fit();
        }
        let classifier =
            with_bank(self.session.collection, |bank| Classifier::read(&Source::new(path), bank))?;
        let role = self.session.split.map_or(SplitRole::HeldOut, Split::role);
        let trained_on = classifier.made_of.config.train_on();
        if trained_on != trained_on.to_answer(Some(role)) {
            let expected = "a model that was not trained on labels of dev";
            let splits = trained_on.names().join(" and ");
            let hint = Hint::from("train one for dev: ")
                .and(Hint::on_data("need train CONFIG -o FILE"))
                .and(", without --split test");
            bail!(name, expected, "one trained on {splits}", hint);
        }
        Ok(classifier)
    }

    /// Writes the predictions for the split as a need file.
    pub fn write(&self, model: &Classifier, target: &Target) -> Result<()> {
        let Session { collection, split, task, .. } = self.session;
        let split = split.map_or_else(|| collection.find_split_or(None, SplitRole::Tune), Ok)?;
        let requests = collection.requests(split, task)?;
        let requests = requests.collect::<Result<Vec<Request>, _>>()?;
        let texts: Vec<String> =
            requests.iter().map(|request| collection.labelled_text(request)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let predictions = model.predict(&texts);
        let labels = predictions.iter().map(|prediction| model.label(prediction));
        let ids = requests.iter().map(|request| &request.id);
        target.write(|out| put_need_lines(out, ids.zip(labels)))
    }

    /// The predictions for dev, or what corresponds to it; `None` if the model was trained on it, or it is
    /// missing.
    pub fn held_out(&self, model: &Classifier) -> Result<Option<HeldOutNeeds>> {
        let collection = self.session.collection;
        let LabelledRequests { requests, .. } = collection.labelled_requests(&[SplitRole::Tune])?;
        if requests.is_empty() || !model.made_of.config.train_on().is_default() {
            return Ok(None);
        }
        let texts: Vec<&str> = requests.iter().map(|request| &*request.text).collect();
        let mut classes = model.made_of.classes.clone();
        let mut pairs = Vec::new();
        let mut confidence = Vec::new();
        for (request, prediction) in requests.iter().zip(model.predict(&texts)) {
            // A label that training did not have is never predicted.
            let label = classes.iter().position(|class| *class == request.need);
            let label = label.unwrap_or_else(|| {
                classes.push(request.need.clone());
                classes.len() - 1
            });
            pairs.push((label, prediction.label));
            confidence
                .push((prediction.probabilities[prediction.label], prediction.label == label));
        }
        let splits = collection.available_splits().filter(|it| it.role() == SplitRole::Tune);
        let splits = splits.map(Split::name).collect::<Vec<_>>().join(", ");
        Ok(Some(HeldOutNeeds { splits, classes, pairs, confidence }))
    }
}
