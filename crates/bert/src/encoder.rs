//! Encoders, which give every text a vector.

use crate::network::Network;
use crate::options::{device, kind, sign};
use crate::streams::{GROUP_TOKENS, answer_groups};
use crate::tokens::{Tokenize, groups};
use crate::weights::Weights;
use clariq_core::Error;
use clariq_core::ModelOptions;
use clariq_core::{Embeddings, Progress};
use clariq_model::ModelFolder;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

/// A BERT whose tokens are averaged into one vector of length 1, as sentence-transformers does.
pub struct BertEncoder {
    network: Mutex<Network>,
    tokenize: Tokenize,
    dim: usize,
    threads: usize,
    checksum: String,
}

impl BertEncoder {
    /// Reads an encoder.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self, Error> {
        let folder = ModelFolder::open(path)?;
        let weights = Weights::read(&folder)?;
        let network =
            Network::new(&folder.shape, &weights, device(options)?, kind(options.precision))?
                .for_inference();
        Ok(Self {
            network: Mutex::new(network),
            tokenize: Tokenize::open(&folder, options.max_tokens)?,
            dim: folder.shape.hidden as usize,
            threads: options.threads,
            checksum: sign(options, &folder.checksum),
        })
    }
}

impl BertEncoder {
    /// Encodes in groups of at most so many tokens, or of one text.
    fn encode_in_groups(
        &self,
        texts: &[&str],
        tokens: usize,
        progress: Progress,
    ) -> Result<Embeddings, Error> {
        // Each text is encoded once, however often it occurs.
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut unique = Vec::new();
        let order: Vec<usize> = texts
            .iter()
            .map(|&text| {
                *places.entry(text).or_insert_with(|| {
                    unique.push(text);
                    unique.len() - 1
                })
            })
            .collect();
        let tokenized = self.tokenize.texts(&unique)?;
        let groups = groups(&tokenized, tokens);
        let values = answer_groups(
            &self.network,
            &tokenized,
            &groups,
            self.dim,
            self.threads,
            Network::pooled_mean,
            progress,
        )?;
        progress((texts.len() - unique.len()) as u64);
        let distinct = Embeddings { dim: self.dim, values };
        let values = order.into_iter().flat_map(|place| distinct.row(place)).copied().collect();
        Ok(Embeddings { dim: self.dim, values })
    }
}

impl clariq_core::Encoder for BertEncoder {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings, Error> {
        self.encode_in_groups(texts, GROUP_TOKENS, progress)
    }

    fn encode_apart(&self, texts: &[&str], progress: Progress) -> Result<Embeddings, Error> {
        self.encode_in_groups(texts, 1, progress)
    }

    fn checksum(&self) -> &str {
        &self.checksum
    }
}
