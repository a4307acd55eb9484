//! The sizes of a model, from `config.json`.

mod disentangled;
mod rotary;

use crate::family::Family;
use crate::files::{COPY_AGAIN, Object, expect_usual};
use crate::table::{CONFIG, Keys};
use clariq_core::{Pooling, Result, bail};
pub use disentangled::Disentangled;
pub use rotary::Reach;
use serde::Deserialize;
use serde_json::Value;
use std::num::NonZeroU32;
use std::path::Path;

/// The numbers of a model, by the keys of Hugging Face.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelShape {
    pub family: Family,
    /// Length of a token's vector.
    pub hidden: i64,
    /// Length of a word's vector before the first layer.
    pub embedding: i64,
    /// Layers.
    pub layers: i64,
    /// The number of layers with weights of their own, in ALBERT; the others repeat these.
    pub groups: i64,
    /// Attention heads.
    pub heads: i64,
    /// Heads of keys and values, each of which several heads of queries may share.
    pub key_heads: i64,
    /// Length of a head's vector.
    pub width: i64,
    /// Products of queries and keys are divided by its root.
    pub divisor: f64,
    /// Length of the vector inside a feed-forward layer.
    pub intermediate: i64,
    /// Words of the vocabulary.
    pub vocabulary: i64,
    /// Rows of the table of positions.
    pub positions: i64,
    /// Kinds of segments: 2 for models with segments for a pair, 0 for models without a table of them.
    pub segments: i64,
    /// Buckets of distances between tokens, in MPNet; 0 elsewhere.
    pub buckets: i64,
    /// DeBERTa's attention to distances; `None` elsewhere.
    pub disentangled: Option<Disentangled>,
    /// True if the position of a word is added to its vector.
    pub adds_positions: bool,
    /// The id of the padding token where positions are counted from it, in RoBERTa and MPNet: the
    /// first token is at the row after it.
    pub positions_after: Option<i64>,
    /// The epsilon of layer normalisation.
    pub epsilon: f64,
    /// Dropout of hidden states while training.
    pub dropout: f64,
    /// Dropout of attention while training.
    pub attention_dropout: f64,
    /// The activation of feed-forward layers.
    pub activation: Activation,
    /// The parts of a layer.
    pub layer: LayerForm,
    /// The kind of attention of each layer, in families with rotary positions; empty elsewhere.
    pub reaches: Vec<Reach>,
    /// The layers that score a pair.
    pub classifier: ClassifierForm,
}

/// The parts of a layer of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
pub struct LayerForm {
    pub norms: Norms,
    /// True if vectors are divided by their root mean square, and have no mean taken off.
    pub is_rms: bool,
    /// True if the weight of a norm is what is added to 1.
    pub weights_from_one: bool,
    /// True if the first layer has a norm before attention, too.
    pub first_is_normed: bool,
    /// True if the vectors of words are normalised.
    pub embedding_is_normed: bool,
    /// True if the vectors of words are multiplied by the root of their length.
    pub scales_words: bool,
    /// True if queries and keys are normalised, head by head.
    pub heads_are_normed: bool,
    /// True if the feed-forward part multiplies its activation by a second product.
    pub is_gated: bool,
    /// True if a token attends to those before it alone.
    pub is_causal: bool,
    pub has_attention_bias: bool,
    pub has_inner_bias: bool,
    pub has_norm_bias: bool,
}

impl LayerForm {
    /// Vaswani et al., NIPS 2017.
    pub(crate) const fn of_bert() -> Self {
        Self {
            norms: Norms::After,
            is_rms: false,
            weights_from_one: false,
            first_is_normed: true,
            embedding_is_normed: true,
            scales_words: false,
            heads_are_normed: false,
            is_gated: false,
            is_causal: false,
            has_attention_bias: true,
            has_inner_bias: true,
            has_norm_bias: true,
        }
    }
}

/// Where a layer's two parts are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norms {
    /// The sum of a part's input and output.
    After,
    /// The input of each part, and the output of the last layer.
    Before,
    /// Input and output of each part, and the output of the last layer.
    Around,
}

