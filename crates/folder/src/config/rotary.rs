//! The families with rotary positions (Su et al., arXiv 2104.09864), whose layers normalise before
//! attention and have a gated feed-forward part (Shazeer, arXiv 2002.05202): a row of [`ROWS`] each.
//! Defaults are those of their classes in Hugging Face's library, release 5.

use super::{
    Activation, ClassifierForm, LayerForm, ModelShape, Norms, activation, size_or, width_of_heads,
};
use crate::family::Family;
use crate::files::{COPY_AGAIN, DOCUMENTED, Object, read_keys};
use crate::table::{GEMMA3, Keys, MODERNBERT, QWEN3};
use clariq_core::{Pooling, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use std::num::NonZeroU32;
use std::path::Path;

/// Which tokens a layer attends to, and how fast it turns their vectors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// The largest distance to a token that is attended to; `None` for all tokens.
    pub window: Option<i64>,
    /// The base of the wavelengths.
    pub theta: f64,
    /// Positions are divided by it.
    pub factor: f64,
}

/// The parts of a family's layers, and the meaning of its absent keys.
struct RotaryFamily {
    family: Family,
    /// The keys of its `config.json`.
    keys: &'static Keys,
    /// The norms, without biases; sizes of heads are set from the keys.
    layer: LayerForm,
    epsilon: f64,
    activation: &'static str,
    /// The width of a head: a number, or `None` for an equal share of the vector.
    width: Option<i64>,
    key_heads: Option<i64>,
    /// The number under the root that divides products; `None` for the width of a head.
    divisor: Option<f64>,
    /// The bases of layers that attend to all tokens, and of those with a window.
    thetas: [f64; 2],
    window: Option<i64>,
    /// The id of the padding token.
    padding: Option<i64>,
    /// True if the layer of a number has a window, where `layer_types` is absent.
    is_local: fn(i64, &RotaryConfig) -> bool,
}

const ROWS: [RotaryFamily; 3] = [
    // Warner et al., arXiv 2412.13663.
    RotaryFamily {
        family: Family::ModernBert,
        keys: &MODERNBERT,
        layer: LayerForm {
            norms: Norms::Before,
            first_is_normed: false,
            embedding_is_normed: true,
            is_gated: true,
            ..LayerForm::of_bert()
        },
        epsilon: 1e-5,
        activation: "gelu",
        width: None,
        key_heads: None,
        divisor: None,
        thetas: [160_000.0, 10_000.0],
        window: Some(128),
        padding: None,
        is_local: |layer, config| layer % config.every.unwrap_or(3) != 0,
    },
    // Yang et al., arXiv 2505.09388; Zhang et al., arXiv 2506.05176 (embeddings and rerankers).
    RotaryFamily {
        family: Family::Qwen3,
        keys: &QWEN3,
        layer: LayerForm {
            norms: Norms::Before,
            is_rms: true,
            embedding_is_normed: false,
            heads_are_normed: true,
            is_gated: true,
            is_causal: true,
            ..LayerForm::of_bert()
        },
        epsilon: 1e-6,
        activation: "silu",
        width: Some(128),
        key_heads: Some(32),
        divisor: None,
        thetas: [10_000.0; 2],
        window: Some(4096),
        padding: None,
        is_local: |layer, config| {
            config.has_window == Some(true) && layer >= config.every.unwrap_or(28)
        },
    },
    // Gemma Team, arXiv 2503.19786; Schechter Vera et al., arXiv 2509.20354 (EmbeddingGemma).
    RotaryFamily {
        family: Family::Gemma3,
        keys: &GEMMA3,
        layer: LayerForm {
            norms: Norms::Around,
            is_rms: true,
            weights_from_one: true,
            embedding_is_normed: false,
            scales_words: true,
            heads_are_normed: true,
            is_gated: true,
            is_causal: true,
            ..LayerForm::of_bert()
        },
        epsilon: 1e-6,
        activation: "gelu_pytorch_tanh",
        width: Some(256),
        key_heads: Some(4),
        divisor: Some(256.0),
        thetas: [1_000_000.0, 10_000.0],
        window: Some(4096),
        padding: Some(0),
        is_local: |layer, config| (layer + 1) % config.every.unwrap_or(6) != 0,
    },
];

