//! Batches for training: texts padded to the longest of them.

use crate::network::Input;
use crate::padding::Padding;
use crate::tokens::Tokens;
use tch::{Device, Tensor};

/// Texts of a step.
pub(crate) struct Batch {
    ids: Tensor,
    segments: Tensor,
    padding: Option<Padding>,
}

impl Batch {
    pub(crate) fn new(texts: &[&Tokens], device: Device) -> Self {
        let longest = texts.iter().map(|text| text.ids.len()).max().unwrap_or(0);
        let size = [texts.len() as i64, longest as i64];
        let table = |part: fn(&Tokens) -> &[i64]| {
            let padding = |text: &&Tokens| std::iter::repeat_n(0, longest - text.ids.len());
            let flat: Vec<i64> = texts
                .iter()
                .flat_map(|text| part(text).iter().copied().chain(padding(text)))
                .collect();
            Tensor::from_slice(&flat).view(size).to_device(device)
        };
        Self {
            ids: table(|text| &text.ids),
            segments: table(|text| &text.segments),
            padding: Padding::new(texts, device),
        }
    }

    pub(crate) fn input(&self, train: bool) -> Input<'_> {
        Input { ids: &self.ids, segments: &self.segments, padding: self.padding.as_ref(), train }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::weights::Weights;
    use clariq_core::Error;
    use clariq_model::ModelFolder;
    use std::path::Path;
    use tch::Kind;

    fn network() -> Network {
        let folder =
            ModelFolder::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny"));
        let folder = folder.unwrap();
        let weights = Weights::read(&folder).unwrap();
        let mut network = Network::new(&folder.shape, &weights, Device::Cpu, Kind::Float).unwrap();
        tch::manual_seed(7);
        network.new_head(2);
        for (_, _, weight) in network.parameters() {
            let leaf = weight.detach().contiguous().set_requires_grad(true);
            *weight = leaf;
        }
        network
    }

    fn texts() -> Vec<Tokens> {
        let text = |ids: &[i64]| Tokens {
            ids: ids.to_vec(),
            segments: (0..ids.len()).map(|at| i64::from(at > 2)).collect(),
        };
        vec![text(&[2, 5, 9, 4, 3]), text(&[2, 3]), text(&[2, 8, 8, 6, 7, 11, 3]), text(&[2, 4, 3])]
    }

    /// What a batch gives, and the gradients of its sum of squares.
    fn answer(
        texts: &[&Tokens],
        of: fn(&Network, &Input) -> Result<Tensor, Error>,
    ) -> (Tensor, Vec<Tensor>) {
        let mut network = network();
        let result = of(&network, &Batch::new(texts, Device::Cpu).input(false)).unwrap();
        result.square().sum(Kind::Float).backward();
        let gradients = network.parameters().into_iter().map(|(_, _, weight)| weight.grad());
        (result.detach(), gradients.filter(Tensor::defined).collect())
    }

    /// Equal but for rounding, which differs between processors.
    fn assert_near(found: &Tensor, expected: &Tensor) {
        let difference = (found - expected).abs().max().double_value(&[]);
        let size = expected.abs().max().double_value(&[]);
        assert!(difference <= 1e-5 * (1.0 + size), "{difference} of {size}");
    }

    #[test]
    fn a_padded_batch_equals_its_texts_one_by_one() {
        let texts = texts();
        for of in [Network::pooled_mean, Network::logits] {
            let (together, gradients) = answer(&texts.iter().collect::<Vec<_>>(), of);
            let mut sums: Vec<Tensor> = gradients.iter().map(Tensor::zeros_like).collect();
            for (row, text) in (0..).zip(&texts) {
                let (alone, gradients) = answer(&[text], of);
                assert_near(&together.get(row), &alone.get(0));
                for (sum, gradient) in sums.iter_mut().zip(&gradients) {
                    *sum += gradient;
                }
            }
            for (gradient, sum) in gradients.iter().zip(&sums) {
                assert_near(gradient, sum);
            }
        }
    }

    #[test]
    fn texts_of_one_length_have_no_padding() {
        let texts = texts();
        assert!(Padding::new(&[&texts[0], &texts[0]], Device::Cpu).is_none());
        assert!(Padding::new(&[&texts[0], &texts[1]], Device::Cpu).is_some());
    }
}
