//! Batches of texts, padded to the longest, with the positions of the tokens, so that padding is
//! computed in attention alone.

use crate::weights::torch;
use clariq_core::Result;
use clariq_folder::Tokens;
use tch::{Device, Kind, Tensor};

/// Texts that are computed together.
pub(crate) struct TokenBatch {
    /// Ids of the vocabulary, texts × tokens.
    pub(crate) ids: Tensor,
    /// 0 or 1, texts × tokens.
    pub(crate) segments: Tensor,
    /// The positions of the tokens; `None` if all texts have the same length.
    pub(crate) padding: Option<PaddingMasks>,
    /// The number of the last tokens of the first text that no token attends to.
    pub(crate) unattended: usize,
    /// True if all tokens count in the vectors of all texts.
    pub(crate) is_whole: bool,
    /// True if dropout is applied.
    pub(crate) train: bool,
}

impl TokenBatch {
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
            padding: PaddingMasks::new(texts, device),
            unattended: texts.first().map_or(0, |text| text.unattended),
            is_whole: texts.iter().all(|text| text.uncounted == 0),
            train,
        }
    }

    /// The number of texts, and the number of tokens of the longest.
    pub(crate) fn size(&self) -> (i64, i64) {
        let size = self.ids.size();
        (size[0], size[1])
    }

    /// The values of a texts × tokens table without those of padding.
    pub(crate) fn packed(&self, table: &Tensor) -> Result<Tensor> {
        let flat = table.reshape([-1]);
        self.padding.as_ref().map_or(Ok(flat.shallow_clone()), |padding| {
            flat.f_index_select(0, &padding.cells).map_err(torch("leaving padding out"))
        })
    }
}

/// The tokens of a batch whose texts are padded to the longest of them.
///
/// A *cell* is an index into the texts × tokens table, row by row; a *number* counts tokens only.
pub(crate) struct PaddingMasks {
    /// 0 for a token that is attended to and the lowest number for others and for padding, texts × 1 ×
    /// 1 × tokens.
    pub(crate) mask: Tensor,
    /// 1 for a token that counts in the vector of its text, and 0 for others and for padding, texts × tokens.
    pub(crate) present: Tensor,
    /// The cell of every token.
    pub(crate) cells: Tensor,
    /// The position of every token in its text.
    pub(crate) positions: Tensor,
    /// The number of the token in every cell; 0 for padding, which attention masks.
    pub(crate) numbers: Tensor,
    /// The number of every text's first token.
    pub(crate) firsts: Tensor,
}

impl PaddingMasks {
    /// Returns `None` if all texts have the same length, and all tokens are attended to and count.
    pub(crate) fn new(texts: &[&Tokens], device: Device) -> Option<Self> {
        let longest = texts.iter().map(|text| text.ids.len()).max()?;
        let is_full = |text: &&Tokens| {
            text.ids.len() == longest && text.unattended == 0 && text.uncounted == 0
        };
        if texts.iter().all(is_full) {
            return None;
        }
        let mut cells = Vec::new();
        let mut positions = Vec::new();
        let mut firsts = Vec::new();
        let mut attended = Vec::new();
        let mut counted = Vec::new();
        let mut numbers = vec![0; texts.len() * longest];
        for (row, text) in texts.iter().enumerate() {
            firsts.push(cells.len() as i64);
            for position in 0..text.ids.len() {
                let cell = row * longest + position;
                numbers[cell] = cells.len() as i64;
                cells.push(cell as i64);
                if position < text.ids.len() - text.unattended {
                    attended.push(cell as i64);
                }
                if position >= text.uncounted {
                    counted.push(cell as i64);
                }
                positions.push(position as i64);
            }
        }
        let size = [texts.len() as i64, longest as i64];
        let tensor = |numbers: &[i64]| Tensor::from_slice(numbers).to_device(device);
        let cells = tensor(&cells);
        let at = |cells: &Tensor| {
            let none = Tensor::zeros([size[0] * size[1]], (Kind::Float, device));
            none.index_fill(0, cells, 1.0).view(size)
        };
        let present = at(&tensor(&counted));
        // As in transformers: the lowest finite number, not infinity.
        let mask: Tensor = (1.0 - at(&tensor(&attended))) * f64::from(f32::MIN);
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