/// The keys of all families; those that mean the same in several are read under one name.
#[derive(Deserialize)]
struct RotaryConfig {
    hidden_size: NonZeroU32,
    num_hidden_layers: NonZeroU32,
    num_attention_heads: NonZeroU32,
    intermediate_size: NonZeroU32,
    vocab_size: NonZeroU32,
    max_position_embeddings: NonZeroU32,
    #[serde(alias = "hidden_act", alias = "hidden_activation")]
    activation: Option<String>,
    #[serde(alias = "norm_eps", alias = "rms_norm_eps")]
    epsilon: Option<f64>,
    #[serde(alias = "num_key_value_heads")]
    key_heads: Option<NonZeroU32>,
    #[serde(alias = "head_dim")]
    width: Option<NonZeroU32>,
    #[serde(alias = "query_pre_attn_scalar")]
    divisor: Option<f64>,
    attention_bias: Option<bool>,
    #[serde(alias = "mlp_bias")]
    inner_bias: Option<bool>,
    norm_bias: Option<bool>,
    layer_types: Option<Vec<LayerType>>,
    rope_parameters: Option<Value>,
    #[serde(alias = "global_rope_theta", alias = "rope_theta")]
    theta: Option<f64>,
    #[serde(alias = "local_rope_theta", alias = "rope_local_base_freq")]
    local_theta: Option<f64>,
    #[serde(alias = "local_attention", alias = "sliding_window")]
    window: Option<i64>,
    #[serde(alias = "use_sliding_window")]
    has_window: Option<bool>,
    /// The key by which layers with a window are counted.
    #[serde(
        alias = "global_attn_every_n_layers",
        alias = "max_window_layers",
        alias = "sliding_window_pattern"
    )]
    every: Option<i64>,
    #[serde(alias = "use_bidirectional_attention")]
    is_bidirectional: Option<bool>,
    is_causal: Option<bool>,
    pad_token_id: Option<i64>,
    classifier_pooling: Option<ClassifierPooling>,
    classifier_activation: Option<String>,
    classifier_bias: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LayerType {
    FullAttention,
    SlidingAttention,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ClassifierPooling {
    Cls,
    Mean,
}

/// `rope_parameters` of a kind of layer.
#[expect(clippy::struct_field_names, reason = "the keys of the file")]
#[derive(Deserialize)]
struct Rope {
    rope_theta: Option<f64>,
    #[serde(alias = "type")]
    rope_type: Option<String>,
    factor: Option<f64>,
    partial_rotary_factor: Option<f64>,
}

/// The keys of a family with rotary positions; `None` for others.
pub(super) fn keys(family: Family) -> Option<&'static Keys> {
    ROWS.iter().find(|row| row.family == family).map(|row| row.keys)
}

