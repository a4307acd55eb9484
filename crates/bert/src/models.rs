//! Encoders, which give every text a vector, and cross-encoders, which score a request and a
//! document together.

use crate::batch::TokenBatch;
use crate::folder::{ModelFolder, Sentence};
use crate::inference::{ALONE, GROUP_TOKENS, Parallel};
use crate::network::Network;
use crate::pooling::PoolingHead;
use crate::tokens::{Prompt, Tokenize};
use crate::weights::Weights;
use clariq_core::{
    Embeddings, Encoder, ModelOptions, PairScorer, Precision, Progress, Result, Similarity, bail,
    sha256_hex,
};
use std::collections::HashMap;
use std::path::Path;
use tch::{Device, Kind, Tensor};

/// Counts the ways in which this crate has computed the same numbers: another order of sums, other
/// last bits.
const ARITHMETIC: u32 = 2;

/// A network with its tokenizer, as every kind of model has them.
pub(crate) struct TokenizedNetwork {
    pub(crate) network: Parallel,
    pub(crate) tokenize: Tokenize,
    /// The number of classes that a pair is scored by, if it can score pairs.
    classes: Option<i64>,
    /// The length of a vector.
    pub(crate) dim: usize,
    /// The checksum of the model together with what else its numbers depend on, to the last bit.
    pub(crate) checksum: String,
}

impl TokenizedNetwork {
    /// Opens a model whose vectors are made according to `sentence`.
    pub(crate) fn new(
        folder: &ModelFolder,
        sentence: &Sentence,
        options: &ModelOptions,
    ) -> Result<Self> {
        let kind = match options.precision {
            Precision::F32 => Kind::Float,
            Precision::Bf16 => Kind::BFloat16,
        };
        let device = device(options)?;
        let head = PoolingHead::read(sentence, device)?;
        let network = Network::new(folder, &Weights::read(folder)?, head, device, kind)?;
        let tokenize = Tokenize::open(folder, options.reading.max_tokens)?
            .with_prompts(&sentence.query_prompt, &sentence.document_prompt);
        let cut = match tokenize.most() {
            most if most < folder.shape.most_tokens() as usize => most.to_string(),
            _ => "whole".to_owned(),
        };
        let precision = options.precision;
        let computes_with = options.computes_with();
        let checksum = &folder.checksum;
        let made_of = format!("{ARITHMETIC} {checksum} {precision} {cut} {computes_with}");
        Ok(Self {
            classes: network.classes(),
            network: Parallel::new(network.for_inference(), options.threads),
            tokenize,
            dim: sentence.dim,
            checksum: sha256_hex(made_of.as_bytes()),
        })
    }
}

/// The device that options name, if libtorch has it.
pub(crate) fn device(options: &ModelOptions) -> Result<Device> {
    let name = &options.device;
    let number = match name.as_str() {
        "cpu" => return Ok(Device::Cpu),
        "cuda" => Some("0"),
        other => other.strip_prefix("cuda:"),
    };
    let Some(number) = number.and_then(|number| number.parse::<usize>().ok()) else {
        bail!("--device", "`cpu` or `cuda:0`", "`{name}`", "`cuda:1` is the second GPU");
    };
    let found = usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
    if number >= found {
        bail!(
            "--device",
            "one of {found} GPUs that libtorch sees, or `cpu`",
            "`{name}`",
            "a CUDA build of libtorch 2.4 is needed: `LIBTORCH=DIR scripts/setup`, and build again"
        );
    }
    Ok(Device::Cuda(number))
}

/// A model that gives a text one vector, as its folder of sentence-transformers says.
pub struct BertEncoder {
    reader: TokenizedNetwork,
    sentence: Sentence,
}

impl BertEncoder {
    /// Reads an encoder.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self> {
        let folder = ModelFolder::open(path)?;
        let said = folder.sentence()?;
        let sentence = said.clone().read_as(path, &options.reading)?;
        let mut reader = TokenizedNetwork::new(&folder, &sentence, options)?;
        // The checksum of the folder covers its own settings.
        if sentence != said {
            let made_of = format!("{} {}", reader.checksum, sentence.digest());
            reader.checksum = sha256_hex(made_of.as_bytes());
        }
        Ok(Self { reader, sentence })
    }

    /// Encodes in groups of at most so many tokens, or of one text. Each text is encoded once,
    /// however often it occurs.
    fn encode_in_groups(
        &self,
        texts: &[&str],
        prompt: Prompt,
        tokens: usize,
        progress: Progress,
    ) -> Result<Embeddings> {
        let TokenizedNetwork { network, tokenize, dim, .. } = &self.reader;
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut distinct = Vec::new();
        let mut order = Vec::with_capacity(texts.len());
        for &text in texts {
            order.push(*numbers.entry(text).or_insert_with(|| {
                distinct.push(text);
                distinct.len() - 1
            }));
        }
        let encoded = tokenize.texts(&distinct, prompt)?;
        let values = network.rows(&encoded, tokens, Network::pooled, progress)?;
        progress((texts.len() - distinct.len()) as u64);
        let distinct = Embeddings { dim: *dim, values };
        let values = order.into_iter().flat_map(|number| distinct.row(number)).copied().collect();
        Ok(Embeddings { dim: *dim, values })
    }
}

impl Encoder for BertEncoder {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_in_groups(texts, Prompt::Query, ALONE, progress)
    }

    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_in_groups(texts, Prompt::Document, GROUP_TOKENS, progress)
    }

    fn encode_documents_alone(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_in_groups(texts, Prompt::Document, ALONE, progress)
    }

    fn similarity(&self) -> Similarity {
        self.sentence.similarity
    }

    fn cut(&self) -> usize {
        self.reader.tokenize.cut()
    }

    fn checksum(&self) -> &str {
        &self.reader.checksum
    }
}

/// A model with a classifier over its first token, of one class or of two.
pub struct CrossEncoder(TokenizedNetwork);

impl CrossEncoder {
    /// Reads a cross-encoder.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self> {
        let folder = ModelFolder::open(path)?;
        folder.check_cross_encoder()?;
        let reader = TokenizedNetwork::new(
            &folder,
            &Sentence::usual(folder.shape.hidden as usize),
            options,
        )?;
        match reader.classes {
            Some(1 | 2) => Ok(Self(reader)),
            Some(other) => {
                let hint = "a model for another task cannot score pairs";
                bail!(&folder.weights[0], "a classifier of 1 or 2 classes", "{other}", hint)
            }
            None => {
                let hint = "a cross-encoder needs the layers that score a pair; an encoder can be \
                            fine-tuned into one";
                bail!(&folder.weights[0], "the layers that score a pair", "an encoder alone", hint)
            }
        }
    }
}

/// One score per pair. Of one class, it is the logit; of two, the difference of the logits, which
/// orders pairs as the probability of the second class does and never rounds to 0 or 1.
pub(crate) fn scores(network: &Network, batch: &TokenBatch) -> Result<Tensor> {
    let logits = network.logits(batch)?;
    Ok(match logits.size()[1] {
        1 => logits.select(1, 0),
        _ => logits.select(1, 1) - logits.select(1, 0),
    })
}

impl PairScorer for CrossEncoder {
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>> {
        let tokens = self.0.tokenize.pairs(pairs)?;
        self.0.network.rows(&tokens, GROUP_TOKENS, scores, progress)
    }

    fn cut(&self) -> usize {
        self.0.tokenize.cut()
    }

    fn checksum(&self) -> &str {
        &self.0.checksum
    }
}