/// From the vectors of tokens to the score of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassifierForm {
    pub pooling: Pooling,
    /// The token of this id is not the last one, wherever it comes from.
    pub padding: Option<i64>,
    /// The activation between the two layers.
    pub activation: Activation,
    /// True if the first layer has a bias.
    pub has_bias: bool,
    /// True if there is a norm between the two layers.
    pub is_normed: bool,
}

impl ClassifierForm {
    fn of(family: Family) -> Self {
        let activation = match family {
            Family::DistilBert => Activation::Relu,
            Family::Electra | Family::Deberta | Family::DebertaV2 => Activation::Gelu,
            _ => Activation::Tanh,
        };
        Self { pooling: Pooling::Cls, padding: None, activation, has_bias: true, is_normed: false }
    }
}

/// The activations of published models, and those of sentence-transformers' `Dense`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// x Φ(x).
    #[default]
    Gelu,
    /// x Φ(x), approximated by tanh.
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

/// `config.json` by the keys of Hugging Face, and those that DistilBERT has in their place.
#[derive(Deserialize)]
struct Config {
    #[serde(alias = "dim")]
    hidden_size: NonZeroU32,
    #[serde(alias = "n_layers")]
    num_hidden_layers: NonZeroU32,
    #[serde(alias = "n_heads")]
    num_attention_heads: NonZeroU32,
    #[serde(alias = "hidden_dim")]
    intermediate_size: NonZeroU32,
    vocab_size: NonZeroU32,
    max_position_embeddings: NonZeroU32,
    #[serde(alias = "dropout")]
    hidden_dropout_prob: f64,
    #[serde(alias = "attention_dropout")]
    attention_probs_dropout_prob: f64,
    #[serde(alias = "activation")]
    hidden_act: Option<String>,
    layer_norm_eps: Option<f64>,
    embedding_size: Option<NonZeroU32>,
    num_hidden_groups: Option<NonZeroU32>,
    type_vocab_size: Option<u32>,
    pad_token_id: Option<i64>,
    // DeBERTa's.
    relative_attention: Option<bool>,
    position_biased_input: Option<bool>,
    pos_att_type: Option<Value>,
    attention_head_size: Option<i64>,
    max_relative_positions: Option<i64>,
    position_buckets: Option<i64>,
    norm_rel_ebd: Option<String>,
    share_att_key: Option<bool>,
}

impl ModelShape {
    /// Reads a `config.json`; `at` names the file in messages.
    pub fn read(at: &Path, object: Object) -> Result<Self> {
        let name = object.get("model_type").map(|name| name.as_str().unwrap_or_default());
        let family = Family::named(at, name)?;
        if let Some(shape) = rotary::read(at, &object, family)? {
            return Ok(shape);
        }
        if family == Family::Mpnet {
            let hint = "Hugging Face's library ignores this key and computes with 32";
            expect_usual(at, &object, "relative_attention_num_buckets", &["32", "null"], hint)?;
        }
        let config: Config = CONFIG.read(at, object)?;
        let hidden = i64::from(config.hidden_size.get());
        let layers = i64::from(config.num_hidden_layers.get());
        let heads = i64::from(config.num_attention_heads.get());
        let width = width_of_heads(at, hidden, heads)?;
        let mut shape = Self {
            family,
            hidden,
            embedding: match family {
                Family::Electra | Family::Albert => size_or(config.embedding_size, 128),
                _ => hidden,
            },
            layers,
            groups: match family {
                Family::Albert => size_or(config.num_hidden_groups, 1),
                _ => layers,
            },
            heads,
            key_heads: heads,
            width,
            divisor: width as f64,
            intermediate: config.intermediate_size.get().into(),
            vocabulary: config.vocab_size.get().into(),
            positions: config.max_position_embeddings.get().into(),
            segments: match family {
                Family::DistilBert | Family::Mpnet => 0,
                _ if family.is_deberta() => config.type_vocab_size.unwrap_or(0).into(),
                _ => config.type_vocab_size.unwrap_or(2).into(),
            },
            buckets: if family == Family::Mpnet { 32 } else { 0 },
            disentangled: None,
            adds_positions: !family.is_deberta() || config.position_biased_input.unwrap_or(true),
            positions_after: match family {
                Family::Roberta => Some(config.pad_token_id.unwrap_or(1)),
                // Hugging Face's MPNet counts from 1, whatever its configuration says.
                Family::Mpnet => Some(1),
                _ => None,
            },
            epsilon: match config.layer_norm_eps {
                Some(epsilon) => epsilon,
                None if family.is_deberta() => 1e-7,
                None => 1e-12,
            },
            dropout: config.hidden_dropout_prob,
            attention_dropout: config.attention_probs_dropout_prob,
            activation: activation(at, family, config.hidden_act.as_deref())?,
            layer: LayerForm::of_bert(),
            reaches: Vec::new(),
            classifier: ClassifierForm::of(family),
        };
        shape.check(at)?;
        if family.is_deberta() {
            shape.disentangled = Some(Disentangled::read(at, &config, &shape)?);
        }
        Ok(shape)
    }

