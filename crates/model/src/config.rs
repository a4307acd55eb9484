//! The sizes of a BERT, read from its `config.json`.

use crate::tensors::COPY_AGAIN;
use clariq_core::{Result, bail, problem};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// The numbers of a BERT, by the keys of Hugging Face.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Shape {
    /// Length of a token's vector.
    #[serde(rename = "hidden_size")]
    pub hidden: i64,
    /// Layers.
    #[serde(rename = "num_hidden_layers")]
    pub layers: i64,
    /// Attention heads.
    #[serde(rename = "num_attention_heads")]
    pub heads: i64,
    /// Length of the vector inside a feed-forward layer.
    #[serde(rename = "intermediate_size")]
    pub intermediate: i64,
    /// Words of the vocabulary.
    #[serde(rename = "vocab_size")]
    pub vocabulary: i64,
    /// Tokens that a text can have at most.
    #[serde(rename = "max_position_embeddings")]
    pub positions: i64,
    /// Kinds of segments: 2 where pairs can be told apart.
    #[serde(rename = "type_vocab_size")]
    pub segments: i64,
    /// What is added to a variance before its root is taken.
    #[serde(rename = "layer_norm_eps", default = "usual_epsilon")]
    pub epsilon: f64,
    /// Dropout of hidden states while training.
    #[serde(rename = "hidden_dropout_prob")]
    pub dropout: f64,
    /// Dropout of attention while training.
    #[serde(rename = "attention_probs_dropout_prob")]
    pub attention_dropout: f64,
    /// The activation of feed-forward layers.
    #[serde(skip)]
    pub activation: Activation,
}

/// The activations of published BERTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// x Φ(x).
    #[default]
    Gelu,
    /// Its approximation by tanh.
    GeluTanh,
    /// max(x, 0).
    Relu,
}

fn usual_epsilon() -> f64 {
    1e-12
}

impl Shape {
    /// Parses a `config.json`; `at` names the file in messages.
    pub fn parse(at: &Path, text: &[u8]) -> Result<(Value, Self)> {
        let value: Value = serde_json::from_slice(text)
            .map_err(|error| problem!(at, "a JSON object", "{error}", COPY_AGAIN))?;
        let text_of = |key: &str, usual: &'static str| match value.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => usual.to_owned(),
        };
        let family = text_of("model_type", "bert");
        if family != "bert" {
            let hint = "RoBERTa, DistilBERT, ELECTRA and so on are other architectures";
            bail!(at, "model_type \"bert\"", "`{family}`", hint);
        }
        let mut shape = Self::deserialize(&value)
            .map_err(|error| problem!(at, "the configuration of a BERT", "{error}", COPY_AGAIN))?;
        shape.check(at)?;
        let positions = text_of("position_embedding_type", "absolute");
        if positions != "absolute" {
            let hint = "relative positions are not supported";
            bail!(at, "position_embedding_type \"absolute\"", "`{positions}`", hint);
        }
        let activation = text_of("hidden_act", "gelu");
        shape.activation = match &*activation {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            other => {
                let hint = "published BERT models use only these activations";
                bail!(at, "hidden_act `gelu`, `gelu_new` or `relu`", "`{other}`", hint)
            }
        };
        Ok((value, shape))
    }

    fn check(&self, at: &Path) -> Result<()> {
        let sizes = [
            ("hidden_size", self.hidden),
            ("num_hidden_layers", self.layers),
            ("num_attention_heads", self.heads),
            ("intermediate_size", self.intermediate),
            ("vocab_size", self.vocabulary),
            ("max_position_embeddings", self.positions),
            ("type_vocab_size", self.segments),
        ];
        if let Some((name, size)) = sizes.into_iter().find(|(_, size)| *size < 1) {
            bail!(at, "{name} of at least 1", "{size}", COPY_AGAIN);
        }
        let Self { hidden, heads, epsilon, .. } = self;
        if hidden % heads != 0 {
            let found = format!("hidden_size {hidden} with {heads} heads");
            bail!(at, "hidden_size a multiple of num_attention_heads", found, COPY_AGAIN);
        }
        let shares = [
            ("hidden_dropout_prob", self.dropout),
            ("attention_probs_dropout_prob", self.attention_dropout),
        ];
        if let Some((name, share)) =
            shares.into_iter().find(|(_, share)| !(0.0..1.0).contains(share))
        {
            bail!(at, "{name} from 0 to below 1", "{share}", COPY_AGAIN);
        }
        if !epsilon.is_finite() || *epsilon <= 0.0 {
            bail!(at, "layer_norm_eps above 0", "{epsilon}", COPY_AGAIN);
        }
        Ok(())
    }
}
