//! Cross-encoders, which score a request and a document together.

use crate::network::Network;
use crate::options::{device, kind, sign};
use crate::streams::answer_all;
use crate::tokens::Tokenize;
use crate::weights::Weights;
use clariq_core::Error;
use clariq_core::ModelOptions;
use clariq_core::Progress;
use clariq_model::{ModelFolder, check_head};
use std::path::Path;
use std::sync::Mutex;
use tch::Tensor;

/// A BERT with a classifier over `[CLS]`. Of one class, its logit is the score; of two, the
/// difference of the logits, which orders pairs as the probability of the second class does and
/// never rounds to 0 or 1.
pub struct CrossEncoder {
    network: Mutex<Network>,
    tokenize: Tokenize,
    threads: usize,
    checksum: String,
}

impl CrossEncoder {
    /// Reads a cross-encoder.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self, Error> {
        let folder = ModelFolder::open(path)?;
        let weights = Weights::read(&folder)?;
        check_head(&folder.weights()?, &folder.shape, &weights.shapes())?;
        let network =
            Network::new(&folder.shape, &weights, device(options)?, kind(options.precision))?
                .for_inference();
        Ok(Self {
            network: Mutex::new(network),
            tokenize: Tokenize::open(&folder, options.max_tokens)?,
            threads: options.threads,
            checksum: sign(options, &folder.checksum),
        })
    }
}

/// Logits of one or two classes as one score per text.
pub(crate) fn score(logits: &Tensor) -> Tensor {
    match logits.size()[1] {
        1 => logits.select(1, 0),
        _ => logits.select(1, 1) - logits.select(1, 0),
    }
}

impl clariq_core::PairScorer for CrossEncoder {
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>, Error> {
        let tokens = self.tokenize.pairs(pairs)?;
        let answer =
            |network: &Network, input: &crate::network::Input| Ok(score(&network.logits(input)?));
        Ok(answer_all(&self.network, &tokens, 1, self.threads, answer, progress)?)
    }

    fn checksum(&self) -> &str {
        &self.checksum
    }
}
