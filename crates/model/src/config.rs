//! The sizes of a model and what it says of distances between tokens, read from its `config.json`.

use crate::family::Family;
use crate::files::{COPY_AGAIN, Keys};
use clariq_core::{Error, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// The numbers of a model, by the keys of Hugging Face.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The architecture.
    pub family: Family,
    /// Length of a token's vector.
    pub hidden: i64,
    /// Length of a word's vector before the first layer.
    pub embedding: i64,
    /// Layers.
    pub layers: i64,
    /// How many layers have weights of their own, in ALBERT; the others repeat these.
    pub groups: i64,
    /// Attention heads.
    pub heads: i64,
    /// Length of the vector inside a feed-forward layer.
    pub intermediate: i64,
    /// Words of the vocabulary.
    pub vocabulary: i64,
    /// Rows of the table of positions.
    pub positions: i64,
    /// Kinds of segments: 2 where pairs can be told apart, 0 where there is no table of them.
    pub segments: i64,
    /// Buckets of distances between tokens, in MPNet; 0 elsewhere.
    pub buckets: i64,
    /// How DeBERTa attends to distances; `None` elsewhere.
    pub disentangled: Option<Disentangled>,
    /// Whether the position of a word is added to its vector.
    pub adds_positions: bool,
    /// The id of the padding token where positions are counted from it, in RoBERTa and MPNet: the
    /// first token is at the row after it.
    pub positions_after: Option<i64>,
    /// What is added to a variance before its root is taken.
    pub epsilon: f64,
    /// Dropout of hidden states while training.
    pub dropout: f64,
    /// Dropout of attention while training.
    pub attention_dropout: f64,
    /// The activation of feed-forward layers.
    pub activation: Activation,
}

/// The activations of published models, and those of sentence-transformers' `Dense`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// x Φ(x).
    #[default]
    Gelu,
    /// Its approximation by tanh.
    GeluTanh,
    /// max(x, 0).
    Relu,
    /// x σ(x).
    Silu,
    /// tanh x.
    Tanh,
    /// 1 / (1 + exp −x).
    Sigmoid,
    /// x.
    Identity,
}

/// More layers than any published model has.
pub(crate) const MOST_LAYERS: i64 = 1000;

/// The names that DistilBERT gives to what others call otherwise.
const OF_DISTILBERT: [(&str, &str); 6] = [
    ("dim", "hidden_size"),
    ("n_layers", "num_hidden_layers"),
    ("n_heads", "num_attention_heads"),
    ("hidden_dim", "intermediate_size"),
    ("dropout", "hidden_dropout_prob"),
    ("attention_dropout", "attention_probs_dropout_prob"),
];

/// Keys whose usual value is the only one that the layers here compute, with what another means.
const ONLY_USUAL: [(&str, &[&str], &str); 11] = [
    ("position_embedding_type", &["\"absolute\"", "null"], "relative positions are not supported"),
    ("is_decoder", &["false", "null"], "a decoder's tokens see only what is before them"),
    ("add_cross_attention", &["false", "null"], "a decoder is no encoder of texts"),
    ("pruned_heads", &["{}", "null"], "save the model again with its heads whole"),
    ("sinusoidal_pos_embds", &["false", "true", "null"], "positions are read from the weights"),
    ("conv_kernel_size", &["0", "null"], "a convolution over tokens is not supported"),
    ("talking_head", &["false", "null"], "heads that talk to each other are not supported"),
    ("pooler_hidden_act", &["\"gelu\"", "null"], "published DeBERTa models have no other pooler"),
    ("inner_group_num", &["1", "null"], "published ALBERT models have one layer in a group"),
    ("quantization_config", &["null"], "save the model with numbers of 16 or 32 bits"),
    ("auto_map", &["null", "{}"], "such a model computes with Python code that comes with it"),
];

