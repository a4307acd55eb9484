//! Texts as the network reads them: padded to the longest, and where the tokens are, so that padding
//! is computed in attention alone.

use crate::tokens::Tokens;
use crate::weights::torch;
use clariq_core::Result;
use tch::{Device, Kind, Tensor};

/// Texts that are computed together.
pub(crate) struct Batch {
    /// Ids of the vocabulary, texts × tokens.
    pub(crate) ids: Tensor,
    /// 0 or 1, texts × tokens.
    pub(crate) segments: Tensor,
    /// Where the tokens are; `None` where all texts have one length.
    pub(crate) padding: Option<Padding>,
    /// Whether dropout is applied.
    pub(crate) train: bool,
}

impl Batch {
    pub(crate) fn new(texts: &[&Tokens], device: Device, train: bool) -> Self {
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
            train,
        }
    }

    /// How many texts there are, and how many tokens the longest has.
    pub(crate) fn size(&self) -> (i64, i64) {
        let size = self.ids.size();
        (size[0], size[1])
    }

    /// The cells of a texts × tokens table that hold a token.
    pub(crate) fn packed(&self, table: &Tensor) -> Result<Tensor> {
        let flat = table.reshape([-1]);
        self.padding.as_ref().map_or(Ok(flat.shallow_clone()), |padding| {
            flat.f_index_select(0, &padding.cells).map_err(torch("leaving padding out"))
        })
    }
}

/// The tokens of a batch whose texts are padded to the longest of them.
///
/// A *cell* is one of the texts × tokens table, counted row by row; a *number* counts tokens alone.
pub(crate) struct Padding {
    /// 0 where a token is, the lowest number where padding is, texts × 1 × 1 × tokens.
    pub(crate) mask: Tensor,
    /// 1 where a token is, texts × tokens.
    pub(crate) present: Tensor,
    /// The cell of every token.
    pub(crate) cells: Tensor,
    /// The position of every token in its text.
    pub(crate) positions: Tensor,
    /// The number of the token in every cell; 0 where padding is, which attention masks.
    pub(crate) numbers: Tensor,
    /// The number of every text's first token.
    pub(crate) firsts: Tensor,
}

impl Padding {
    /// `None` where all texts have one length.
    pub(crate) fn new(texts: &[&Tokens], device: Device) -> Option<Self> {
        let longest = texts.iter().map(|text| text.ids.len()).max()?;
        if texts.iter().all(|text| text.ids.len() == longest) {
            return None;
        }
        let (mut cells, mut positions, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers = vec![0; texts.len() * longest];
        for (row, text) in texts.iter().enumerate() {
            firsts.push(cells.len() as i64);
            for position in 0..text.ids.len() {
                let cell = row * longest + position;
                numbers[cell] = cells.len() as i64;
                cells.push(cell as i64);
                positions.push(position as i64);
            }
        }
        let size = [texts.len() as i64, longest as i64];
        let tensor = |numbers: &[i64]| Tensor::from_slice(numbers).to_device(device);
        let cells = tensor(&cells);
        let present = Tensor::zeros([size[0] * size[1]], (Kind::Float, device))
            .index_fill(0, &cells, 1.0)
            .view(size);
        // As transformers does: the lowest number, which stays finite when something is added.
        let mask: Tensor = (1.0 - &present) * f64::from(f32::MIN);
        Some(Self {
            mask: mask.view([size[0], 1, 1, size[1]]).to_kind(Kind::Float),
            present,
            cells,
            positions: tensor(&positions),
            numbers: tensor(&numbers),
            firsts: tensor(&firsts),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::weights::Weights;
    use clariq_model::ModelFolder;
    use std::path::Path;

    fn network() -> Network {
        let folder =
            ModelFolder::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny"));
        let folder = folder.unwrap();
        let weights = Weights::read(&folder).unwrap();
        let mut network = Network::new(&folder.shape, &weights, Device::Cpu, Kind::Float).unwrap();
        tch::manual_seed(7);
        network.new_head(2);
        for (_, weight) in network.parameters() {
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
        of: fn(&Network, &Batch) -> Result<Tensor>,
    ) -> (Tensor, Vec<Tensor>) {
        let mut network = network();
        let result = of(&network, &Batch::new(texts, Device::Cpu, false)).unwrap();
        result.square().sum(Kind::Float).backward();
        let gradients = network.parameters().into_iter().map(|(_, weight)| weight.grad());
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
