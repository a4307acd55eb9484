//! What is in a model's folder? Any Hugging Face folder of a BERT: `config.json`, weights, tokenizer.

use crate::error::Error;
use clariq_core::{Location, Problem, ProblemKind, plain_words, sha256_hex};
use rust_bert::bert::BertConfig;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder whose configuration was read and whose files are there.
#[derive(Debug, Clone)]
pub struct ModelFolder {
    /// The folder.
    pub path: PathBuf,
    /// The text of `config.json`.
    pub config: Value,
    /// What the architecture needs of it.
    pub shape: Shape,
    /// Digest over configuration, weights and tokenizer.
    pub checksum: String,
}

/// The numbers of a BERT.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Length of a token's vector.
    pub hidden: i64,
    /// Layers.
    pub layers: i64,
    /// Attention heads.
    pub heads: i64,
    /// Length of the vector inside a feed-forward layer.
    pub intermediate: i64,
    /// Words of the vocabulary.
    pub vocabulary: i64,
    /// Tokens that a text can have at most.
    pub positions: i64,
    /// Number of segment types: 2 where the two texts of a pair can be distinguished.
    pub segments: i64,
    /// What is added to a variance before its root is taken.
    pub epsilon: f64,
    /// Dropout of hidden states while training.
    pub dropout: f64,
    /// Dropout of attention while training.
    pub attention_dropout: f64,
    /// The activation of feed-forward layers.
    pub activation: Activation,
}

/// The activations of published BERTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// x Φ(x).
    Gelu,
    /// Its approximation by tanh.
    GeluTanh,
    /// max(x, 0).
    Relu,
}

/// The file names that weights can have, in the order in which they are looked for.
const WEIGHTS: [&str; 2] = ["model.safetensors", "pytorch_model.bin"];
/// The files that a tokenizer can be read from, in the order in which they are looked for.
const TOKENIZERS: [&str; 2] = ["tokenizer.json", "vocab.txt"];

impl ModelFolder {
    /// Reads the configuration, and the other files to know them again.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let at = path.join("config.json");
        let text = read(&at, "the configuration of a BERT")?;
        let config: Value = serde_json::from_slice(&text).map_err(|error| {
            let (expected, found) = plain_words(&error.to_string(), "a JSON object");
            problem(&at, expected, found).hint("copy the file again from where the model came from")
        })?;
        let shape = Shape::read(&at, &config)?;
        let mut folder = Self { path: path.to_owned(), config, shape, checksum: String::new() };
        let weights = read(&folder.weights()?, "weights")?;
        let tokenizer = read(&folder.tokenizer()?, "a tokenizer")?;
        let pieces = [&text[..], &weights, &tokenizer].map(|bytes| clariq_core::sha256([bytes]));
        folder.checksum =
            sha256_hex(pieces.map(|checksum| checksum.to_string()).concat().as_bytes());
        Ok(folder)
    }

    /// The file with the weights.
    pub fn weights(&self) -> Result<PathBuf, Error> {
        self.first_of(&WEIGHTS, "weights")
    }

    /// The file that the tokenizer is read from.
    pub fn tokenizer(&self) -> Result<PathBuf, Error> {
        self.first_of(&TOKENIZERS, "a tokenizer")
    }

    fn first_of(&self, names: &[&str], what: &str) -> Result<PathBuf, Error> {
        names.iter().map(|name| self.path.join(name)).find(|path| path.is_file()).ok_or_else(|| {
            let expected = format!("{what}: {}", names.join(" or "));
            let kind = ProblemKind::MissingFile;
            Problem::new(
                Location::file(self.path.display().to_string()),
                kind,
                expected,
                "no such file",
            )
            .hint("a Hugging Face folder of a BERT has config.json, weights and a tokenizer")
            .into()
        })
    }
}

pub(crate) fn problem(at: &Path, expected: impl Into<String>, found: impl Into<String>) -> Problem {
    Problem::new(Location::file(at.display().to_string()), ProblemKind::Model, expected, found)
}

fn read(path: &Path, what: &str) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| {
        let kind = ProblemKind::MissingFile;
        Problem::new(Location::file(path.display().to_string()), kind, what, error.to_string())
            .hint("a model is a Hugging Face folder; `scripts/setup` installs the default one")
            .into()
    })
}

impl Shape {
    fn read(at: &Path, config: &Value) -> Result<Self, Error> {
        let family = config["model_type"].as_str().unwrap_or("bert");
        if family != "bert" {
            return Err(problem(at, "model_type \"bert\"", format!("{family:?}"))
                .hint("only BERT is supported; RoBERTa, DistilBERT, ELECTRA and so on are other architectures")
                .into());
        }
        let known: BertConfig = serde_json::from_value(config.clone()).map_err(|error| {
            let (expected, found) = plain_words(&error.to_string(), "the configuration of a BERT");
            problem(at, expected, found).hint("copy the file again from where the model came from")
        })?;
        let shape = Self {
            hidden: known.hidden_size,
            layers: known.num_hidden_layers,
            heads: known.num_attention_heads,
            intermediate: known.intermediate_size,
            vocabulary: known.vocab_size,
            positions: known.max_position_embeddings,
            segments: known.type_vocab_size,
            epsilon: config["layer_norm_eps"].as_f64().unwrap_or(1e-12),
            dropout: known.hidden_dropout_prob,
            attention_dropout: known.attention_probs_dropout_prob,
            activation: activation(at, config)?,
        };
        let counts = [
            shape.hidden,
            shape.layers,
            shape.heads,
            shape.intermediate,
            shape.vocabulary,
            shape.positions,
        ];
        if counts.iter().any(|&count| count < 1)
            || shape.hidden % shape.heads != 0
            || shape.segments < 1
        {
            let found =
                format!("hidden_size {} with {} heads, {counts:?}", shape.hidden, shape.heads);
            return Err(problem(
                at,
                "positive sizes, hidden_size a multiple of num_attention_heads",
                found,
            )
            .hint("copy the file again from where the model came from")
            .into());
        }
        let absolute = config["position_embedding_type"].as_str().unwrap_or("absolute");
        if absolute != "absolute" {
            let expected = "position_embedding_type \"absolute\"";
            return Err(problem(at, expected, format!("{absolute:?}"))
                .hint("relative positions are not supported")
                .into());
        }
        Ok(shape)
    }
}

fn activation(at: &Path, config: &Value) -> Result<Activation, Error> {
    match config["hidden_act"].as_str().unwrap_or("gelu") {
        "gelu" => Ok(Activation::Gelu),
        "gelu_new" | "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
        "relu" => Ok(Activation::Relu),
        other => Err(problem(at, "hidden_act `gelu`, `gelu_new` or `relu`", format!("`{other}`"))
            .hint("no published BERT has another")
            .into()),
    }
}