impl Shape {
    /// Parses a `config.json`; `at` names the file in messages.
    pub fn parse(at: &Path, text: &[u8]) -> Result<(Value, Self)> {
        let mut config = Keys::parse(at, text)?;
        let whole = Value::Object(config.values.clone());
        let family = Family::read(&config)?;
        for (key, usual, hint) in ONLY_USUAL {
            config.expect(key, usual, hint)?;
        }
        let mut activation = "hidden_act";
        if family == Family::DistilBert {
            for (own, usual) in OF_DISTILBERT {
                if let Some(value) = config.values.remove(own) {
                    config.values.insert(usual.to_owned(), value);
                }
            }
            activation = "activation";
        }
        let hidden = config.size("hidden_size", None)?;
        let layers = config.size("num_hidden_layers", None)?;
        let share = |key: &str| match config.need(key)? {
            share if (0.0..1.0).contains(&share) => Ok::<f64, Error>(share),
            _ => Err(config.wrong(key, "from 0 to below 1").into()),
        };
        let mut shape = Self {
            family,
            hidden,
            embedding: match family {
                Family::Electra | Family::Albert => config.size("embedding_size", Some(128))?,
                _ => hidden,
            },
            layers,
            groups: match family {
                Family::Albert => config.size("num_hidden_groups", Some(1))?,
                _ => layers,
            },
            heads: config.size("num_attention_heads", None)?,
            intermediate: config.size("intermediate_size", None)?,
            vocabulary: config.size("vocab_size", None)?,
            positions: config.size("max_position_embeddings", None)?,
            segments: match family {
                Family::DistilBert | Family::Mpnet => 0,
                _ if family.is_deberta() => config.get("type_vocab_size")?.unwrap_or(0).max(0),
                _ => config.size("type_vocab_size", Some(2))?,
            },
            buckets: match family {
                Family::Mpnet => {
                    let hint = "Hugging Face's library computes with 32, whatever this says";
                    config.expect("relative_attention_num_buckets", &["32", "null"], hint)?;
                    32
                }
                _ => 0,
            },
            disentangled: None,
            adds_positions: !family.is_deberta()
                || config.get("position_biased_input")?.unwrap_or(true),
            positions_after: match family {
                Family::Roberta => Some(config.get_or_null("pad_token_id")?.unwrap_or(1)),
                // Hugging Face's MPNet counts from 1, whatever its configuration says.
                Family::Mpnet => Some(1),
                _ => None,
            },
            epsilon: config
                .epsilon("layer_norm_eps", if family.is_deberta() { 1e-7 } else { 1e-12 })?,
            dropout: share("hidden_dropout_prob")?,
            attention_dropout: share("attention_probs_dropout_prob")?,
            activation: match config.get::<String>(activation)?.as_deref() {
                None if family == Family::Albert => Activation::GeluTanh,
                None | Some("gelu") => Activation::Gelu,
                Some("gelu_new" | "gelu_pytorch_tanh") => Activation::GeluTanh,
                Some("relu") => Activation::Relu,
                Some("silu" | "swish") => Activation::Silu,
                Some(_) => {
                    let wrong = config.wrong(activation, "`gelu`, `gelu_new`, `relu` or `silu`");
                    let hint = "published models of these families use only these activations";
                    return Err(wrong.hint(hint).into());
                }
            },
        };
        shape.check(at)?;
        if family.is_deberta() {
            shape.disentangled = Some(Disentangled::read(&config, &shape)?);
        }
        Ok((whole, shape))
    }

    /// How many tokens a text can have at most.
    pub fn most_tokens(&self) -> i64 {
        self.positions - self.positions_after.map_or(0, |padding| padding + 1)
    }

    /// Whether the sizes fit together.
    fn check(&self, at: &Path) -> Result<()> {
        let Self { hidden, heads, layers, groups, positions, .. } = self;
        if hidden % heads != 0 {
            let found = format!("hidden_size {hidden} with {heads} heads");
            bail!(at, "hidden_size a multiple of num_attention_heads", found, COPY_AGAIN);
        }
        // Layers that share their weights are not counted by the tensors of a file.
        if groups < layers && *layers > MOST_LAYERS {
            bail!(at, "num_hidden_layers at most {MOST_LAYERS}", "{layers}", COPY_AGAIN);
        }
        if groups > layers {
            let found = format!("{groups} groups of {layers} layers");
            bail!(at, "num_hidden_groups at most num_hidden_layers", found, COPY_AGAIN);
        }
        // A text has at least its two marks.
        if let Some(padding) =
            self.positions_after.filter(|padding| !(0..positions - 3).contains(padding))
        {
            let found = format!("{padding} with {positions} positions");
            bail!(at, "pad_token_id below max_position_embeddings", found, COPY_AGAIN);
        }
        Ok(())
    }
}

