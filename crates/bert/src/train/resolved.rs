//! The objective of conversational encoders: the vector of a conversation so far becomes the base's
//! vector of the resolved utterance.
//!
//! The loss has two terms: the distance of the two vectors by their cosine, and the divergence of
//! their softmax over the vectors of other texts, which carries where the target lies among what is
//! near to it (Hinton, Vinyals and Dean, "Distilling the Knowledge in a Neural Network", 2015).

use crate::conversation::pooled_first;
use crate::error::torch;
use crate::network::{Network, unit};
use crate::tokens::Tokens;
use crate::train::batch::Batch;
use clariq_core::Error;
use clariq_core::{Embeddings, Examples, History, Objective, Training, untrained_vectors};
use clariq_model::problem;
use std::path::Path;
use tch::{Device, Kind, Tensor};

/// What the base says: the teacher's vectors, none of which has a gradient.
pub(crate) struct Taught {
    /// The vector of each conversation, topics × hidden.
    untrained: Tensor,
    /// The vector of each text that targets are told from, texts × hidden.
    texts: Tensor,
    /// The text that is the target of each topic.
    targets: Vec<i64>,
    /// Weight of `untrained` beside what is learned.
    weight: f64,
    temperature: f64,
}

impl Taught {
    /// Computes the teacher's vectors; `None` for another objective.
    pub(crate) fn by_teacher(training: &Training, device: Device) -> Result<Option<Self>, Error> {
        let Objective::ResolvedUtterance { temperature, untrained: weight, history, .. } =
            &training.recipe.objective
        else {
            return Ok(None);
        };
        let Some(teacher) = training.teacher else {
            return Err(without_teacher(&training.recipe.name));
        };
        let examples = training.examples;
        let conversations: Vec<History> =
            examples.conversations.iter().map(|said| History::of(said)).collect();
        let encode = |texts: &[&str]| teacher.encode(texts, &|_| {});
        let untrained = untrained_vectors(&conversations, history, encode)?;
        let texts: Vec<&str> = examples.questions.iter().map(String::as_str).collect();
        let texts = encode(&texts)?;
        let target = |relevant: &Vec<u32>| relevant.first().map_or(0, |&text| i64::from(text));
        Ok(Some(Self {
            untrained: matrix(&untrained, device),
            texts: matrix(&texts, device),
            targets: examples.relevant.iter().map(target).collect(),
            weight: *weight,
            temperature: *temperature,
        }))
    }

    /// The loss of a step, with its tape.
    pub(crate) fn loss(
        &self,
        network: &Network,
        topics: &[usize],
        tokens: &[Tokens],
        train: bool,
    ) -> Result<Tensor, Error> {
        let refused = || torch("the loss");
        let batch: Vec<&Tokens> = topics.iter().map(|&topic| &tokens[topic]).collect();
        let learned = pooled_first(network, &Batch::new(&batch, network.device()).input(train))?;
        let pick = |table: &Tensor, places: Vec<i64>| {
            let places = Tensor::from_slice(&places).to_device(network.device());
            table.f_index_select(0, &places).map_err(refused())
        };
        let untrained = pick(&self.untrained, topics.iter().map(|&topic| topic as i64).collect())?;
        let targets = pick(&self.texts, topics.iter().map(|&topic| self.targets[topic]).collect())?;
        let vectors = unit(&(learned + untrained * self.weight))?;
        let distance: Tensor = 1.0 - (&vectors * &targets).sum(Kind::Float) / topics.len() as f64;
        Ok(distance + self.divergence(&vectors, &targets).map_err(refused())?)
    }

    /// Mean over rows of the Kullback-Leibler divergence of the softmax of `vectors` over all texts
    /// from that of `targets`.
    fn divergence(&self, vectors: &Tensor, targets: &Tensor) -> Result<Tensor, tch::TchError> {
        let log_softmax = |rows: &Tensor| {
            let scores = rows.f_matmul(&self.texts.transpose(0, 1))? / self.temperature;
            scores.f_log_softmax(-1, Kind::Float)
        };
        let (of_vectors, of_targets) = (log_softmax(vectors)?, log_softmax(targets)?);
        let divergence = of_targets.exp() * (&of_targets - of_vectors);
        Ok(divergence.sum(Kind::Float) / vectors.size()[0] as f64)
    }

    /// Scores of all texts for a topic whose learned vector is given.
    pub(crate) fn scores(&self, topic: usize, learned: &[f32]) -> Result<Vec<f32>, Error> {
        let learned = Tensor::from_slice(learned).to_device(self.texts.device());
        let vector = learned + self.untrained.get(topic as i64) * self.weight;
        let scores = self.texts.f_mv(&vector).map_err(torch("ranking texts"))?;
        crate::weights::values(&scores)
    }
}

fn matrix(vectors: &Embeddings, device: Device) -> Tensor {
    let size = [vectors.len() as i64, vectors.dim as i64];
    Tensor::from_slice(&vectors.values).view(size).to_device(device)
}

pub(crate) fn without_teacher(recipe: &str) -> Error {
    problem(Path::new(recipe), "the base as an encoder of texts, to learn from its vectors", "none")
        .hint("`clariq train` opens it")
        .into()
}

/// The tokens of all conversations.
pub(crate) fn tokens_of(
    examples: &Examples,
    tokenize: &crate::tokens::Tokenize,
) -> Result<Vec<Tokens>, Error> {
    let conversations = examples.conversations.iter();
    conversations.map(|said| tokenize.conversation(&History::of(said))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taught() -> Taught {
        let texts = Tensor::from_slice(&[1.0_f32, 0.0, 0.0, 1.0]).view([2, 2]);
        let untrained = Tensor::zeros([1, 2], (Kind::Float, Device::Cpu));
        Taught { untrained, texts, targets: vec![0], weight: 0.5, temperature: 0.5 }
    }

    #[test]
    fn the_divergence_of_two_by_hand() {
        let row = |values: [f32; 2]| Tensor::from_slice(&values).view([1, 2]);
        let of = |vector, target| {
            let divergence = taught().divergence(&row(vector), &row(target)).unwrap();
            f64::try_from(divergence).unwrap()
        };
        assert!(of([1.0, 0.0], [1.0, 0.0]).abs() < 1e-6);
        // Over two texts with cosines of 1 and 0, or 0 and 1: p and 1 − p, the other way round.
        let p = 2.0_f64.exp() / (2.0_f64.exp() + 1.0);
        let expected = p * (p / (1.0 - p)).ln() + (1.0 - p) * ((1.0 - p) / p).ln();
        assert!((of([0.0, 1.0], [1.0, 0.0]) - expected).abs() < 1e-5);
    }

    #[test]
    fn texts_are_scored_by_what_is_learned_and_what_was_there() {
        let mut taught = taught();
        taught.untrained = Tensor::from_slice(&[0.0_f32, 1.0]).view([1, 2]);
        assert_eq!(taught.scores(0, &[1.0, 0.0]).unwrap(), [1.0, 0.5]);
    }
}