    /// The most tokens that a text can have: any number where positions are not looked up.
    pub fn most_tokens(&self) -> i64 {
        if self.family.has_rotary_positions() {
            return i64::MAX;
        }
        self.positions - self.positions_after.map_or(0, |padding| padding + 1)
    }

    /// Refuses sizes that do not fit together.
    fn check(&self, at: &Path) -> Result<()> {
        let Self { family, layers, groups, positions, segments, .. } = self;
        if *layers > MOST_LAYERS {
            bail!(at, "num_hidden_layers at most {MOST_LAYERS}", "{layers}", COPY_AGAIN);
        }
        if groups > layers {
            let found = format!("{groups} groups of {layers} layers");
            bail!(at, "num_hidden_groups at most num_hidden_layers", found, COPY_AGAIN);
        }
        let has_segments = !matches!(family, Family::DistilBert | Family::Mpnet)
            && !family.is_deberta()
            && !family.has_rotary_positions();
        if has_segments && *segments == 0 {
            bail!(at, "type_vocab_size of at least 1", "0", COPY_AGAIN);
        }
        for (key, share) in [
            ("hidden_dropout_prob", self.dropout),
            ("attention_probs_dropout_prob", self.attention_dropout),
        ] {
            if !(0.0..1.0).contains(&share) {
                bail!(at, "{key} from 0 to below 1", "{share}", COPY_AGAIN);
            }
        }
        if !(self.epsilon > 0.0 && self.epsilon.is_finite()) {
            bail!(at, "layer_norm_eps above 0", (self.epsilon.to_string()), COPY_AGAIN);
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

/// The keys of a family's `config.json`.
pub(crate) fn keys(family: Family) -> &'static Keys {
    rotary::keys(family).unwrap_or(&CONFIG)
}

/// A size that may be absent.
fn size_or(size: Option<NonZeroU32>, usual: i64) -> i64 {
    size.map_or(usual, |size| size.get().into())
}

/// The length of a head's vector, where heads share a token's vector.
fn width_of_heads(at: &Path, hidden: i64, heads: i64) -> Result<i64> {
    if hidden % heads != 0 {
        let found = format!("hidden_size {hidden} with {heads} heads");
        bail!(at, "hidden_size a multiple of num_attention_heads", found, COPY_AGAIN);
    }
    Ok(hidden / heads)
}

/// The activation of feed-forward layers.
fn activation(at: &Path, family: Family, name: Option<&str>) -> Result<Activation> {
    Ok(match name {
        None if family == Family::Albert => Activation::GeluTanh,
        None | Some("gelu") => Activation::Gelu,
        Some("gelu_new" | "gelu_pytorch_tanh") => Activation::GeluTanh,
        Some("relu") => Activation::Relu,
        Some("silu" | "swish") => Activation::Silu,
        Some(other) => {
            let hint = "published models of these families use only these activations";
            bail!(at, "hidden_act `gelu`, `gelu_new`, `relu` or `silu`", "`{other}`", hint)
        }
    })
}
