//! Batches for training: texts padded to the longest of them, and masked.

use crate::network::Input;
use crate::tokens::Tokens;
use tch::{Device, Kind, Tensor};

/// Texts of a step.
pub(crate) struct Batch {
    ids: Tensor,
    segments: Tensor,
    mask: Option<Tensor>,
    /// 1 where a token is, texts × tokens; `None` where all texts have one length.
    pub(crate) present: Option<Tensor>,
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
        let (ids, segments) = (table(|text| &text.ids), table(|text| &text.segments));
        if texts.iter().all(|text| text.ids.len() == longest) {
            return Self { ids, segments, mask: None, present: None };
        }
        let flat: Vec<f32> = texts
            .iter()
            .flat_map(|text| {
                (0..longest).map(|place| if place < text.ids.len() { 1.0 } else { 0.0 })
            })
            .collect();
        let present = Tensor::from_slice(&flat).view(size).to_device(device);
        // As transformers does: the lowest number, which stays finite when something is added.
        let mask: Tensor = (1.0 - &present) * f64::from(f32::MIN);
        Self {
            ids,
            segments,
            mask: Some(mask.view([size[0], 1, 1, size[1]]).to_kind(Kind::Float)),
            present: Some(present),
        }
    }

    pub(crate) fn input(&self, train: bool) -> Input<'_> {
        Input { ids: &self.ids, segments: &self.segments, mask: self.mask.as_ref(), train }
    }
}
