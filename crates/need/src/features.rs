//! Features of requests, in blocks.

mod aspects;
mod core;

use crate::config::{Block, NeedConfig};
use crate::phrase::parse;
use crate::text::stems;
use aspects::Aspects;
use clariq_collections::documents::Bank;
use ndarray::Array2;
use rayon::prelude::*;

impl Block {
    /// The names of its features, in order.
    pub fn features(self) -> Vec<String> {
        match self {
            Self::Core => core::NAMES.map(str::to_owned).to_vec(),
            Self::Aspects => aspects::names().collect(),
        }
    }
}

/// The features of some requests, a row each.
#[derive(Debug, Clone, Default)]
pub struct Features {
    blocks: Vec<(Block, Array2<f64>)>,
    pub(crate) rows: usize,
}

impl Features {
    /// A block: requests × features.
    ///
    /// # Panics
    ///
    /// If the features were made without that block.
    pub fn block(&self, block: Block) -> &Array2<f64> {
        let found = self.blocks.iter().find(|(known, _)| *known == block);
        &found.unwrap_or_else(|| panic!("the block {block:?} was made")).1
    }
}

/// Extracts features. Everything that depends on the bank and not on a request is prepared.
pub struct Extractor {
    blocks: &'static [Block],
    aspects: Option<Aspects>,
}

impl Extractor {
    /// Prepares the blocks that a model uses.
    pub fn new(config: &NeedConfig, bank: &Bank) -> Self {
        let blocks = config.blocks();
        let aspects = blocks.contains(&Block::Aspects).then(|| Aspects::new(bank));
        Self { blocks, aspects }
    }

    /// Makes the features of requests.
    pub fn extract(&self, requests: &[&str]) -> Features {
        let parsed: Vec<_> = requests.par_iter().map(|request| parse(request)).collect();
        let content: Vec<_> =
            parsed.par_iter().map(|parsed| core::content_words(&parsed.phrase)).collect();
        let core = |row: usize| core::features(requests[row], &parsed[row], &content[row]);
        let mut features = Features { blocks: Vec::new(), rows: requests.len() };
        for &block in self.blocks {
            let values = match (block, &self.aspects) {
                (Block::Aspects, Some(aspects)) => {
                    let features = |words| aspects.features(&stems(words));
                    Array2::from(content.par_iter().map(features).collect::<Vec<_>>())
                }
                _ => Array2::from((0..requests.len()).map(core).collect::<Vec<_>>()),
            };
            features.blocks.push((block, values));
        }
        features
    }
}
