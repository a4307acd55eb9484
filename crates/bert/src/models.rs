//! Encoders, which give every text a vector, and cross-encoders, which score a request and a
//! document together.

use crate::batch::TokenBatch;
use crate::inference::{ALONE, Forward, GROUP_TOKENS, Parallel};
use crate::late::TokenChoice;
use crate::memory::expect_room;
use crate::names::head_names;
use crate::network::{Network, WORDS};
use crate::pooling::PoolingHead;
use crate::weights::Weights;
use clariq_core::{
    Checksum, CutTexts, Embeddings, Encoder, ModelOptions, PairScorer, Pooling, Precision,
    ProblemKind, Progress, Result, Similarity, TextSide, TokenVectors, bail, gpu_number, problem,
};
use clariq_folder::{ModelFolder, PairScoring, ScoredBy, Sentence, Tokenize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use tch::{Device, Kind, Tensor};

/// The matrix of the logits of words in a model that writes.
const WORD_MATRIX: &str = "lm_head";

/// The version of the arithmetic. It is raised when the last bits of results change, for example by
/// another order of sums.
const ARITHMETIC: u32 = 2;

/// A network with its tokenizer.
pub(crate) struct TokenizedNetwork {
    pub(crate) network: Parallel,
    pub(crate) tokenize: Tokenize,
    /// The number of classes of the classifier, if there is one.
    classes: Option<i64>,
    /// The length of a vector.
    pub(crate) dim: usize,
    /// The checksum of everything that the model's numbers depend on, to the last bit.
    pub(crate) checksum: Checksum,
}

impl TokenizedNetwork {
    /// Opens a model with the pooling and prompts of `sentence`.
    pub(crate) fn new(
        folder: &ModelFolder,
        sentence: &Sentence,
        options: &ModelOptions,
    ) -> Result<Self> {
        expect_room(&folder.weights, kind(options))?;
        Self::of(folder, &Weights::read(folder)?, sentence, options)
    }

    /// Makes a model of weights that are read.
    fn of(
        folder: &ModelFolder,
        weights: &Weights,
        sentence: &Sentence,
        options: &ModelOptions,
    ) -> Result<Self> {
        let device = device(options)?;
        let head = PoolingHead::read(sentence, device)?;
        let network = Network::new(folder, weights, head, device, kind(options))?;
        let tokenize =
            Tokenize::open(folder, options.reading.max_tokens)?.with_prompts(&sentence.prompts);
        let cut = match tokenize.most() {
            most if most < folder.shape.most_tokens() as usize => most.to_string(),
            _ => "whole".to_owned(),
        };
        let precision = options.precision;
        let computes_with = options.computes_with();
        let checksum = &folder.checksum;
        let digest = format!("{ARITHMETIC} {checksum} {precision} {cut} {computes_with}");
        Ok(Self {
            classes: network.classes(),
            network: Parallel::new(network.for_inference(), options.threads),
            tokenize,
            dim: sentence.dim,
            checksum: Checksum::of(digest.as_bytes()),
        })
    }
}

/// The numbers of a network.
pub(crate) fn kind(options: &ModelOptions) -> Kind {
    match options.precision {
        Precision::F32 => Kind::Float,
        Precision::Bf16 => Kind::BFloat16,
    }
}

/// The device that options name, if libtorch has it.
pub(crate) fn device(options: &ModelOptions) -> Result<Device> {
    let name = &options.device;
    let Some(number) = gpu_number(name)? else { return Ok(Device::Cpu) };
    let count = usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
    if number >= count {
        let hint = if has_cuda() {
            "this libtorch has CUDA: `nvidia-smi` shows the GPUs that the driver offers"
        } else {
            "a CUDA build of libtorch 2.4 is needed"
        };
        let expected = format!("one of {count} GPUs that libtorch sees, or `cpu`");
        let problem = problem!("--device", expected, "`{name}`", hint);
        return Err(problem.kind(ProblemKind::Engine).into());
    }
    Ok(Device::Cuda(number))
}

/// True if libtorch was built with CUDA, whether or not there is a GPU.
pub(crate) fn has_cuda() -> bool {
    tch::utils::has_cudart()
}

/// A model that gives a text one vector, according to its folder of sentence-transformers.
pub struct BertEncoder {
    reader: TokenizedNetwork,
    sentence: Sentence,
    tokens: TokenChoice,
    name: String,
}

impl BertEncoder {
    /// Reads an encoder.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self> {
        let folder = ModelFolder::open(path)?;
        folder.expect_encoder(options.reading.pooling.is_some())?;
        let default = folder.sentence()?;
        let sentence = default.clone().with_overrides(path, &options.reading)?;
        let mut reader = TokenizedNetwork::new(&folder, &sentence, options)?;
        // The checksum of the folder covers its own settings.
        if sentence != default {
            let digest = format!("{} {}", reader.checksum, sentence.digest());
            reader.checksum = Checksum::of(digest.as_bytes());
        }
        let late = sentence.late.clone().unwrap_or_default();
        reader.tokenize.set_lengths(late.lengths);
        reader.tokenize.mark(&late.marks)?;
        let tokens = TokenChoice::new(late, &reader.tokenize)?;
        Ok(Self { reader, sentence, tokens, name: path.display().to_string() })
    }

    /// The ids of the tokens of texts with their vectors one after the other, as
    /// [`Encoder::encode_tokens`] has them before they are rounded to 16 bits.
    pub fn exact_tokens(
        &self,
        texts: &[&str],
        side: TextSide,
    ) -> Result<Vec<(Vec<u32>, Vec<f32>)>> {
        let TokenizedNetwork { network, tokenize, .. } = &self.reader;
        self.tokens.vectors((network, tokenize), (texts, side), |ids, rows| (ids, rows), &|_| {})
    }

    /// Encodes texts in groups of at most `group_tokens` tokens, or of one text. A text that occurs
    /// several times is encoded once.
    fn encode_in_groups(
        &self,
        texts: &[&str],
        side: TextSide,
        group_tokens: usize,
        progress: Progress,
    ) -> Result<Embeddings> {
        let TokenizedNetwork { network, tokenize, dim, .. } = &self.reader;
        if self.sentence.poolings.is_empty() {
            let hint = "the stage `maxsim` takes it";
            let expected = "an encoder that gives each text a vector";
            bail!(&*self.name, expected, "one that gives each token a vector", hint);
        }
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut distinct = Vec::new();
        let mut order = Vec::with_capacity(texts.len());
        for &text in texts {
            let number = *numbers.entry(text).or_insert(distinct.len());
            if number == distinct.len() {
                distinct.push(text);
            }
            order.push(number);
        }
        let tokens = tokenize.texts(&distinct, side)?;
        let values = network.rows(&tokens, group_tokens, Network::pooled, progress)?;
        progress((texts.len() - distinct.len()) as u64);
        let distinct = Embeddings { dim: *dim, values };
        let values = order.into_iter().flat_map(|number| distinct.row(number)).copied().collect();
        Ok(Embeddings { dim: *dim, values })
    }
}

