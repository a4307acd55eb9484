//! Engines, which open and train learned models, and the input of a training.

use crate::checksum::{Checksum, Sha256Sum};
use crate::model::{Model, ModelKind};
use crate::model_options::ModelOptions;
use crate::problem::Result;
use crate::recipe::Recipe;
use std::path::Path;

/// Opens and trains learned models. Only its implementations know weights and tensors.
pub trait Engine: Send + Sync {
    /// The engine and the devices that it sees, in words.
    fn describe(&self) -> String;

    /// The SHA-256 of everything that the output of the model in a folder depends on.
    fn checksum(&self, folder: &Path) -> Result<Checksum>;

    /// Describes the model in a folder: its family and its output for a text or a pair.
    fn describe_model(&self, folder: &Path) -> Result<String>;

    /// Opens the model in a folder, which must be of that kind.
    fn open(&self, folder: &Path, kind: ModelKind, options: &ModelOptions) -> Result<Model>;

    /// Trains a model and writes it to `folder`, which must not exist. A failed training writes nothing.
    fn train(
        &self,
        training: &Training,
        folder: &Path,
        report: &mut dyn FnMut(&TrainingEvent),
    ) -> Result<TrainingSummary>;
}

/// The input of a training.
pub struct Training<'a> {
    /// The parameters of the training.
    pub recipe: &'a Recipe,
    /// The folder of the model that it begins with.
    pub base: &'a Path,
    /// Requests with their relevant questions.
    pub examples: &'a JudgedQuestions,
    /// The splits, their collection and the checksum of its documents, for the model card.
    pub data: String,
    /// Device and threads; the precision is the recipe's.
    pub options: &'a ModelOptions,
    /// True if a checkpoint of the same training is continued.
    pub resume: bool,
}

/// Topics, and the questions that are relevant to them. A question is its position in `questions`.
#[derive(Debug, Clone, Default)]
pub struct JudgedQuestions {
    /// Ids of the topics, for the model card and for tests.
    pub topics: Vec<String>,
    /// The request of each topic.
    pub requests: Vec<String>,
    /// Every question of the bank.
    pub questions: Vec<String>,
    /// The relevant questions of each topic, the empty one left out, once per row of the file.
    pub relevant: Vec<Vec<u32>>,
    /// For each topic, questions that a system ranks high and that are not relevant, best first.
    pub candidates: Vec<Vec<u32>>,
    /// How held-out topics are evaluated; empty where none is held out.
    pub evaluation: Vec<TopicEvaluation>,
}

/// How a held-out topic is evaluated: as a run of the system that the model is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicEvaluation {
    /// All relevant questions, each once. Recall counts the empty question, too.
    pub relevant: Vec<u32>,
    /// The questions that a cross-encoder reorders, relevant or not.
    pub pool: Vec<u32>,
}

impl JudgedQuestions {
    /// Their checksum, over the parts of each field with their lengths.
    fn checksum(&self) -> Checksum {
        let Self { topics, requests, questions, relevant, candidates, evaluation } = self;
        let mut sum = Sha256Sum::default();
        let count = |length: usize| (length as u64).to_le_bytes();
        for texts in [topics, requests, questions] {
            sum.update(&count(texts.len()));
            for text in texts {
                sum.update(&count(text.len()));
                sum.update(text.as_bytes());
            }
        }
        let update_list = |sum: &mut Sha256Sum, list: &[u32]| {
            sum.update(&count(list.len()));
            for question in list {
                sum.update(&question.to_le_bytes());
            }
        };
        for lists in [relevant, candidates] {
            sum.update(&count(lists.len()));
            for list in lists {
                update_list(&mut sum, list);
            }
        }
        for topic in evaluation {
            update_list(&mut sum, &topic.relevant);
            update_list(&mut sum, &topic.pool);
        }
        sum.checksum()
    }

    /// The (topic, question) pairs of some topics; each once if `unique`, else once per row.
    pub fn pairs(&self, topics: &[usize], unique: bool) -> Vec<(usize, u32)> {
        let mut pairs = Vec::new();
        for &topic in topics {
            let mut questions = self.relevant[topic].clone();
            if unique {
                questions.sort_unstable();
                questions.dedup();
            }
            pairs.extend(questions.into_iter().map(|question| (topic, question)));
        }
        pairs
    }

    /// True if a question is relevant to a topic.
    pub fn is_relevant(&self, topic: usize, question: u32) -> bool {
        self.relevant[topic].contains(&question)
    }
}

/// Progress of a training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrainingEvent {
    /// A checkpoint was found: training continues after this step.
    Resumed(usize),
    /// A step was done.
    Step {
        /// The step, counted from 1.
        step: usize,
        /// All steps of the training.
        steps: usize,
        /// The loss before the step.
        loss: f64,
    },
    /// No better evaluation for as long as the recipe waits.
    StoppedEarly(usize),
}

/// The figures of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingSummary {
    /// The steps that were done.
    pub steps: usize,
    /// Mean loss of the first ten steps.
    pub first_loss: f64,
    /// Mean loss of the last ten steps.
    pub last_loss: f64,
    /// The last recall at 5, 10, 20 and 30 on held-out topics, where some were held out.
    pub recall: Option<[f64; 4]>,
    /// The recall of the pools that a cross-encoder reorders for these topics, before it does.
    pub first_stage: Option<[f64; 4]>,
}

/// The SHA-256 of everything that a training depends on, [`ModelOptions::computes_with`] included.
#[expect(clippy::missing_panics_doc, reason = "a recipe is plain data")]
pub fn training_key(
    recipe: &Recipe,
    base_checksum: &Checksum,
    examples: &JudgedQuestions,
    computes_with: &str,
) -> Checksum {
    let recipe = serde_json::to_string(recipe).expect("plain data");
    let data = examples.checksum();
    let input = Checksum::of(format!("2\n{recipe}\n{base_checksum}\n{data}").as_bytes());
    Checksum::of(format!("{input}\n{computes_with}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_and_every_boundary_changes_the_checksum() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let base = JudgedQuestions {
            topics: texts(&["1", "2"]),
            requests: texts(&["ab", "c"]),
            questions: texts(&["d", "e"]),
            relevant: vec![vec![0], vec![1]],
            candidates: vec![vec![1], vec![0]],
            evaluation: vec![TopicEvaluation { relevant: vec![0], pool: vec![1] }],
        };
        let mut checksums = vec![base.checksum()];
        let changes: [fn(&mut JudgedQuestions); 9] = [
            |other| other.topics[1] = "3".to_owned(),
            |other| other.requests = vec!["a".to_owned(), "bc".to_owned()],
            |other| other.questions.push(String::new()),
            |other| other.relevant = vec![vec![0, 1], vec![]],
            |other| other.candidates = vec![vec![1], vec![1]],
            |other| std::mem::swap(&mut other.relevant, &mut other.candidates),
            |other| other.evaluation.clear(),
            |other| other.evaluation[0].relevant.push(1),
            |other| other.evaluation[0].pool.clear(),
        ];
        for change in changes {
            let mut other = base.clone();
            change(&mut other);
            checksums.push(other.checksum());
        }
        checksums.sort();
        checksums.dedup();
        assert_eq!(checksums.len(), 10);
    }
}
