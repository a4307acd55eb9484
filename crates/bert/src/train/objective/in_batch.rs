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
    /// True if each token has a vector, and not each text.
    pub(in crate::train) late: bool,
}

/// The vectors of texts.
pub(super) struct PaddedVectors {
    /// Texts × the most vectors of a text × dimensions.
    pub(super) all: Tensor,
    /// True behind the last vector of a text, texts × vectors.
    absent: Tensor,
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
        let lengths = self.lengths(&texts);
        let longest = lengths.iter().copied().max().unwrap_or(1);
        let encode = |number: usize, batch: &TokenBatch| {
            seed(number);
            self.encode(network, batch, longest)
        };
        let mut vectors = Vec::with_capacity(batches.len());
        for (number, batch) in earlier.iter().enumerate() {
            vectors.push(tch::no_grad(|| encode(number, batch))?);
        }
        let taped = encode(earlier.len(), last)?;
        vectors.push(taped.detach());
        let vectors = Tensor::cat(&vectors, 0).set_requires_grad(true);
        let of_texts = PaddedVectors::new(&vectors, &lengths);
        let mut loss = self.loss(&of_texts, &topics, &questions);
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

    /// The number of vectors of each text.
    pub(super) fn lengths(&self, texts: &[&Tokens]) -> Vec<i64> {
        texts.iter().map(|text| if self.late { text.ids.len() as i64 } else { 1 }).collect()
    }

    /// The vectors of a batch's texts, each with the same number of rows.
    pub(super) fn encode(
        &self,
        network: &Network,
        batch: &TokenBatch,
        rows: i64,
    ) -> Result<Tensor> {
        if self.late {
            let mut vectors = network.token_vectors(batch)?;
            if let Some(padding) = &batch.padding {
                vectors *= padding.present.unsqueeze(2);
            }
            let missing = rows - vectors.size()[1];
            Ok(vectors.constant_pad_nd([0, 0, 0, missing]))
        } else {
            Ok(network.pooled(batch)?.unsqueeze(1))
        }
    }

    /// The loss of vectors: those of the topics' requests, then those of the questions.
    pub(super) fn loss(
        &self,
        vectors: &PaddedVectors,
        topics: &[usize],
        questions: &[usize],
    ) -> Tensor {
        let device = vectors.all.device();
        let requests = vectors.narrow(0, topics.len());
        let questions_at = vectors.narrow(topics.len(), questions.len());
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
        let scores = requests.max_sim(&questions_at) * self.scale;
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
                let scores = questions_at.max_sim(&questions_at) * self.scale;
                loss += softmax_of_each(&scores, &positives, &siblings, 1) * weights[2];
            }
        }
        loss
    }
}

impl PaddedVectors {
    /// `lengths` are the numbers of vectors of the texts.
    pub(super) fn new(all: &Tensor, lengths: &[i64]) -> Self {
        let places = Tensor::arange(all.size()[1], (Kind::Int64, all.device()));
        let lengths = Tensor::from_slice(lengths).to_device(all.device());
        let absent = places.unsqueeze(0).ge_tensor(&lengths.unsqueeze(1));
        Self { all: all.shallow_clone(), absent }
    }

    fn narrow(&self, start: usize, count: usize) -> Self {
        let part = |tensor: &Tensor| tensor.narrow(0, start as i64, count as i64);
        Self { all: part(&self.all), absent: part(&self.absent) }
    }

    /// `MaxSim`, texts × other texts: the mean over a text's vectors of the greatest dot product with one of
    /// the other text. For texts of one vector that is their dot product.
    fn max_sim(&self, others: &Self) -> Tensor {
        let [texts, rows] = [0, 1].map(|dim| self.all.size()[dim]);
        let [other_texts, other_rows] = [0, 1].map(|dim| others.all.size()[dim]);
        let products = self.all.flatten(0, 1).matmul(&others.all.flatten(0, 1).transpose(0, 1));
        let products = products.view([texts, rows, other_texts, other_rows]);
        let best = products.masked_fill(&others.absent, f64::from(f32::MIN)).amax([3], false);
        let best = best.masked_fill(&self.absent.unsqueeze(2), 0.0);
        let counts = self.absent.logical_not().sum_dim_intlist([1].as_slice(), true, Kind::Float);
        best.sum_dim_intlist([1].as_slice(), false, Kind::Float) / counts
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
    fn max_sim_counts_the_vectors_that_a_text_has() {
        let all = Tensor::from_slice(&[1.0_f32, 0.0, 0.0, 1.0, 0.5, 0.5, 9.0, 9.0]).view([2, 2, 2]);
        let vectors = PaddedVectors::new(&all, &[2, 1]);
        let scores = Vec::<f32>::try_from(vectors.max_sim(&vectors).view([-1])).unwrap();
        assert_eq!(scores, [1.0, 0.5, 0.5, 0.5]);
    }

    #[test]
    fn the_softmax_of_two_by_hand() {
        let scores = Tensor::from_slice(&[2.0_f32, 1.0, 0.5]).view([1, 3]);
        let relevant = Tensor::from_slice(&[true, true, false]).view([1, 3]);
        let loss = f64::try_from(softmax_of_each(&scores, &relevant, &relevant, 1)).unwrap();
        let one = |score: f64| -(score.exp() / (score.exp() + 0.5_f64.exp())).ln();
        assert!((loss - f64::midpoint(one(2.0), one(1.0))).abs() < 1e-6, "{loss}");
    }
}
