//! A trained model with its feature extractor, and its form in JSON.

use crate::config::NeedConfig;
use crate::features::Extractor;
use crate::model::{Contribution, NeedModel, Prediction};
use clariq_collections::NeedLabel;
use clariq_collections::documents::Bank;
use clariq_core::{Checksum, Documents, Error, Need, ProblemKind, Result, problem};
use clariq_files::{MOST_OF_A_TABLE, Source, Target};
use serde::{Deserialize, Serialize};

/// The version of the format. It is raised when older models cannot be read or would predict
/// differently.
const FORMAT: u32 = 3;

/// Everything that determines a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelOrigin {
    /// The version of the program.
    pub clariq: String,
    /// The model as the configuration declares it.
    pub config: NeedConfig,
    /// The labels that the model tells apart, in order; ClariQ's are left out of the file.
    #[serde(default = "clariq_needs", skip_serializing_if = "are_clariq_needs")]
    pub classes: Vec<NeedLabel>,
    /// The names of the features, in order.
    pub features: Vec<String>,
    /// The checksum of the requests and labels that it was trained on.
    pub train_sha256: Checksum,
    /// The number of these topics.
    pub topics: usize,
    /// The checksum of the question bank.
    pub bank_sha256: Checksum,
}

/// The needs of ClariQ, from 1 to 4.
pub(crate) fn clariq_needs() -> Vec<NeedLabel> {
    Need::ALL.map(|need| NeedLabel::Number(need.get().into())).to_vec()
}

fn are_clariq_needs(classes: &[NeedLabel]) -> bool {
    classes == clariq_needs()
}

/// The part that all formats share, to tell another format from a damaged file.
#[derive(Deserialize)]
struct FormatHeader {
    need_model: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedClassifier {
    need_model: u32,
    made_of: ModelOrigin,
    model: NeedModel,
}

/// Predicts the needs of requests.
pub struct Classifier {
    /// Everything that determined the training.
    pub made_of: ModelOrigin,
    pub model: NeedModel,
    pub(crate) extractor: Extractor,
}

impl Classifier {
    /// The label of a prediction.
    pub fn label(&self, prediction: &Prediction) -> &NeedLabel {
        &self.made_of.classes[prediction.label]
    }

    /// Predicts a label for each request, in order.
    pub fn predict(&self, requests: &[&str]) -> Vec<Prediction> {
        self.model.predict(&self.extractor.extract(requests))
    }

    /// Predicts the label of one request and lists the features behind it, the strongest first.
    pub fn explain(&self, request: &str) -> (Prediction, Vec<Contribution>) {
        let features = self.extractor.extract(&[request]);
        let prediction = self.model.predict(&features).remove(0);
        let mut contributions = self.model.contributions(&features, 0, prediction.label);
        contributions.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
        (prediction, contributions)
    }

    /// Writes the model; the same training gives the same bytes.
    pub fn write(&self, target: &Target) -> Result<()> {
        let saved = SavedClassifier {
            need_model: FORMAT,
            made_of: self.made_of.clone(),
            model: self.model.clone(),
        };
        target.write(|out| {
            serde_json::to_writer_pretty(&mut *out, &saved)?;
            writeln!(out)
        })
    }

    /// Reads a model and checks that it was made with this bank and these features.
    pub fn read(source: &Source, bank: &Bank) -> Result<Self> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        let not_a_model = |error| not_a_model(&input.name, &error);
        let misfit = |expected: String, found: String| -> Error {
            let hint = "train it again on this data";
            problem!(&input.name, expected, found, hint).kind(ProblemKind::NeedModel).into()
        };
        let FormatHeader { need_model } =
            serde_json::from_slice(&input.bytes).map_err(not_a_model)?;
        if need_model != FORMAT {
            let expected = format!("a need model of format {FORMAT}");
            return Err(misfit(expected, format!("format {need_model}")));
        }
        let SavedClassifier { made_of, model, .. } =
            serde_json::from_slice(&input.bytes).map_err(not_a_model)?;
        if made_of.features != made_of.config.feature_names() {
            let found = format!("{} features of clariq {}", made_of.features.len(), made_of.clariq);
            return Err(misfit("the features of this program".to_owned(), found));
        }
        if !model.fits(made_of.config.blocks(), made_of.classes.len()) {
            let expected = "weights for all features".to_owned();
            return Err(misfit(expected, "another number of them".to_owned()));
        }
        if !model.is_bounded() {
            let expected = "numbers as a training produces them".to_owned();
            return Err(misfit(expected, "larger ones".to_owned()));
        }
        if !made_of.features.is_empty() && made_of.bank_sha256 != *bank.checksum() {
            let expected =
                format!("a model made with the question bank {}", bank.checksum().short());
            return Err(misfit(expected, format!("one made with {}", made_of.bank_sha256.short())));
        }
        let extractor = Extractor::new(&made_of.config, bank);
        Ok(Self { made_of, model, extractor })
    }
}

fn not_a_model(name: &str, error: &serde_json::Error) -> Error {
    let expected = "a need model as this program writes it: a whole JSON object";
    let hint = "a configuration ends in .toml";
    let at = (name, error.line().max(1) as u64);
    problem!(at, expected, (error.to_string()), hint).kind(ProblemKind::NeedModel).into()
}