/// Disentangled attention (He et al., "DeBERTa: Decoding-enhanced BERT with Disentangled Attention",
/// ICLR 2021): beside the product of query and key, those of the query with the vector of the key's
/// distance, and of the key with that of the query's.
#[derive(Debug, Clone, PartialEq)]
pub struct Disentangled {
    /// Rows of the table of distances in either direction.
    pub span: i64,
    /// The distance at which the last bucket ends, where distances are put into buckets.
    pub most: Option<i64>,
    /// Whether distances are projected as words are; otherwise they have projections of their own.
    pub is_shared: bool,
    /// Whether the table is brought to the norm of a layer first.
    pub is_normed: bool,
}

impl Disentangled {
    fn read(config: &Keys, shape: &Shape) -> Result<Self> {
        let hint = "published models have this one";
        let expect = |key: &str, usual: &str| config.expect(key, &[usual, "null"], hint);
        let parts = config.values.get("pos_att_type").unwrap_or(&Value::Null);
        let mut named: Vec<String> = match parts {
            Value::String(parts) => {
                parts.split('|').map(|part| part.trim().to_lowercase()).collect()
            }
            other => Vec::deserialize(other).unwrap_or_default(),
        };
        named.sort_unstable();
        let attends = config.get("relative_attention")?.unwrap_or(false);
        if named != ["c2p", "p2c"] || !attends {
            let found = format!("{parts} with relative_attention {attends}");
            bail!(config.at, "pos_att_type \"c2p|p2c\" with relative_attention true", found, hint);
        }
        expect("embedding_size", &shape.hidden.to_string())?;
        expect("attention_head_size", &(shape.hidden / shape.heads).to_string())?;
        let most = config.get("max_relative_positions")?.filter(|most| *most > 0);
        let most = most.unwrap_or(shape.positions);
        // The first version knows neither buckets nor shared projections.
        if shape.family == Family::Deberta {
            return Ok(Self { span: most, most: None, is_shared: false, is_normed: false });
        }
        let is_normed = match config.get_or_null::<String>("norm_rel_ebd")?.as_deref() {
            None | Some("none") => false,
            Some("layer_norm") => true,
            Some(_) => {
                let wrong = config.wrong("norm_rel_ebd", "`layer_norm` or `none`");
                return Err(wrong.hint(hint).into());
            }
        };
        let is_shared = config.get("share_att_key")?.unwrap_or(false);
        let buckets = config.get("position_buckets")?.unwrap_or(0);
        if buckets < 1 {
            return Ok(Self { span: most, most: None, is_shared, is_normed });
        }
        // Half of the buckets are one distance each; the others reach to `most` in growing steps.
        if buckets < 2 || buckets / 2 >= most - 1 {
            let expected = format!("from 2 to below {}", 2 * most.min(1 << 32));
            return Err(config.wrong("position_buckets", &expected).into());
        }
        Ok(Self { span: buckets, most: Some(most), is_shared, is_normed })
    }

    /// The row of a distance of 0 or more, counted from the middle of the table: the distance itself,
    /// or its bucket. In 32-bit floats, as Hugging Face's library computes it.
    pub fn row(&self, distance: i64) -> i64 {
        let middle = self.span / 2;
        match self.most {
            Some(most) if distance > middle => {
                let log = |number: i64| (number as f32 / middle as f32).ln();
                let steps = log(distance) / log(most - 1) * (middle - 1) as f32;
                steps.ceil() as i64 + middle
            }
            _ => distance,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_transformers() {
        let of = |span, most| Disentangled { span, most, is_shared: true, is_normed: true };
        let row = |distance| of(256, Some(512)).row(distance);
        assert_eq!(
            [0, 1, 128, 129, 130, 131, 200, 511].map(row),
            [0, 1, 128, 129, 130, 131, 169, 255]
        );
        assert_eq!(of(512, None).row(500), 500);
    }
}
