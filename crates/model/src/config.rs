//! The sizes of a BERT, read from its `config.json`.

use crate::problem::problem;
use clariq_core::{Error, Problem};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

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
    /// Kinds of segments: 2 where pairs can be told apart.
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

/// The keys of a configuration that matter here, by the names of Hugging Face.
#[derive(Deserialize)]
struct Config {
    hidden_size: i64,
    num_hidden_layers: i64,
    num_attention_heads: i64,
    intermediate_size: i64,
    vocab_size: i64,
    max_position_embeddings: i64,
    type_vocab_size: i64,
    hidden_dropout_prob: f64,
    attention_probs_dropout_prob: f64,
    #[serde(default = "default_epsilon")]
    layer_norm_eps: f64,
    #[serde(default = "default_activation")]
    hidden_act: String,
    #[serde(default = "default_positions")]
    position_embedding_type: String,
}

fn default_epsilon() -> f64 {
    1e-12
}

fn default_activation() -> String {
    "gelu".to_owned()
}

fn default_positions() -> String {
    "absolute".to_owned()
}

const COPY_AGAIN: &str = "copy the file again from where the model came from";

impl Shape {
    /// Parses a `config.json`; `at` names the file in messages.
    pub fn parse(at: &Path, text: &[u8]) -> Result<(Value, Self), Error> {
        let unreadable = |error: &serde_json::Error, what: &str| {
            let (expected, found) = (what, error.to_string());
            problem(at, expected, found).hint(COPY_AGAIN)
        };
        let value: Value =
            serde_json::from_slice(text).map_err(|error| unreadable(&error, "a JSON object"))?;
        let family = value.get("model_type").map_or("bert", |name| name.as_str().unwrap_or(""));
        if family != "bert" {
            let found = format!("`{}`", value["model_type"]);
            return Err(problem(at, "model_type \"bert\"", found)
                .hint("RoBERTa, DistilBERT, ELECTRA and so on are other architectures")
                .into());
        }
        let config = Config::deserialize(&value)
            .map_err(|error| unreadable(&error, "the configuration of a BERT"))?;
        let shape = Self::new(at, &config)?;
        Ok((value, shape))
    }

    fn new(at: &Path, config: &Config) -> Result<Self, Problem> {
        config.check_sizes(at)?;
        config.check_numbers(at)?;
        if config.position_embedding_type != "absolute" {
            let expected = "position_embedding_type \"absolute\"";
            let found = format!("`{}`", config.position_embedding_type);
            return Err(problem(at, expected, found).hint("relative positions are not supported"));
        }
        Ok(Self {
            hidden: config.hidden_size,
            layers: config.num_hidden_layers,
            heads: config.num_attention_heads,
            intermediate: config.intermediate_size,
            vocabulary: config.vocab_size,
            positions: config.max_position_embeddings,
            segments: config.type_vocab_size,
            epsilon: config.layer_norm_eps,
            dropout: config.hidden_dropout_prob,
            attention_dropout: config.attention_probs_dropout_prob,
            activation: activation(at, &config.hidden_act)?,
        })
    }
}

impl Config {
    fn check_sizes(&self, at: &Path) -> Result<(), Problem> {
        let sizes = [
            ("hidden_size", self.hidden_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("vocab_size", self.vocab_size),
            ("max_position_embeddings", self.max_position_embeddings),
            ("type_vocab_size", self.type_vocab_size),
        ];
        if let Some((name, size)) = sizes.into_iter().find(|(_, size)| *size < 1) {
            let expected = format!("{name} of at least 1");
            return Err(problem(at, expected, size.to_string()).hint(COPY_AGAIN));
        }
        if self.hidden_size % self.num_attention_heads != 0 {
            let found =
                format!("hidden_size {} with {} heads", self.hidden_size, self.num_attention_heads);
            return Err(problem(at, "hidden_size a multiple of num_attention_heads", found)
                .hint(COPY_AGAIN));
        }
        Ok(())
    }

    fn check_numbers(&self, at: &Path) -> Result<(), Problem> {
        let shares = [
            ("hidden_dropout_prob", self.hidden_dropout_prob),
            ("attention_probs_dropout_prob", self.attention_probs_dropout_prob),
        ];
        if let Some((name, share)) =
            shares.into_iter().find(|(_, share)| !(0.0..1.0).contains(share))
        {
            let expected = format!("{name} from 0 to below 1");
            return Err(problem(at, expected, share.to_string()).hint(COPY_AGAIN));
        }
        if !self.layer_norm_eps.is_finite() || self.layer_norm_eps <= 0.0 {
            let found = self.layer_norm_eps.to_string();
            return Err(problem(at, "layer_norm_eps above 0", found).hint(COPY_AGAIN));
        }
        Ok(())
    }
}

fn activation(at: &Path, name: &str) -> Result<Activation, Problem> {
    match name {
        "gelu" => Ok(Activation::Gelu),
        "gelu_new" | "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
        "relu" => Ok(Activation::Relu),
        other => Err(problem(at, "hidden_act `gelu`, `gelu_new` or `relu`", format!("`{other}`"))
            .hint("no published BERT has another")),
    }
}