impl Encoder for BertEncoder {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_in_groups(texts, TextSide::Request, ALONE, progress)
    }

    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_in_groups(texts, TextSide::Document, GROUP_TOKENS, progress)
    }

    fn encode_documents_alone(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode_in_groups(texts, TextSide::Document, ALONE, progress)
    }

    fn encode_tokens(
        &self,
        texts: &[&str],
        side: TextSide,
        progress: Progress,
    ) -> Result<Vec<TokenVectors>> {
        let TokenizedNetwork { network, tokenize, .. } = &self.reader;
        let in_16_bits = |tokens, rows: Vec<f32>| TokenVectors::new(tokens, &rows);
        self.tokens.vectors((network, tokenize), (texts, side), in_16_bits, progress)
    }

    fn token(&self, id: u32) -> Cow<'_, str> {
        self.reader.tokenize.word_or_number(id)
    }

    fn similarity(&self) -> Similarity {
        self.sentence.similarity
    }

    fn cut(&self) -> CutTexts {
        self.reader.tokenize.cut()
    }

    fn checksum(&self) -> &Checksum {
        &self.reader.checksum
    }
}

/// A model that gives a pair one score or two: by a classifier, or by the modules of its folder.
pub struct CrossEncoder {
    reader: TokenizedNetwork,
    forward: Forward,
}

