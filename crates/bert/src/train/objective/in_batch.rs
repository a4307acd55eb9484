//! The softmax over the questions of a batch.

use crate::batch::TokenBatch;
use crate::network::Network;
use crate::weights::torch;
use clariq_core::{JudgedQuestions, Result};
use clariq_folder::Tokens;
use tch::{Kind, Tensor};

/// The examples and weights of the softmax over the questions of a batch.
pub(in crate::train) struct InBatch<'a> {
    pub(in crate::train) judged: &'a JudgedQuestions,
    pub(super) requests: Vec<Tokens>,
    pub(super) questions: Vec<Tokens>,
    /// The factor of cosines.
    pub(super) scale: f64,
    /// Weights of the directions from requests to questions, from questions to requests, and from
    /// questions to questions.
    pub(super) weights: [f64; 3],
}

impl InBatch<'_> {
    /// The loss compares all texts of a step, but one group's activations are in memory at a time
    /// (Gao et al., "Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup",
    /// `RepL4NLP` 2021): vectors first, then the gradient of the loss by the vectors, then each
    /// group once more, with the same dropout, for the gradient by the weights. The last group is
    /// computed once, so that a group as large as the step costs nothing.
    pub(super) fn gradient(
        &self,
        network: &Network,
        step: &[(usize, u32)],
        group: usize,
        seed: &dyn Fn(usize),
        flops: [f64; 2],
    ) -> Result<f64> {
        let topics = sorted(step.iter().map(|&(topic, _)| topic).collect());
        let questions = sorted(step.iter().map(|&(_, question)| question as usize).collect());
        let texts: Vec<&Tokens> = topics
            .iter()
            .map(|&topic| &self.requests[topic])
            .chain(questions.iter().map(|&question| &self.questions[question]))
            .collect();
        let group = group.min(texts.len());
        let batches: Vec<TokenBatch> = texts
            .chunks(group)
            .map(|texts| TokenBatch::new(texts, network.device(), true))
            .collect();
        let Some((last, earlier)) = batches.split_last() else { return Ok(0.0) };
        let encode = |number: usize, batch: &TokenBatch| {
            seed(number);
            network.pooled(batch)
        };
        let mut vectors = Vec::with_capacity(batches.len());
        for (number, batch) in earlier.iter().enumerate() {
            vectors.push(tch::no_grad(|| encode(number, batch))?);
        }
        let taped = encode(earlier.len(), last)?;
        vectors.push(taped.detach());
        let vectors = Tensor::cat(&vectors, 0).set_requires_grad(true);
        let mut loss = self.loss(&vectors, &topics, &questions);
        if flops != [0.0; 2] {
            loss += penalty(&vectors, topics.len() as i64, flops);
        }
        let value = f64::try_from(&loss).map_err(torch("reading the loss"))?;
        loss.f_backward().map_err(torch("the gradient"))?;
        let gradients = vectors.grad().split(group as i64, 0);
        backward(taped, &gradients[earlier.len()])?;
        for (number, batch) in earlier.iter().enumerate() {
            backward(encode(number, batch)?, &gradients[number])?;
        }
        Ok(value)
    }

    /// The loss of vectors: those of the topics' requests, then those of the questions.
    pub(super) fn loss(&self, vectors: &Tensor, topics: &[usize], questions: &[usize]) -> Tensor {
        let device = vectors.device();
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
        let relevant = table(topics, &is_relevant);
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
            let siblings = table(questions, &|one, other| {
                topics.iter().any(|&topic| is_relevant(topic, one) && is_relevant(topic, other))
            });
            let others = table(questions, &|one, other| one != other);
            let positives = siblings.logical_and(&others);
            if positives.any().int64_value(&[]) != 0 {
                let scores = questions_at.matmul(&questions_at.transpose(0, 1)) * self.scale;
                loss += softmax_of_each(&scores, &positives, &siblings, 1) * weights[2];
            }
        }
        loss
    }
}

/// The FLOPS of the first vectors and of the others, each with its factor: the sum over all words of
/// the squared mean weight.
fn penalty(vectors: &Tensor, requests: i64, factors: [f64; 2]) -> Tensor {
    let questions = vectors.size()[0] - requests;
    let flops = |start: i64, count: i64| {
        let mean = vectors.narrow(0, start, count).mean_dim(Some(&[0_i64][..]), false, Kind::Float);
        mean.square().sum(Kind::Float)
    };
    flops(0, requests) * factors[0] + flops(requests, questions) * factors[1]
}

pub(super) fn sorted(mut list: Vec<usize>) -> Vec<usize> {
    list.sort_unstable();
    list.dedup();
    list
}

/// Adds the gradient of a loss to those of the weights, given the one with respect to `vectors`.
fn backward(vectors: Tensor, gradient: &Tensor) -> Result<()> {
    // tch has no backward pass from a tensor; the gradient of this number is the same.
    let number = (vectors * gradient).sum(Kind::Float);
    number.f_backward().map_err(torch("the gradient"))
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