/// The shape of a family with rotary positions; `None` for others.
pub(super) fn read(at: &Path, object: &Object, family: Family) -> Result<Option<ModelShape>> {
    let Some(row) = ROWS.iter().find(|row| row.family == family) else { return Ok(None) };
    let config: RotaryConfig = row.keys.read(at, object.clone())?;
    let hidden = i64::from(config.hidden_size.get());
    let heads = i64::from(config.num_attention_heads.get());
    let usual_width = match row.width {
        Some(width) => width,
        None => width_of_heads(at, hidden, heads)?,
    };
    let width = size_or(config.width, usual_width);
    let key_heads = match row.key_heads {
        Some(usual) if !object.get("num_key_value_heads").is_some_and(Value::is_null) => {
            size_or(config.key_heads, usual)
        }
        _ => heads,
    };
    let layer = LayerForm {
        has_attention_bias: config.attention_bias.unwrap_or(false),
        has_inner_bias: config.inner_bias.unwrap_or(false),
        has_norm_bias: config.norm_bias.unwrap_or(false),
        is_causal: row.layer.is_causal
            && config.is_causal.unwrap_or(true)
            && config.is_bidirectional != Some(true),
        ..row.layer
    };
    let layers = i64::from(config.num_hidden_layers.get());
    let has_padding = object.contains_key("pad_token_id");
    let padding = if has_padding { config.pad_token_id } else { row.padding };
    let shape = ModelShape {
        family,
        hidden,
        embedding: hidden,
        layers,
        groups: layers,
        heads,
        key_heads,
        width,
        divisor: config.divisor.or(row.divisor).unwrap_or(width as f64),
        intermediate: config.intermediate_size.get().into(),
        vocabulary: config.vocab_size.get().into(),
        positions: config.max_position_embeddings.get().into(),
        segments: 0,
        buckets: 0,
        disentangled: None,
        adds_positions: false,
        positions_after: None,
        epsilon: config.epsilon.unwrap_or(row.epsilon),
        dropout: 0.0,
        attention_dropout: 0.0,
        activation: activation(
            at,
            family,
            Some(config.activation.as_deref().unwrap_or(row.activation)),
        )?,
        layer,
        reaches: reaches(at, &config, row, layers)?,
        classifier: classifier(at, &config, family, padding)?,
    };
    check(at, &shape)?;
    Ok(Some(shape))
}

/// Refuses sizes that do not fit together.
fn check(at: &Path, shape: &ModelShape) -> Result<()> {
    let ModelShape { heads, key_heads, width, divisor, .. } = shape;
    if heads % key_heads != 0 {
        let found = format!("{heads} and {key_heads}");
        bail!(at, "num_attention_heads a multiple of num_key_value_heads", found, COPY_AGAIN);
    }
    if width % 2 != 0 {
        bail!(at, "an even head_dim, whose halves are turned", "{width}", COPY_AGAIN);
    }
    if !(*divisor > 0.0 && divisor.is_finite()) {
        bail!(at, "query_pre_attn_scalar above 0", "{divisor}", COPY_AGAIN);
    }
    shape.check(at)
}

/// The reach of each layer.
fn reaches(
    at: &Path,
    config: &RotaryConfig,
    row: &RotaryFamily,
    layers: i64,
) -> Result<Vec<Reach>> {
    // All layers of Qwen3 have one base.
    let has_one_base = row.family == Family::Qwen3;
    let kinds = if has_one_base { [""; 2] } else { ["full_attention", "sliding_attention"] };
    let theta = config.theta.unwrap_or(row.thetas[0]);
    let local_theta = config.local_theta.unwrap_or(row.thetas[1]);
    let ropes = [
        rope(at, config, kinds[0], theta)?,
        rope(at, config, kinds[1], if has_one_base { theta } else { local_theta })?,
    ];
    if row.family != Family::Qwen3 && config.every.is_some_and(|every| every < 1) {
        let found = config.every.unwrap_or_default().to_string();
        bail!(
            at,
            "a layer of full attention among each number of layers above 0",
            found,
            COPY_AGAIN
        );
    }
    let is_local: Vec<bool> = match &config.layer_types {
        Some(types) if types.len() as i64 != layers => {
            let found = format!("{} of {layers}", types.len());
            bail!(at, "layer_types of all layers", found, COPY_AGAIN);
        }
        Some(types) => types.iter().map(|kind| *kind == LayerType::SlidingAttention).collect(),
        None => (0..layers).map(|layer| (row.is_local)(layer, config)).collect(),
    };
    let mut window = None;
    if is_local.contains(&true) {
        window = Some(window_of(at, config, row)?);
    }
    let reach = |is_local: bool| {
        let (theta, factor) = ropes[usize::from(is_local)];
        Reach { window: window.filter(|_| is_local), theta, factor }
    };
    Ok(is_local.into_iter().map(reach).collect())
}

