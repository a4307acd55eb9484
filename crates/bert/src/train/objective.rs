//! The examples of a training as tokens, and the loss of a step.

use crate::batch::TokenBatch;
use crate::network::Network;
use crate::tokens::{Prompt, Tokenize, Tokens};
use crate::train::steps::{ExampleSplit, TrainingStep, pairs_of};
use crate::weights::torch;
use clariq_core::{JudgedQuestions, Objective, Result, Training};
use std::collections::{BTreeMap, HashMap};
use tch::{Kind, Tensor};

/// The examples of a training in tokens, as its objective takes them.
pub(crate) enum TrainingMaterial<'a> {
    /// Requests and questions on their own, for an encoder.
    Texts(InBatch<'a>),
    /// (topic, question) pairs, for a cross-encoder.
    Pairs {
        judged: &'a JudgedQuestions,
        tokens: BTreeMap<(usize, u32), Tokens>,
        /// The pairs of a list, the relevant one first; `None` where each pair is on its own.
        list: Option<i64>,
    },
}

/// The examples and weights of the softmax over the questions of a batch.
pub(crate) struct InBatch<'a> {
    pub(crate) judged: &'a JudgedQuestions,
    requests: Vec<Tokens>,
    questions: Vec<Tokens>,
    /// The factor of cosines.
    scale: f64,
    /// Weights of the directions from requests to questions, from questions to requests, and from
    /// questions to questions.
    weights: [f64; 3],
}

impl<'a> TrainingMaterial<'a> {
    pub(crate) fn new(
        training: &'a Training,
        split: &ExampleSplit,
        tokenize: &Tokenize,
    ) -> Result<Self> {
        let judged = training.examples;
        let list = match training.recipe.objective {
            Objective::InBatchSoftmax {
                scale,
                request_to_question,
                question_to_request,
                question_to_question,
                ..
            } => {
                return Ok(Self::Texts(InBatch {
                    judged,
                    requests: tokenize.texts(&texts(&judged.requests), Prompt::Query)?,
                    questions: tokenize.texts(&texts(&judged.questions), Prompt::Document)?,
                    scale,
                    weights: [request_to_question, question_to_request, question_to_question],
                }));
            }
            Objective::CrossEntropy { .. } => None,
            Objective::Listwise { negatives, .. } => Some(1 + negatives as i64),
        };
        let epochs = training.recipe.epochs.ceil() as usize;
        let wanted = pairs_of(training.recipe, judged, split, epochs);
        let tokens = tokenize.pairs(&pair_texts(judged, &wanted))?;
        Ok(Self::Pairs { judged, tokens: wanted.into_iter().zip(tokens).collect(), list })
    }

    /// Renumbers all tokens so that only words of the data have numbers; gives their ids in the
    /// vocabulary, in order.
    ///
    /// Most of a small BERT is its table of words, and most of its words never occur here:
    /// gradients and moments of rows that stay 0 are half of the time of a step.
    pub(crate) fn narrow(&mut self) -> Vec<i64> {
        let mut texts: Vec<&mut Tokens> = match self {
            Self::Texts(InBatch { requests, questions, .. }) => {
                requests.iter_mut().chain(questions).collect()
            }
            Self::Pairs { tokens, .. } => tokens.values_mut().collect(),
        };
        // 0 stays 0, which is what padding is made of.
        let mut ids = vec![0];
        ids.extend(texts.iter().flat_map(|text| &text.ids));
        ids.sort_unstable();
        ids.dedup();
        let numbers: HashMap<i64, i64> = ids.iter().copied().zip(0..).collect();
        for id in texts.iter_mut().flat_map(|text| &mut text.ids) {
            *id = numbers.get(id).copied().unwrap_or(0);
        }
        ids
    }

    /// The loss of a step, with its tape.
    pub(crate) fn loss(&self, network: &Network, step: &TrainingStep) -> Result<Tensor> {
        match self {
            Self::Texts(texts) => texts.loss(network, step),
            Self::Pairs { judged, tokens, list } => {
                let texts: Vec<&Tokens> = step.iter().filter_map(|pair| tokens.get(pair)).collect();
                let logits = network.logits(&TokenBatch::new(&texts, network.device(), true))?;
                if let Some(list) = list {
                    let logits = logits.view([-1, *list]);
                    let first = vec![0; logits.size()[0] as usize];
                    return cross_entropy(&logits, &first);
                }
                let label = |&(topic, question)| i64::from(judged.is_relevant(topic, question));
                cross_entropy(&logits, &step.iter().map(label).collect::<Vec<i64>>())
            }
        }
    }
}

