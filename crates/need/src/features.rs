//! Features of requests, in blocks.

mod aspects;
mod core;
mod projection;

use crate::config::{Block, NeedConfig};
use crate::phrase::parse;
use crate::text::stems;
use aspects::Aspects;
use clariq_collections::clariq::Bank;
use clariq_core::{Models, Result};
use ndarray::Array2;
use projection::Projection;
use rayon::prelude::*;

impl Block {
    /// The names of its features, in order.
    pub fn features(self) -> Vec<String> {
        let numbered =
            |of: &str| (1..=projection::AXES).map(|axis| format!("{of}_axis_{axis}")).collect();
        match self {
            Self::Core => core::NAMES.map(str::to_owned).to_vec(),
            Self::Aspects => aspects::names().collect(),
            Self::Phrase => numbered("phrase"),
            Self::Feedback => numbered("feedback"),
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
    /// One block: requests × features.
    ///
    /// # Panics
    ///
    /// If the features were made without that block.
    pub fn block(&self, block: Block) -> &Array2<f64> {
        let found = self.blocks.iter().find(|(known, _)| *known == block);
        &found.unwrap_or_else(|| panic!("the block {block:?} was made")).1
    }
}

/// Makes features: everything that depends on the bank and not on a request.
pub struct Extractor {
    blocks: Vec<Block>,
    aspects: Option<Aspects>,
    projection: Option<Projection>,
}

impl Extractor {
    /// Prepares the blocks that a model looks at. Its encoder is opened only if a block needs it.
    pub fn new(config: &NeedConfig, bank: &Bank, models: &dyn Models) -> Result<Self> {
        let blocks = config.blocks();
        let aspects = blocks.contains(&Block::Aspects).then(|| Aspects::new(bank));
        let project = |encoder: String| Projection::new(bank, models, &encoder);
        let projection = config.encoder().map(project).transpose()?;
        Ok(Self { blocks, aspects, projection })
    }

    /// The checksum of the encoder, if there is one.
    pub fn encoder_checksum(&self) -> Option<&str> {
        self.projection.as_ref().map(Projection::checksum)
    }

    /// Makes the features of requests.
    pub fn extract(&self, requests: &[&str]) -> Result<Features> {
        let parsed: Vec<_> = requests.par_iter().map(|request| parse(request)).collect();
        let content: Vec<_> =
            parsed.par_iter().map(|parsed| core::content_words(&parsed.phrase)).collect();
        let phrases: Vec<&str> = parsed.iter().map(|parsed| parsed.phrase.as_str()).collect();
        let space = match &self.projection {
            Some(space) => Some((space, space.encode(&phrases)?)),
            None => None,
        };
        let core = |row: usize| core::features(requests[row], &parsed[row], &content[row]);
        let mut features = Features { blocks: Vec::new(), rows: requests.len() };
        for &block in &self.blocks {
            let values = match (block, &self.aspects, &space) {
                (Block::Aspects, Some(aspects), _) => {
                    let features = |words| aspects.features(&stems(words));
                    Array2::from(content.par_iter().map(features).collect::<Vec<_>>())
                }
                (Block::Phrase, _, Some((space, vectors))) => space.project(vectors),
                (Block::Feedback, _, Some((space, vectors))) => {
                    space.project(&space.feedback(vectors))
                }
                _ => Array2::from((0..requests.len()).map(core).collect::<Vec<_>>()),
            };
            features.blocks.push((block, values));
        }
        Ok(features)
    }
}
