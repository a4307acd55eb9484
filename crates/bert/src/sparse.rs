//! Sparse encoders: the logits of a masked language model, reduced to a weight for each word of the
//! vocabulary (Formal, Piwowarski and Clinchant, "SPLADE", SIGIR 2021).

use crate::batch::TokenBatch;
use crate::inference::{ALONE, GROUP_TOKENS, Parallel};
use crate::memory::expect_room;
use crate::models::{device, kind};
use crate::network::{Network, WordHead};
use crate::pooling::PoolingHead;
use crate::weights::{Weights, values};
use clariq_core::{
    Checksum, CutTexts, ModelOptions, Progress, Result, SparseEncoder, SparseVectors, TextSide,
    bail,
};
use clariq_folder::{Lookup, Sentence, SparseFolder, Tokenize};
use std::borrow::Cow;
use std::path::Path;
use tch::{Device, Kind};

/// The folder of a model that can be trained: its network reads requests as well.
pub(crate) fn sparse_base(path: &Path) -> Result<SparseFolder> {
    let folder = SparseFolder::open(path)?;
    let is_below = folder.transformer.path != folder.transformer.root;
    if folder.lookup.is_some() || is_below {
        let found = if is_below { "a transformer in a folder below" } else { "a table" };
        let hint = "train the masked language model of its documents, as a plain folder";
        bail!(path, "one network for requests and documents", found, hint);
    }
    Ok(folder)
}

/// The network of a folder, with its head.
pub(crate) fn network(folder: &SparseFolder, device: Device, kind: Kind) -> Result<Network> {
    let transformer = &folder.transformer;
    let weights = Weights::read(transformer)?;
    let unused = PoolingHead::read(&Sentence::usual(transformer.shape.hidden as usize), device)?;
    let mut network = Network::new(transformer, &weights, unused, device, kind)?;
    network.word_head = Some(WordHead::read(folder, &weights, device, kind)?);
    Ok(network)
}

/// Words with their weights, by ascending number.
type SparseVector = Vec<(u32, f32)>;

/// The words with a weight, of each text.
fn words(network: &Network, batch: &TokenBatch) -> Result<Vec<SparseVector>> {
    let rows = values(&network.pooled(batch)?)?;
    let rows = rows.chunks_exact(network.shape.vocabulary as usize);
    let words = rows.map(|row| (0..).zip(row.iter().copied()));
    Ok(words.map(|words| words.filter(|(_, weight)| *weight != 0.0).collect()).collect())
}

/// A model that gives the words of a text weights, according to its folder.
pub struct SparseBert {
    network: Parallel,
    tokenize: Tokenize,
    /// The table that gives requests their weights, in place of the network.
    lookup: Option<Lookup>,
    checksum: Checksum,
    name: String,
}

impl SparseBert {
    /// Reads a sparse encoder.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self> {
        let folder = SparseFolder::open(path)?;
        expect_room(&folder.transformer.weights, kind(options))?;
        let network = network(&folder, device(options)?, kind(options))?.for_inference();
        let tokenize = Tokenize::open(&folder.transformer, options.reading.max_tokens)?
            .with_prompts(&folder.prompts)
            .with_empty_texts();
        Ok(Self {
            network: Parallel::new(network, options.threads),
            tokenize,
            lookup: folder.open_lookup(options)?,
            checksum: folder.checksum_with(options),
            name: path.display().to_string(),
        })
    }

    fn encode_in_groups(
        &self,
        texts: &[&str],
        side: TextSide,
        group_tokens: usize,
        progress: Progress,
    ) -> Result<SparseVectors> {
        let tokens = self.tokenize.texts(texts, side)?;
        let vectors = self.network.each(&tokens, group_tokens, words, progress)?;
        for (vector, text) in vectors.iter().zip(texts) {
            if let Some((word, weight)) = vector.iter().find(|(_, weight)| !weight.is_finite()) {
                let word = self.word(*word);
                let text: String = text.chars().take(40).collect();
                let hint = "the weights of the model are damaged, or not those of its config.json";
                let found = format!("{weight} for `{word}` of {text:?}");
                bail!(&*self.name, "weights of words that are numbers", found, hint);
            }
        }
        Ok(vectors.into_iter().collect())
    }
}

impl SparseEncoder for SparseBert {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<SparseVectors> {
        match &self.lookup {
            Some(lookup) => lookup.encode(texts, progress),
            None => self.encode_in_groups(texts, TextSide::Request, ALONE, progress),
        }
    }

    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<SparseVectors> {
        self.encode_in_groups(texts, TextSide::Document, GROUP_TOKENS, progress)
    }

    fn word(&self, number: u32) -> Cow<'_, str> {
        self.tokenize.word_or_number(number)
    }

    fn cut(&self) -> CutTexts {
        let own = self.tokenize.cut();
        let requests = self.lookup.as_ref().map_or_else(CutTexts::default, SparseEncoder::cut);
        CutTexts { count: own.count + requests.count, all: own.all + requests.all, ..own }
    }

    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}