impl InBatch<'_> {
    /// Requests and questions of a step are encoded once each, in one pass.
    fn loss(&self, network: &Network, step: &TrainingStep) -> Result<Tensor> {
        let sorted = |mut list: Vec<usize>| {
            list.sort_unstable();
            list.dedup();
            list
        };
        let topics = sorted(step.iter().map(|&(topic, _)| topic).collect());
        let questions = sorted(step.iter().map(|&(_, question)| question as usize).collect());
        let texts: Vec<&Tokens> = topics
            .iter()
            .map(|&topic| &self.requests[topic])
            .chain(questions.iter().map(|&question| &self.questions[question]))
            .collect();
        let device = network.device();
        let vectors = network.pooled(&TokenBatch::new(&texts, device, true))?;
        let requests = vectors.narrow(0, 0, topics.len() as i64);
        let questions_at = vectors.narrow(0, topics.len() as i64, questions.len() as i64);
        let is_relevant =
            |topic: usize, question: usize| self.judged.is_relevant(topic, question as u32);
        let table = |rows: &[usize], test: &dyn Fn(usize, usize) -> bool| {
            let flat: Vec<bool> = rows
                .iter()
                .flat_map(|&row| questions.iter().map(move |&at| (row, at)))
                .map(|(row, at)| test(row, at))
                .collect();
            Tensor::from_slice(&flat)
                .view([rows.len() as i64, questions.len() as i64])
                .to_device(device)
        };
        let relevant = table(&topics, &is_relevant);
        let scores = requests.matmul(&questions_at.transpose(0, 1)) * self.scale;
        let weights = self.weights;
        let mut loss = Tensor::zeros([], (Kind::Float, device));
        if weights[0] > 0.0 {
            loss += softmax_of_each(&scores, &relevant, &relevant, 1) * weights[0];
        }
        if weights[1] > 0.0 {
            loss += softmax_of_each(&scores, &relevant, &relevant, 0) * weights[1];
        }
        if weights[2] > 0.0 {
            let siblings = table(&questions, &|one, other| {
                topics.iter().any(|&topic| is_relevant(topic, one) && is_relevant(topic, other))
            });
            let others = table(&questions, &|one, other| one != other);
            let positives = siblings.logical_and(&others);
            if positives.any().int64_value(&[]) != 0 {
                let scores = questions_at.matmul(&questions_at.transpose(0, 1)) * self.scale;
                loss += softmax_of_each(&scores, &positives, &siblings, 1) * weights[2];
            }
        }
        Ok(loss)
    }
}

pub(crate) fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// The request and the question of each pair.
pub(crate) fn pair_texts<'a>(
    judged: &'a JudgedQuestions,
    pairs: &[(usize, u32)],
) -> Vec<(&'a str, &'a str)> {
    let text = |&(topic, question): &(usize, u32)| {
        (judged.requests[topic].as_str(), judged.questions[question as usize].as_str())
    };
    pairs.iter().map(text).collect()
}

/// Mean over the rows of −log of the softmax of their label.
fn cross_entropy(logits: &Tensor, labels: &[i64]) -> Result<Tensor> {
    let labels = Tensor::from_slice(labels).to_device(logits.device());
    let no_weights: Option<Tensor> = None;
    logits
        .f_cross_entropy_loss(&labels, no_weights, tch::Reduction::Mean, -100, 0.0)
        .map_err(torch("the loss"))
}

/// Mean over the `positives` of −log of their softmax among themselves alone and everything outside
/// `left_out`, along a dimension.
fn softmax_of_each(scores: &Tensor, positives: &Tensor, left_out: &Tensor, dim: i64) -> Tensor {
    let others = scores.masked_fill(left_out, -1e4).logsumexp([dim], true);
    let losses = scores.logaddexp(&others) - scores;
    losses.masked_select(positives).mean(Kind::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_softmax_of_two_by_hand() {
        let scores = Tensor::from_slice(&[2.0_f32, 1.0, 0.5]).view([1, 3]);
        let relevant = Tensor::from_slice(&[true, true, false]).view([1, 3]);
        let loss = f64::try_from(softmax_of_each(&scores, &relevant, &relevant, 1)).unwrap();
        let one = |score: f64| -(score.exp() / (score.exp() + 0.5_f64.exp())).ln();
        assert!((loss - f64::midpoint(one(2.0), one(1.0))).abs() < 1e-6, "{loss}");
    }
}