/// The largest distance that a layer with a window reaches, as Hugging Face's library computes it.
fn window_of(at: &Path, config: &RotaryConfig, row: &RotaryFamily) -> Result<i64> {
    let size = config.window.or(row.window).filter(|size| *size > 0);
    let Some(size) = size else {
        bail!(at, "a window above 0 for the layers with `sliding_attention`", "none", COPY_AGAIN)
    };
    if row.family == Family::Qwen3 && config.has_window != Some(true) {
        bail!(at, "use_sliding_window true beside `sliding_attention`", "false", COPY_AGAIN);
    }
    let size = match row.family {
        Family::ModernBert => return Ok(size / 2),
        Family::Gemma3 if config.is_bidirectional == Some(true) => size / 2 + 1,
        _ => size,
    };
    // A window of both directions reaches its size, one of a causal mask less.
    Ok(if config.is_causal == Some(false) { size } else { size - 1 })
}

/// The base and the factor of a kind of layer. Release 5 writes them for each kind, or, where all layers
/// have the same, once.
fn rope(at: &Path, config: &RotaryConfig, kind: &str, theta: f64) -> Result<(f64, f64)> {
    let parameters = config.rope_parameters.as_ref().filter(|parameters| !parameters.is_null());
    let Some(parameters) = parameters else { return Ok((theta, 1.0)) };
    let is_nested = parameters.get("full_attention").or(parameters.get("sliding_attention"));
    let own = match (is_nested, kind) {
        (None, "") => Some(parameters),
        // Hugging Face's library passes over keys that belong to no kind of layer.
        (None, _) if *parameters == json!({}) => None,
        (None, kind) => {
            bail!(at, "rope_parameters of `{kind}`", "`{parameters}`", DOCUMENTED)
        }
        (Some(_), "") => {
            bail!(at, "rope_parameters of all layers at once", "`{parameters}`", DOCUMENTED)
        }
        (Some(_), kind) => parameters.get(kind),
    };
    let Some(own) = own.filter(|own| !own.is_null()) else { return Ok((theta, 1.0)) };
    let Value::Object(own) = own else {
        bail!(at, "rope_parameters with rope_theta and rope_type", "`{own}`", DOCUMENTED)
    };
    let rope: Rope = read_keys(at, own.clone())?;
    let factor = match rope.rope_type.as_deref().unwrap_or("default") {
        "default" => 1.0,
        "linear" => rope.factor.unwrap_or(1.0),
        other => {
            bail!(at, "rope_type `default` or `linear`", "`{other}`", DOCUMENTED)
        }
    };
    let theta = rope.rope_theta.unwrap_or(theta);
    if rope.partial_rotary_factor.is_some_and(|share| share != 1.0) {
        bail!(at, "partial_rotary_factor 1", "another", "heads are turned whole");
    }
    if !(theta > 0.0 && theta.is_finite() && factor > 0.0 && factor.is_finite()) {
        bail!(at, "rope_theta and factor above 0", "{theta} and {factor}", COPY_AGAIN);
    }
    Ok((theta, factor))
}

fn classifier(
    at: &Path,
    config: &RotaryConfig,
    family: Family,
    padding: Option<i64>,
) -> Result<ClassifierForm> {
    let pooling = match (family, config.classifier_pooling) {
        (Family::ModernBert, Some(ClassifierPooling::Mean)) => Pooling::Mean,
        (Family::ModernBert, _) => Pooling::Cls,
        _ => Pooling::LastToken,
    };
    let name = config.classifier_activation.as_deref().unwrap_or("gelu");
    let activation: Activation = activation(at, family, Some(name))?;
    let has_bias = config.classifier_bias.unwrap_or(false);
    let is_normed = family == Family::ModernBert;
    Ok(ClassifierForm { pooling, padding, activation, has_bias, is_normed })
}
