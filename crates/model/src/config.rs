//! The families of encoders and the sizes of a model, read from its `config.json`.

use crate::deberta::Disentangled;
use clariq_core::{Result, bail, problem};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;
use std::path::Path;

pub(crate) const COPY_AGAIN: &str =
    "copy the file again from where the model came from; it may be truncated";

/// The architectures that are understood, by the `model_type` of Hugging Face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Devlin et al., NAACL 2019.
    Bert,
    /// Liu et al., arXiv 1907.11692; XLM-RoBERTa (Conneau et al., ACL 2020) and CamemBERT have the
    /// same layers over other words.
    Roberta,
    /// Sanh et al., arXiv 1910.01108: a BERT without segments.
    DistilBert,
    /// Clark et al., ICLR 2020: a BERT whose words may have shorter vectors.
    Electra,
    /// Lan et al., ICLR 2020: layers share their weights.
    Albert,
    /// Song et al., NeurIPS 2020: positions relative to each other as well.
    Mpnet,
    /// He et al., ICLR 2021: words and distances are attended to apart.
    Deberta,
    /// Its second and third version (He et al., ICLR 2023): distances in buckets.
    DebertaV2,
}

/// Every `model_type` that is understood.
const FAMILIES: [(&str, Family); 10] = [
    ("bert", Family::Bert),
    ("roberta", Family::Roberta),
    ("xlm-roberta", Family::Roberta),
    ("camembert", Family::Roberta),
    ("distilbert", Family::DistilBert),
    ("electra", Family::Electra),
    ("albert", Family::Albert),
    ("mpnet", Family::Mpnet),
    ("deberta", Family::Deberta),
    ("deberta-v2", Family::DebertaV2),
];

impl Family {
    /// Whether the first position is that after the padding token's id, as in fairseq.
    fn positions_follow_padding(self) -> bool {
        matches!(self, Self::Roberta | Self::Mpnet)
    }

    /// Whether distances between tokens are attended to.
    pub(crate) fn is_deberta(self) -> bool {
        matches!(self, Self::Deberta | Self::DebertaV2)
    }

    /// Whether a model with `vocab.txt` alone is read as BERT's tokenizer reads it.
    pub fn has_words_of_bert(self) -> bool {
        matches!(self, Self::Bert | Self::DistilBert | Self::Electra)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bert => "BERT",
            Self::Roberta => "RoBERTa",
            Self::DistilBert => "DistilBERT",
            Self::Electra => "ELECTRA",
            Self::Albert => "ALBERT",
            Self::Mpnet => "MPNet",
            Self::Deberta => "DeBERTa",
            Self::DebertaV2 => "DeBERTa-v2",
        })
    }
}

/// The numbers of a model, by the keys of Hugging Face.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Shape {
    /// The architecture.
    #[serde(skip, default = "bert")]
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

fn bert() -> Family {
    Family::Bert
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
        let family = family(at, &config)?;
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

/// The family that a configuration names; without a name it is a BERT.
fn family(at: &Path, config: &Map<String, Value>) -> Result<Family> {
    let name = match config.get("model_type") {
        None => return Ok(Family::Bert),
        Some(Value::String(name)) => name.clone(),
        Some(other) => other.to_string(),
    };
    let known = FAMILIES.iter().find(|(known, _)| *known == name);
    let Some((_, family)) = known else {
        let hint = match name.as_str() {
            "modernbert" => {
                "ModernBERT's rotary positions and local attention are not supported; a BERT, \
                 RoBERTa or MPNet of the same size is"
            }
            _ => "configs/README.md lists the families and their models",
        };
        let expected =
            format!("model_type {}", FAMILIES.map(|(known, _)| format!("`{known}`")).join(", "));
        bail!(at, expected, "`{name}`", hint);
    };
    Ok(*family)
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
