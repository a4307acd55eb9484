//! The objective of conversational encoders: the vector of a conversation so far becomes the base's
//! vector of the resolved utterance.
//!
//! The loss has two terms: the distance of the two vectors by their cosine, and the divergence of
//! their softmax over the vectors of other texts, which carries where the target lies among what is
//! near to it (Hinton, Vinyals and Dean, "Distilling the Knowledge in a Neural Network", 2015).

use crate::batch::Batch;
use crate::network::Network;
use crate::pooling::unit;
use crate::tokens::{Tokenize, Tokens};
use crate::weights::{torch, values};
use clariq_core::{
    Embeddings, History, Objective, ResolvedTurns, Result, Training, bail, untrained_vectors,
};
use tch::{Device, Kind, TchError, Tensor};

/// What the base says: the teacher's vectors, none of which has a gradient.
pub(crate) struct Taught<'a> {
    turns: &'a ResolvedTurns,
    /// The vector of each conversation, turns × hidden.
    untrained: Tensor,
    /// The vector of each text that resolved utterances must be told apart from, texts × hidden.
    texts: Tensor,
    /// Weight of `untrained` beside what is learned.
    weight: f64,
    temperature: f64,
}

impl<'a> Taught<'a> {
    /// Computes the teacher's vectors.
    pub(crate) fn new(
        training: &Training,
        turns: &'a ResolvedTurns,
        device: Device,
    ) -> Result<Self> {
        let (
            Objective::ResolvedUtterance { temperature, untrained: weight, history, .. },
            Some(teacher),
        ) = (&training.recipe.objective, training.teacher)
        else {
            bail!(
                &*training.recipe.name,
                "the base as an encoder of texts, to learn from its vectors",
                "none",
                "`clariq train` opens it"
            );
        };
        let encode = |texts: &[&str]| teacher.encode(texts, &|_| {});
        let conversations: Vec<History> = turns.said.iter().map(|said| History::of(said)).collect();
        let untrained = untrained_vectors(&conversations, history, encode)?;
        let texts: Vec<&str> = turns.texts.iter().map(String::as_str).collect();
        Ok(Self {
            turns,
            untrained: matrix(&untrained, device),
            texts: matrix(&encode(&texts)?, device),
            weight: *weight,
            temperature: *temperature,
        })
    }

    /// The tokens of some conversations.
    pub(crate) fn tokens(&self, turns: &[usize], tokenize: &Tokenize) -> Result<Vec<Tokens>> {
        let said = turns.iter().map(|&turn| &self.turns.said[turn]);
        said.map(|said| tokenize.conversation(&History::of(said))).collect()
    }

    /// The text that is the target of a turn.
    pub(crate) fn target(&self, turn: usize) -> &'a [u32] {
        std::slice::from_ref(&self.turns.resolved[turn])
    }

    /// The loss of a step, with its tape.
    pub(crate) fn loss(
        &self,
        network: &Network,
        turns: &[usize],
        tokens: &[Tokens],
    ) -> Result<Tensor> {
        let (device, refused) = (network.device(), torch("the loss"));
        let batch: Vec<&Tokens> = turns.iter().map(|&turn| &tokens[turn]).collect();
        let learned = network.pooled_first(&Batch::new(&batch, device, true))?;
        let pick = |table: &Tensor, row: &dyn Fn(usize) -> i64| {
            let rows: Vec<i64> = turns.iter().map(|&turn| row(turn)).collect();
            let rows = Tensor::from_slice(&rows).to_device(device);
            table.f_index_select(0, &rows).map_err(&refused)
        };
        let untrained = pick(&self.untrained, &|turn| turn as i64)?;
        let targets = pick(&self.texts, &|turn| i64::from(self.turns.resolved[turn]))?;
        let vectors = unit(&(learned + untrained * self.weight))?;
        let distance: Tensor = 1.0 - (&vectors * &targets).sum(Kind::Float) / turns.len() as f64;
        Ok(distance + self.divergence(&vectors, &targets).map_err(&refused)?)
    }

    /// Mean over rows of the Kullback-Leibler divergence of the softmax of `vectors` over all texts
    /// from that of `targets`.
    fn divergence(&self, vectors: &Tensor, targets: &Tensor) -> Result<Tensor, TchError> {
        let log_softmax = |rows: &Tensor| {
            let scores = rows.f_matmul(&self.texts.transpose(0, 1))? / self.temperature;
            scores.f_log_softmax(-1, Kind::Float)
        };
        let (of_vectors, of_targets) = (log_softmax(vectors)?, log_softmax(targets)?);
        let divergence = of_targets.exp() * (&of_targets - of_vectors);
        Ok(divergence.sum(Kind::Float) / vectors.size()[0] as f64)
    }

    /// Scores of all texts for a turn whose learned vector is given.
    pub(crate) fn scores(&self, turn: usize, learned: &[f32]) -> Result<Vec<f32>> {
        let learned = Tensor::from_slice(learned).to_device(self.texts.device());
        let vector = learned + self.untrained.get(turn as i64) * self.weight;
        values(&self.texts.f_mv(&vector).map_err(torch("ranking texts"))?)
    }
}

fn matrix(vectors: &Embeddings, device: Device) -> Tensor {
    let size = [vectors.len() as i64, vectors.dim as i64];
    Tensor::from_slice(&vectors.values).view(size).to_device(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taught(turns: &ResolvedTurns) -> Taught<'_> {
        let texts = Tensor::from_slice(&[1.0_f32, 0.0, 0.0, 1.0]).view([2, 2]);
        let untrained = Tensor::zeros([1, 2], (Kind::Float, Device::Cpu));
        Taught { turns, untrained, texts, weight: 0.5, temperature: 0.5 }
    }

    #[test]
    fn the_divergence_of_two_by_hand() {
        let row = |values: [f32; 2]| Tensor::from_slice(&values).view([1, 2]);
        let of = |vector, target| {
            let divergence =
                taught(&ResolvedTurns::default()).divergence(&row(vector), &row(target)).unwrap();
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
        let turns = ResolvedTurns::default();
        let mut taught = taught(&turns);
        taught.untrained = Tensor::from_slice(&[0.0_f32, 1.0]).view([1, 2]);
        assert_eq!(taught.scores(0, &[1.0, 0.0]).unwrap(), [1.0, 0.5]);
    }
}
