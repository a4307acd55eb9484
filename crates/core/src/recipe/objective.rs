//! Objectives of trainings.

use crate::model::ModelKind;
use crate::number;
use serde::{Deserialize, Serialize};

/// The objective of the training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Objective {
    /// An encoder: each relevant question nearer to its request than the other questions of the
    /// batch. Softmax over cosines, one term for each relevant question, without the others.
    InBatchSoftmax {
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
    },
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

impl Objective {
    /// The kind of model that it trains.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::InBatchSoftmax { .. } => ModelKind::Encoder,
            Self::SparseSoftmax { .. } => ModelKind::Sparse,
            Self::CrossEntropy { .. } | Self::Listwise { .. } => ModelKind::CrossEncoder,
        }
    }

    /// True if an epoch sees a relevant pair once, and not once per row of the labels.
    pub fn sees_pairs_once(&self) -> bool {
        match self {
            Self::InBatchSoftmax { .. } | Self::SparseSoftmax { .. } => true,
            Self::CrossEntropy { .. } => false,
            Self::Listwise { unique, .. } => *unique,
        }
    }

    pub(super) fn sizes(&self) -> (usize, usize) {
        match *self {
            Self::InBatchSoftmax { batch, .. } | Self::SparseSoftmax { batch, .. } => (batch, 1),
            Self::CrossEntropy { batch, negatives, .. }
            | Self::Listwise { batch, negatives, .. } => (batch, negatives),
        }
    }
}
