//! The sizes of a model and what it says of distances between tokens, read from its `config.json`.

use crate::family::Family;
use clariq_core::{Result, bail, problem};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

pub(crate) const COPY_AGAIN: &str =
    "copy the file again from where the model came from; it may be truncated";

/// The numbers of a model, by the keys of Hugging Face.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Shape {
    /// The architecture.
    #[serde(skip)]
    pub family: Family,
    /// Length of a token's vector.
    #[serde(rename = "hidden_size")]
    pub hidden: i64,
    /// Length of a word's vector before the first layer; 0 in the file's absence stands for
    /// `hidden`.
    #[serde(rename = "embedding_size", default)]
    pub embedding: i64,
    /// Layers.
    #[serde(rename = "num_hidden_layers")]
    pub layers: i64,
    /// How many layers have weights of their own, in ALBERT; the others repeat these.
    #[serde(rename = "num_hidden_groups", default)]
    pub groups: i64,
    /// Attention heads.
    #[serde(rename = "num_attention_heads")]
    pub heads: i64,
    /// Length of the vector inside a feed-forward layer.
    #[serde(rename = "intermediate_size")]
    pub intermediate: i64,
    /// Words of the vocabulary.
    #[serde(rename = "vocab_size")]
    pub vocabulary: i64,
    /// Rows of the table of positions.
    #[serde(rename = "max_position_embeddings")]
    pub positions: i64,
    /// Kinds of segments: 2 where pairs can be told apart, 0 where there is no table of them.
    #[serde(rename = "type_vocab_size", default)]
    pub segments: i64,
    /// Buckets of distances between tokens, in MPNet; 0 elsewhere.
    #[serde(rename = "relative_attention_num_buckets", default)]
    pub buckets: i64,
    /// How DeBERTa attends to distances; `None` elsewhere.
    #[serde(skip)]
    pub disentangled: Option<Disentangled>,
    /// Whether the position of a word is added to its vector.
    #[serde(rename = "position_biased_input", default = "yes")]
    pub adds_positions: bool,
    /// The id of the padding token, which positions are counted from in RoBERTa and MPNet.
    #[serde(rename = "pad_token_id", default)]
    padding: Option<i64>,
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

fn yes() -> bool {
    true
}

