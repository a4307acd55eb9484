//! Objectives of trainings.

use crate::model::ModelKind;
use crate::number;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The objective of the training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Objective {
    /// An encoder: each relevant question nearer to its request than the other questions of the
    /// batch. Softmax over cosines, one term for each relevant question, without the others.
    InBatchSoftmax(InBatchKeys),
    /// An encoder whose tokens are compared: the same softmax over `MaxSim`, the mean over the tokens of the
    /// first text of the best cosine with a token of the second (Khattab and Zaharia, "`ColBERT`", SIGIR
    /// 2020).
    LateSoftmax(InBatchKeys),
    /// A sparse encoder: a softmax as above over dot products, and a penalty for words with a weight.
    SparseSoftmax {
        /// Pairs of request and question in a batch.
        batch: usize,
        /// Questions of one request in a batch; 0 draws pairs at random.
        #[serde(default)]
        per_request: usize,
        /// Factor of dot products.
        #[serde(default = "number::<1, _>")]
        scale: f64,
        /// Factor of the FLOPS of requests: the sum over all words of the squared mean weight (Paria
        /// et al., "Minimizing FLOPs to Learn Efficient Sparse Representations", ICLR 2020).
        request_flops: f64,
        /// Factor of the FLOPS of questions.
        question_flops: f64,
        /// The share of all steps in which both factors rise from 0, quadratically, as in SPLADE
        /// (Formal et al., SIGIR 2021).
        #[serde(default)]
        flops_warm_up: f64,
    },
    /// A cross-encoder of two classes, each pair on its own: the published recipe.
    CrossEntropy {
        /// Pairs in a batch.
        batch: usize,
        /// Negatives per request: the best of the system that names them, topped up at random.
        negatives: usize,
        /// The system whose best questions are the negatives.
        system: String,
    },
    /// A cross-encoder of one class: the relevant question before its negatives, by a softmax.
    Listwise {
        /// Lists in a batch.
        batch: usize,
        /// Negatives in a list.
        negatives: usize,
        /// The system whose best questions the negatives are drawn from.
        system: String,
        /// The number of the system's best questions that negatives are drawn from.
        depth: usize,
        /// True if each epoch sees every (request, question) once, and not once per facet.
        #[serde(default)]
        unique: bool,
    },
}

/// The keys of a softmax over the questions of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InBatchKeys {
    /// Pairs of request and question in a batch.
    batch: usize,
    /// Questions of one request in a batch; 0 draws pairs at random.
    #[serde(default)]
    per_request: usize,
    /// Factor of cosines: the inverse of the temperature.
    #[serde(default = "number::<20, _>")]
    scale: f64,
    /// Weight of the direction from a request to the questions of the batch.
    #[serde(default = "number::<1, _>")]
    request_to_question: f64,
    /// Weight of the direction from a question to the requests of the batch.
    #[serde(default)]
    question_to_request: f64,
    /// Weight of the direction from a question to the other questions of its request.
    #[serde(default)]
    question_to_question: f64,
}

/// The examples that a step of a training takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ExampleForm {
    /// Requests and questions, for a softmax over the questions of the batch.
    Texts {
        /// Pairs of request and question in a batch.
        batch: usize,
        /// Questions of one request in a batch; 0 draws pairs at random.
        per_request: usize,
        /// Factor of cosines or dot products.
        scale: f64,
        /// Weights of the directions from requests to questions, from questions to requests, and from
        /// questions to the other questions of their request.
        weights: [f64; 3],
        /// True if tokens are compared, and not whole texts.
        late: bool,
    },
    /// Pairs, each on its own.
    Pairs {
        /// Pairs in a batch.
        batch: usize,
        /// Negatives per request.
        negatives: usize,
    },
    /// Lists of a relevant question and its negatives.
    Lists {
        /// Lists in a batch.
        batch: usize,
        /// Negatives in a list.
        negatives: usize,
        /// The number of the system's best questions that negatives are drawn from.
        depth: usize,
    },
}

impl InBatchKeys {
    fn form(&self, late: bool) -> ExampleForm {
        let Self { batch, per_request, scale, .. } = *self;
        let weights =
            [self.request_to_question, self.question_to_request, self.question_to_question];
        ExampleForm::Texts { batch, per_request, scale, weights, late }
    }
}

