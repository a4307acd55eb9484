//! The folder of a T5 (Raffel et al., JMLR 2020): sizes, weights and tokenizer.

use crate::config::MOST_LAYERS;
use crate::files::{
    COPY_AGAIN, Object, expect_usual, missing, parse_object, read_keys, read_object, read_optional,
    weights_of_model,
};
use crate::recognise::check;
use crate::table::{MAY_CHANGE_A_TEXT, TEXT_GENERATOR};
use clariq_core::{Checksum, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// The numbers of a T5, by the keys of Hugging Face.
#[derive(Debug, Clone, PartialEq)]
pub struct T5Shape {
    /// Length of a token's vector.
    pub hidden: i64,
    /// Length of the vector inside a feed-forward layer.
    pub intermediate: i64,
    /// Length of a key of an attention head.
    pub key: i64,
    /// Attention heads.
    pub heads: i64,
    /// Layers of the encoder, and of the decoder.
    pub layers: i64,
    /// Words of the vocabulary.
    pub vocabulary: i64,
    /// Buckets of distances between tokens.
    pub buckets: i64,
    /// The distance at which the last bucket begins.
    pub distance: i64,
    /// The epsilon of layer normalisation.
    pub epsilon: f64,
    /// True if feed-forward layers have a gate, as in T5 1.1.
    pub is_gated: bool,
    /// True if the decoder's vectors are scaled before they are compared with those of words, as in
    /// the first T5 and not in 1.1.
    pub scales_output: bool,
    /// The id of the padding token.
    pub padding: i64,
    /// The id of the token that ends a text.
    pub end: i64,
    /// The id of the token before a generated text.
    pub start: i64,
}

/// Keys that `generation_config.json` may have in place of `config.json`.
const IDS: [&str; 3] = ["pad_token_id", "eos_token_id", "decoder_start_token_id"];
const MODEL_TYPE: &str = "t5";

/// `config.json` by the keys of Hugging Face.
#[derive(Deserialize)]
struct T5Config {
    d_model: NonZeroU32,
    d_ff: NonZeroU32,
    d_kv: NonZeroU32,
    num_heads: NonZeroU32,
    num_layers: NonZeroU32,
    vocab_size: NonZeroU32,
    relative_attention_num_buckets: Option<i64>,
    relative_attention_max_distance: Option<i64>,
    layer_norm_epsilon: Option<f64>,
    tie_word_embeddings: Option<bool>,
    scale_decoder_outputs: Option<bool>,
    pad_token_id: i64,
    eos_token_id: i64,
    decoder_start_token_id: i64,
}

impl T5Shape {
    /// Reads a `config.json` with what a `generation_config.json` beside it adds; `at` names the
    /// first in messages.
    fn read(at: &Path, config: Object, generation: Option<Object>) -> Result<Self> {
        let kind = config.get("model_type").and_then(Value::as_str).unwrap_or_default();
        if kind != MODEL_TYPE {
            let hint = "`rewrite`, `rerank` and `cross_encode` take a T5, version 1.0 or 1.1";
            bail!(at, "model_type `{MODEL_TYPE}`", "`{kind}`", hint);
        }
        let config = with_generation(at, config, generation.unwrap_or_default())?;
        let is_gated = match config.get("feed_forward_proj").and_then(Value::as_str) {
            None if !config.contains_key("feed_forward_proj") => false,
            Some("relu") => false,
            Some("gated-gelu") => true,
            _ => {
                let found = config["feed_forward_proj"].to_string();
                bail!(at, "feed_forward_proj `relu` or `gated-gelu`", found, COPY_AGAIN);
            }
        };
        TEXT_GENERATOR.check(at, &config)?;
        let activation = if is_gated { "\"gelu_new\"" } else { "\"relu\"" };
        expect_usual(at, &config, "dense_act_fn", &[activation, "null"], MAY_CHANGE_A_TEXT)?;
        expect_usual(
            at,
            &config,
            "is_gated_act",
            &[&is_gated.to_string(), "null"],
            MAY_CHANGE_A_TEXT,
        )?;
        let layers = config.get("num_layers").map(Value::to_string).unwrap_or_default();
        expect_usual(at, &config, "num_decoder_layers", &[&layers, "null"], MAY_CHANGE_A_TEXT)?;
        let config: T5Config = read_keys(at, config)?;
        let shape = Self {
            hidden: config.d_model.get().into(),
            intermediate: config.d_ff.get().into(),
            key: config.d_kv.get().into(),
            heads: config.num_heads.get().into(),
            layers: config.num_layers.get().into(),
            vocabulary: config.vocab_size.get().into(),
            buckets: config.relative_attention_num_buckets.unwrap_or(32),
            distance: config.relative_attention_max_distance.unwrap_or(128),
            epsilon: config.layer_norm_epsilon.unwrap_or(1e-6),
            is_gated,
            scales_output: config
                .scale_decoder_outputs
                .unwrap_or(config.tie_word_embeddings.unwrap_or(true)),
            padding: config.pad_token_id,
            end: config.eos_token_id,
            start: config.decoder_start_token_id,
        };
        shape.check(at)?;
        Ok(shape)
    }

    fn check(&self, at: &Path) -> Result<()> {
        let Self { layers, buckets, distance, .. } = self;
        if *layers > MOST_LAYERS {
            bail!(at, "num_layers at most {MOST_LAYERS}", "{layers}", COPY_AGAIN);
        }
        if !(self.epsilon > 0.0 && self.epsilon.is_finite()) {
            bail!(at, "layer_norm_epsilon above 0", (self.epsilon.to_string()), COPY_AGAIN);
        }
        // A quarter of the buckets have a single distance each.
        if !(4..=1 << 16).contains(buckets) || !(buckets / 2 + 1..=1 << 32).contains(distance) {
            let expected = "relative_attention_num_buckets from 4, and a larger max_distance";
            bail!(at, expected, "{buckets} and {distance}", COPY_AGAIN);
        }
        for (name, id) in IDS.into_iter().zip([self.padding, self.end, self.start]) {
            if !(0..self.vocabulary).contains(&id) {
                bail!(at, "{name} below vocab_size", "{id}", COPY_AGAIN);
            }
        }
        Ok(())
    }
}

/// Adds the keys of a `generation_config.json`, and removes keys without a value. Ids must agree.
fn with_generation(at: &Path, mut config: Object, generation: Object) -> Result<Object> {
    // A key without a value is `None` in Python.
    config.retain(|_, value| !value.is_null());
    for (key, value) in generation {
        let known = config.get(&key);
        if IDS.contains(&&*key) && known.is_some_and(|known| *known != value) {
            let beside = at.with_file_name(GENERATION);
            bail!(&beside, "{key} as in config.json", "{value}", COPY_AGAIN);
        }
        if known.is_none() && !value.is_null() {
            config.insert(key, value);
        }
    }
    Ok(config)
}

const GENERATION: &str = "generation_config.json";

/// A T5's folder, with its configuration and the paths of its files.
#[derive(Debug, Clone)]
pub struct T5Folder {
    pub path: PathBuf,
    /// The sizes in `config.json`.
    pub shape: T5Shape,
    /// The files with the weights.
    pub weights: Vec<PathBuf>,
    /// `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// True if blanks before punctuation are removed from a generated text.
    pub cleans_up: bool,
    /// Digest over everything that a generated text depends on.
    pub checksum: Checksum,
}

impl T5Folder {
    /// Reads the configuration and takes the checksum of all files.
    pub fn open(path: &Path) -> Result<Self> {
        check(path)?;
        let at = path.join("config.json");
        let Some(text) = read_optional(&at)? else {
            return Err(missing(&at, "the configuration of a model").into());
        };
        let generation_at = path.join(GENERATION);
        let generation_text = read_optional(&generation_at)?.unwrap_or_default();
        let generation = read_object(&generation_at)?;
        let shape = T5Shape::read(&at, parse_object(&at, &text)?, generation)?;
        let weights = weights_of_model(path)?;
        let tokenizer = path.join("tokenizer.json");
        if !tokenizer.is_file() {
            let expected = "tokenizer.json, as `AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)` \
                            writes it";
            return Err(missing(&tokenizer, expected).into());
        }
        let cleans_up = cleans_up(path)?;
        let mut pieces = format!("t5 {} {cleans_up}", Checksum::of_pieces([&text[..]]));
        pieces += Checksum::of_pieces([&generation_text[..]]).as_str();
        for file in weights.iter().chain([&tokenizer]) {
            pieces += Checksum::of_file(file)?.as_str();
        }
        let checksum = Checksum::of(pieces.as_bytes());
        Ok(Self { path: path.to_owned(), shape, weights, tokenizer, cleans_up, checksum })
    }

    /// True if the configuration in a folder is a T5's.
    pub fn is_one(path: &Path) -> bool {
        let config = read_object(&path.join("config.json")).ok().flatten();
        config.is_some_and(|config| config.get("model_type") == Some(&MODEL_TYPE.into()))
    }

    /// A description in words.
    pub fn describe(&self) -> String {
        let T5Shape { layers, hidden, .. } = self.shape;
        let version = if self.shape.is_gated { "T5 1.1" } else { "T5" };
        format!("{version}, generates text, {layers} layers of {hidden} dimensions")
    }
}

/// True if blanks before punctuation are removed from a generated text.
fn cleans_up(path: &Path) -> Result<bool> {
    let config = read_object(&path.join("tokenizer_config.json"))?.unwrap_or_default();
    Ok(config.get("clean_up_tokenization_spaces") == Some(&Value::Bool(true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config() -> Value {
        json!({
            "model_type": "t5", "d_model": 4, "d_ff": 6, "d_kv": 2, "num_heads": 2, "num_layers": 1,
            "vocab_size": 9, "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0,
            "use_cache": true, "n_positions": 512, "is_encoder_decoder": true, "bos_token_id": null
        })
    }

    fn parse(key: &str, value: Value, generation: Option<&Value>) -> Result<T5Shape> {
        let mut config = config();
        config[key] = value;
        let object = |value: &Value| value.as_object().unwrap().clone();
        T5Shape::read("config.json".as_ref(), object(&config), generation.map(object))
    }

    #[test]
    fn settings_that_change_a_text_are_refused_by_key() {
        assert!(parse("use_cache", json!(false), None).is_ok());
        assert!(parse("a_key_of_next_year", json!(7), None).is_ok());
        for (key, value, says) in [
            ("model_type", json!("mt5"), "model_type `t5`, found `mt5`"),
            ("feed_forward_proj", json!("gated-silu"), "gated-silu"),
            ("d_model", json!("4"), "d_model a whole number"),
            ("d_model", json!(0), "d_model"),
            ("num_layers", json!(1_000_000_000), "num_layers at most"),
            ("num_heads", json!(i64::MAX), "num_heads"),
            ("num_decoder_layers", json!(2), "num_decoder_layers 1, found `2`"),
            ("relative_attention_num_buckets", json!(2), "from 4"),
            ("relative_attention_max_distance", json!(16), "a larger max_distance"),
            ("layer_norm_epsilon", json!(0.0), "above 0"),
            ("eos_token_id", json!(9), "eos_token_id below vocab_size, found 9"),
            ("eos_token_id", json!([1, 2]), "eos_token_id a whole number"),
            ("decoder_start_token_id", json!(null), "a key `decoder_start_token_id`"),
            ("no_repeat_ngram_size", json!(3), "no_repeat_ngram_size 0, found `3`"),
            ("bad_words_ids", json!([[1]]), "bad_words_ids null, found `[[1]]`"),
            ("is_encoder_decoder", json!(false), "is_encoder_decoder true"),
            ("dense_act_fn", json!("gelu_new"), "dense_act_fn \"relu\""),
            ("is_gated_act", json!(true), "is_gated_act false"),
        ] {
            let error = parse(key, value, None).unwrap_err().to_string();
            assert!(error.starts_with("config.json: ") && error.contains(says), "{error}");
        }
    }

    #[test]
    fn ids_may_come_from_the_generation_config_and_must_agree() {
        let both = |value| {
            parse("decoder_start_token_id", value, Some(&json!({"decoder_start_token_id": 3})))
        };
        assert_eq!(both(json!(null)).unwrap().start, 3);
        assert_eq!(both(json!(3)).unwrap().start, 3);
        let error = both(json!(0)).unwrap_err().to_string();
        assert!(error.contains("generation_config.json") && error.contains("found 3"), "{error}");
        let other = parse("use_cache", json!(true), Some(&json!({"repetition_penalty": 2.0})));
        let error = other.unwrap_err().to_string();
        assert_eq!(error, "config.json: expected repetition_penalty 1.0, found `2.0`");
    }

    #[test]
    fn the_output_is_scaled_where_words_are_tied_or_the_file_says_so() {
        let scales = |key: &str, value| parse(key, value, None).unwrap().scales_output;
        assert!(scales("use_cache", json!(true)) && scales("tie_word_embeddings", json!(true)));
        assert!(!scales("tie_word_embeddings", json!(false)));
        assert!(!scales("scale_decoder_outputs", json!(false)));
    }
}