fn usual_epsilon() -> f64 {
    1e-12
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
        let config: Map<String, Value> = serde_json::from_slice(text)
            .map_err(|error| problem!(at, "a JSON object", "{error}", COPY_AGAIN))?;
        let family = Family::read(at, &config)?;
        for (key, usual, hint) in ONLY_USUAL {
            let found = config.get(key).map_or_else(|| "null".to_owned(), Value::to_string);
            if !usual.contains(&&*found) {
                bail!(at, (format!("{key} {}", usual[0])), "`{found}`", hint);
            }
        }
        let mut numbers = config.clone();
        let mut activation = "hidden_act";
        if family == Family::DistilBert {
            for (own, usual) in OF_DISTILBERT {
                if let Some(value) = numbers.remove(own) {
                    numbers.insert(usual.to_owned(), value);
                }
            }
            activation = "activation";
        }
        let mut shape = Self::deserialize(Value::Object(numbers)).map_err(|error| {
            problem!(at, "the configuration of a {family}", "{error}", COPY_AGAIN)
        })?;
        shape.complete(family, &config);
        shape.check(at)?;
        if family.is_deberta() {
            shape.disentangled = Some(Disentangled::read(at, &shape, &config)?);
        }
        shape.activation = match config.get(activation) {
            None if family == Family::Albert => Activation::GeluTanh,
            None => Activation::Gelu,
            Some(Value::String(name)) => match name.as_str() {
                "gelu" => Activation::Gelu,
                "gelu_new" | "gelu_pytorch_tanh" => Activation::GeluTanh,
                "relu" => Activation::Relu,
                "silu" | "swish" => Activation::Silu,
                other => return Err(unknown_activation(at, activation, other)),
            },
            Some(other) => return Err(unknown_activation(at, activation, &other.to_string())),
        };
        Ok((Value::Object(config), shape))
    }

    /// Fills in what a family's `config.json` leaves to the defaults of its own class.
    fn complete(&mut self, family: Family, config: &Map<String, Value>) {
        self.family = family;
        let has = |key: &str| config.contains_key(key);
        if !matches!(family, Family::Electra | Family::Albert) {
            self.embedding = self.hidden;
        } else if !has("embedding_size") {
            self.embedding = 128;
        }
        match family {
            Family::DistilBert | Family::Mpnet => self.segments = 0,
            Family::Deberta | Family::DebertaV2 => self.segments = self.segments.max(0),
            _ if !has("type_vocab_size") => self.segments = 2,
            _ => {}
        }
        match family {
            Family::Albert if has("num_hidden_groups") => {}
            Family::Albert => self.groups = 1,
            _ => self.groups = self.layers,
        }
        match family {
            Family::Mpnet if has("relative_attention_num_buckets") => {}
            Family::Mpnet => self.buckets = 32,
            _ => self.buckets = 0,
        }
        if !family.is_deberta() {
            self.adds_positions = true;
        } else if !has("layer_norm_eps") {
            self.epsilon = 1e-7;
        }
        self.padding = match self.padding {
            _ if !family.positions_follow_padding() => None,
            // Hugging Face's MPNet counts from 1, whatever its configuration says.
            Some(given) if family != Family::Mpnet => Some(given),
            _ => Some(1),
        };
    }

    /// The padding token's id where positions are counted from it: the first token is at the row
    /// after it.
    pub fn positions_after(&self) -> Option<i64> {
        self.padding
    }

    /// How many tokens a text can have at most.
    pub fn most_tokens(&self) -> i64 {
        self.positions - self.padding.map_or(0, |padding| padding + 1)
    }

    fn check(&self, at: &Path) -> Result<()> {
        let mut sizes = vec![
            ("hidden_size", self.hidden),
            ("embedding_size", self.embedding),
            ("num_hidden_layers", self.layers),
            ("num_hidden_groups", self.groups),
            ("num_attention_heads", self.heads),
            ("intermediate_size", self.intermediate),
            ("vocab_size", self.vocabulary),
            ("max_position_embeddings", self.positions),
        ];
        match self.family {
            Family::Mpnet => sizes.push(("relative_attention_num_buckets", self.buckets)),
            Family::DistilBert | Family::Deberta | Family::DebertaV2 => {}
            _ => sizes.push(("type_vocab_size", self.segments)),
        }
        if let Some((name, size)) = sizes.into_iter().find(|(_, size)| *size < 1) {
            bail!(at, "{name} of at least 1", "{size}", COPY_AGAIN);
        }
        let Self { hidden, heads, epsilon, layers, groups, positions, buckets, .. } = self;
        if hidden % heads != 0 {
            let found = format!("hidden_size {hidden} with {heads} heads");
            bail!(at, "hidden_size a multiple of num_attention_heads", found, COPY_AGAIN);
        }
        if *buckets > 0 && *buckets != 32 {
            let hint = "Hugging Face's library computes with 32, whatever this says";
            bail!(at, "relative_attention_num_buckets 32", "{buckets}", hint);
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
        if self.padding.is_some_and(|padding| !(0..positions - 3).contains(&padding)) {
            let found = format!("{} with {positions} positions", self.padding.unwrap_or_default());
            bail!(at, "pad_token_id below max_position_embeddings", found, COPY_AGAIN);
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

fn unknown_activation(at: &Path, key: &str, found: &str) -> clariq_core::Error {
    problem!(
        at,
        "{key} `gelu`, `gelu_new`, `relu` or `silu`",
        "`{found}`",
        "published models of these families use only these activations"
    )
    .into()
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

/// The keys of `config.json`.
#[derive(Deserialize)]
struct Keys {
    #[serde(default)]
    relative_attention: bool,
    #[serde(default)]
    pos_att_type: Value,
    #[serde(default)]
    max_relative_positions: i64,
    #[serde(default)]
    position_buckets: i64,
    #[serde(default)]
    share_att_key: bool,
    norm_rel_ebd: Option<String>,
    embedding_size: Option<i64>,
    attention_head_size: Option<i64>,
}

impl Disentangled {
    pub(crate) fn read(at: &Path, shape: &Shape, config: &Map<String, Value>) -> Result<Self> {
        let family = shape.family;
        let keys = Keys::deserialize(Value::Object(config.clone())).map_err(|error| {
            problem!(at, "the configuration of a {family}", "{error}", COPY_AGAIN)
        })?;
        let hint = "published models have this one";
        let mut parts: Vec<String> = match &keys.pos_att_type {
            Value::String(parts) => {
                parts.split('|').map(|part| part.trim().to_lowercase()).collect()
            }
            other => Vec::deserialize(other).unwrap_or_default(),
        };
        parts.sort_unstable();
        if parts != ["c2p", "p2c"] || !keys.relative_attention {
            let found = format!(
                "{} with relative_attention {}",
                keys.pos_att_type, keys.relative_attention
            );
            bail!(at, "pos_att_type \"c2p|p2c\" with relative_attention true", found, hint);
        }
        let sizes = [
            ("embedding_size", keys.embedding_size, shape.hidden),
            ("attention_head_size", keys.attention_head_size, shape.hidden / shape.heads),
        ];
        for (key, found, usual) in sizes {
            if let Some(found) = found.filter(|found| *found != usual) {
                bail!(at, "{key} {usual}, by hidden_size", "{found}", hint);
            }
        }
        let most = Some(keys.max_relative_positions).filter(|most| *most > 0);
        let most = most.unwrap_or(shape.positions);
        // The first version knows neither buckets nor shared projections.
        if family == Family::Deberta {
            return Ok(Self { span: most, most: None, is_shared: false, is_normed: false });
        }
        let is_normed = match keys.norm_rel_ebd.as_deref() {
            None | Some("none") => false,
            Some("layer_norm") => true,
            Some(other) => bail!(at, "norm_rel_ebd `layer_norm` or `none`", "`{other}`", hint),
        };
        let is_shared = keys.share_att_key;
        let buckets = keys.position_buckets;
        if buckets < 1 {
            return Ok(Self { span: most, most: None, is_shared, is_normed });
        }
        // Half of the buckets are one distance each; the others reach to `most` in growing steps.
        if buckets < 2 || buckets / 2 >= most - 1 {
            let expected = format!("position_buckets from 2 to below {}", 2 * most.min(1 << 32));
            bail!(at, expected, "{buckets}", COPY_AGAIN);
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