/// A key of an objective, its value, and the values that a training can use.
pub(super) type KeyRange = (&'static str, f64, RangeInclusive<f64>);

impl Objective {
    /// The examples that its steps take.
    pub fn form(&self) -> ExampleForm {
        match *self {
            Self::InBatchSoftmax(ref keys) => keys.form(false),
            Self::LateSoftmax(ref keys) => keys.form(true),
            Self::SparseSoftmax { batch, per_request, scale, .. } => {
                let weights = [1.0, 0.0, 0.0];
                ExampleForm::Texts { batch, per_request, scale, weights, late: false }
            }
            Self::CrossEntropy { batch, negatives, .. } => ExampleForm::Pairs { batch, negatives },
            Self::Listwise { batch, negatives, depth, .. } => {
                ExampleForm::Lists { batch, negatives, depth }
            }
        }
    }

    /// The keys whose values have a range.
    pub(super) fn ranges(&self) -> Vec<KeyRange> {
        let above_0 = f64::MIN_POSITIVE..=f64::MAX;
        let from_0 = 0.0..=f64::MAX;
        match *self {
            Self::InBatchSoftmax(ref keys) | Self::LateSoftmax(ref keys) => vec![
                ("scale", keys.scale, above_0),
                ("request_to_question", keys.request_to_question, from_0.clone()),
                ("question_to_request", keys.question_to_request, from_0.clone()),
                ("question_to_question", keys.question_to_question, from_0),
            ],
            Self::SparseSoftmax { scale, request_flops, question_flops, flops_warm_up, .. } => {
                vec![
                    ("scale", scale, above_0),
                    ("request_flops", request_flops, from_0.clone()),
                    ("question_flops", question_flops, from_0),
                    ("flops_warm_up", flops_warm_up, 0.0..=1.0),
                ]
            }
            Self::CrossEntropy { .. } | Self::Listwise { .. } => Vec::new(),
        }
    }

    /// The factors of the FLOPS of requests and questions at a step, counted from 0, of `steps`.
    pub(super) fn flops(&self, step: usize, steps: usize) -> [f64; 2] {
        let Self::SparseSoftmax { request_flops, question_flops, flops_warm_up, .. } = *self else {
            return [0.0; 2];
        };
        let warm = (flops_warm_up * steps as f64).max(1.0);
        let share = (((step + 1) as f64) / warm).min(1.0).powi(2);
        [request_flops * share, question_flops * share]
    }

    /// The system that names negatives, and how many of its questions are wanted for each request.
    pub(super) fn negatives(&self) -> Option<(&str, usize)> {
        match self {
            Self::InBatchSoftmax(_) | Self::LateSoftmax(_) | Self::SparseSoftmax { .. } => None,
            // More than are wanted, since some of them will be relevant.
            Self::CrossEntropy { system, negatives, .. } => {
                Some((system, negatives.saturating_add(30)))
            }
            Self::Listwise { system, depth, .. } => Some((system, *depth)),
        }
    }

    /// The kind of model that it trains.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::InBatchSoftmax(_) | Self::LateSoftmax(_) => ModelKind::Encoder,
            Self::SparseSoftmax { .. } => ModelKind::Sparse,
            Self::CrossEntropy { .. } | Self::Listwise { .. } => ModelKind::CrossEncoder,
        }
    }

    /// True if an epoch sees a relevant pair once, and not once per row of the labels.
    pub fn sees_pairs_once(&self) -> bool {
        match self {
            Self::InBatchSoftmax(_) | Self::LateSoftmax(_) | Self::SparseSoftmax { .. } => true,
            Self::CrossEntropy { .. } => false,
            Self::Listwise { unique, .. } => *unique,
        }
    }

    pub(super) fn sizes(&self) -> (usize, usize) {
        match self.form() {
            ExampleForm::Texts { batch, .. } => (batch, 1),
            ExampleForm::Pairs { batch, negatives }
            | ExampleForm::Lists { batch, negatives, .. } => (batch, negatives),
        }
    }
}
