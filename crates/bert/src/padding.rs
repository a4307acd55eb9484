//! Where the tokens of texts of different length are, so that padding is computed in attention alone.

use crate::tokens::Tokens;
use tch::{Device, Kind, Tensor};

/// The tokens of a batch whose texts are padded to the longest of them.
///
/// A *place* is a cell of the texts × tokens table, counted row by row; a *number* counts tokens
/// alone.
pub(crate) struct Padding {
    /// 0 where a token is, the lowest number where padding is, texts × 1 × 1 × tokens.
    pub(crate) mask: Tensor,
    /// 1 where a token is, texts × tokens.
    pub(crate) present: Tensor,
    /// The place of every token.
    pub(crate) places: Tensor,
    /// The position of every token in its text.
    pub(crate) positions: Tensor,
    /// The number of the token at every place; 0 where padding is, which attention masks.
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
        let (mut places, mut positions, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers = vec![0; texts.len() * longest];
        for (row, text) in texts.iter().enumerate() {
            firsts.push(places.len() as i64);
            for position in 0..text.ids.len() {
                let place = row * longest + position;
                numbers[place] = places.len() as i64;
                places.push(place as i64);
                positions.push(position as i64);
            }
        }
        let size = [texts.len() as i64, longest as i64];
        let tensor = |numbers: &[i64]| Tensor::from_slice(numbers).to_device(device);
        let places = tensor(&places);
        let present = Tensor::zeros([size[0] * size[1]], (Kind::Float, device))
            .index_fill(0, &places, 1.0)
            .view(size);
        // As transformers does: the lowest number, which stays finite when something is added.
        let mask: Tensor = (1.0 - &present) * f64::from(f32::MIN);
        Some(Self {
            mask: mask.view([size[0], 1, 1, size[1]]).to_kind(Kind::Float),
            present,
            places,
            positions: tensor(&positions),
            numbers: tensor(&numbers),
            firsts: tensor(&firsts),
        })
    }
}