impl CrossEncoder {
    /// Reads a cross-encoder.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self> {
        let folder = ModelFolder::open(path)?;
        let PairScoring { sentence, by } = folder.pair_scoring()?;
        let reader = match by {
            ScoredBy::Words { yes, no } => of_words(folder.clone(), &sentence, (yes, no), options)?,
            _ => TokenizedNetwork::new(&folder, &sentence, options)?,
        };
        if by == ScoredBy::Classifier && folder.shape.classifier.pooling == Pooling::Cls {
            reader.tokenize.expect_padding_behind()?;
        }
        let (classes, forward) = match by {
            ScoredBy::Modules => {
                (i64::try_from(sentence.full_dim).ok(), scores_of_modules as Forward)
            }
            _ => (reader.classes, scores as Forward),
        };
        match classes {
            Some(1 | 2) => Ok(Self { reader, forward }),
            Some(other) => {
                let hint = "a model for another task cannot score pairs";
                bail!(&folder.weights[0], "a classifier of 1 or 2 classes", "{other}", hint)
            }
            None => {
                let hint = "a cross-encoder needs the layers that score a pair; an encoder can be \
                            fine-tuned into one";
                bail!(&folder.weights[0], "the layers that score a pair", "only an encoder", hint)
            }
        }
    }
}

/// A model whose classifier is the row of a word in the matrix of its logits, or the difference of two rows.
fn of_words(
    mut folder: ModelFolder,
    sentence: &Sentence,
    (yes, no): (i64, Option<i64>),
    options: &ModelOptions,
) -> Result<TokenizedNetwork> {
    expect_room(&folder.weights, kind(options))?;
    let mut weights = Weights::read(&folder)?;
    let is_tied = folder.config.get("tie_word_embeddings") == Some(&Value::Bool(true));
    let table = if is_tied && !weights.has(WORD_MATRIX) {
        WORDS.to_owned()
    } else {
        format!("{WORD_MATRIX}.weight")
    };
    let table = weights.get(&table, &[folder.shape.vocabulary, folder.shape.hidden])?;
    let mut row = table.get(yes);
    if let Some(no) = no {
        row -= table.get(no);
    }
    let (_, classifier) = head_names(folder.shape.family);
    weights.tensors.insert(format!("{classifier}.weight"), row.unsqueeze(0));
    // The last token counts, whatever it is.
    folder.shape.classifier.padding = None;
    TokenizedNetwork::of(&folder, &weights, sentence, options)
}

/// One score per pair: the logit of a single class, or the difference of two logits, which orders
/// pairs as the probability of the second class does and never rounds to 0 or 1.
pub(crate) fn scores(network: &Network, batch: &TokenBatch) -> Result<Tensor> {
    Ok(one_score(&network.logits(batch)?))
}

/// The same for a folder whose modules score pairs.
fn scores_of_modules(network: &Network, batch: &TokenBatch) -> Result<Tensor> {
    Ok(one_score(&network.pooled(batch)?))
}

fn one_score(logits: &Tensor) -> Tensor {
    match logits.size()[1] {
        1 => logits.select(1, 0),
        _ => logits.select(1, 1) - logits.select(1, 0),
    }
}

impl PairScorer for CrossEncoder {
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>> {
        let TokenizedNetwork { network, tokenize, .. } = &self.reader;
        network.rows(&tokenize.pairs(pairs)?, GROUP_TOKENS, self.forward, progress)
    }

    fn cut(&self) -> CutTexts {
        self.reader.tokenize.cut()
    }

    fn checksum(&self) -> &Checksum {
        &self.reader.checksum
    }
}
