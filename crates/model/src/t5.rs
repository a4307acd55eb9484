//! The folder of a T5, which writes a text for a text (Raffel et al., JMLR 2020): sizes, tensors,
//! and where the tokenizer is.

use crate::config::MOST_LAYERS;
use crate::files::{COPY_AGAIN, Keys, missing, read_optional};
use crate::folder::read_weights;
use crate::tensors::Tensors;
use clariq_core::{Result, bail, sha256, sha256_hex, sha256_of_file};
use serde_json::Value;
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
    /// The distance from which on all are in the last bucket.
    pub distance: i64,
    /// What is added to a variance before its root is taken.
    pub epsilon: f64,
    /// Whether feed-forward layers have a gate, as in T5 1.1.
    pub is_gated: bool,
    /// Whether the decoder's vectors are scaled before they are compared with those of words, as in
    /// the first T5 and not in 1.1.
    pub scales_output: bool,
    /// The id of the padding token.
    pub padding: i64,
    /// The id of the token that ends a text.
    pub end: i64,
    /// The id of the token that a written text begins behind.
    pub start: i64,
}

/// Keys that change nothing of what is written: they are about training and other programs, repeat
/// another key, or are given where a text is written.
const IGNORED: [&str; 23] = [
    "_from_model_config",
    "_name_or_path",
    "architectures",
    "bos_token_id",
    "classifier_dropout",
    "dropout_rate",
    "dtype",
    "early_stopping",
    "gradient_checkpointing",
    "initializer_factor",
    "length_penalty",
    "max_length",
    "max_new_tokens",
    "model_type",
    "n_positions",
    "num_beams",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "task_specific_params",
    "torch_dtype",
    "transformers_version",
    "use_cache",
];
/// Keys that `generation_config.json` may have in place of `config.json`.
const IDS: [&str; 3] = ["pad_token_id", "eos_token_id", "decoder_start_token_id"];
const MODEL_TYPE: &str = "t5";

impl T5Shape {
    /// Parses a `config.json` with what a `generation_config.json` beside it adds; `at` names the
    /// first in messages.
    pub fn parse(at: &Path, text: &[u8], generation: Option<&[u8]>) -> Result<Self> {
        let mut config = Keys::parse(at, text)?;
        let kind = config.values.get("model_type").and_then(Value::as_str).unwrap_or_default();
        if kind != MODEL_TYPE {
            let hint = "`rewrite` takes a T5 that was fine-tuned to rewrite utterances";
            bail!(at, "model_type `{MODEL_TYPE}`", "`{kind}`", hint);
        }
        if let Some(generation) = generation {
            let beside = at.with_file_name(GENERATION);
            for (key, value) in Keys::parse(&beside, generation)?.values {
                let known = config.values.get(&key).filter(|known| !known.is_null());
                if IDS.contains(&&*key) && known.is_some_and(|known| *known != value) {
                    bail!(&beside, "{key} as in config.json", "{value}", COPY_AGAIN);
                }
                if IDS.contains(&&*key) || known.is_none() {
                    config.values.insert(key, value);
                }
            }
        }
        Self::read(config)
    }

    fn read(mut config: Keys) -> Result<Self> {
        // Python's `None` is what a key without a value has.
        config.values.retain(|_, value| !value.is_null());
        let is_gated = match config.get::<String>("feed_forward_proj")?.as_deref() {
            None | Some("relu") => false,
            Some("gated-gelu") => true,
            Some(_) => {
                return Err(config.wrong("feed_forward_proj", "`relu` or `gated-gelu`").into());
            }
        };
        let layers = config.size("num_layers", None)?;
        let (number, gate) = (layers.to_string(), is_gated.to_string());
        // The first two repeat `feed_forward_proj`.
        let only = [
            ("dense_act_fn", if is_gated { "\"gelu_new\"" } else { "\"relu\"" }),
            ("is_gated_act", &*gate),
            ("do_sample", "false"),
            ("is_decoder", "false"),
            ("is_encoder_decoder", "true"),
            ("no_repeat_ngram_size", "0"),
            ("num_decoder_layers", &*number),
        ];
        let hint = "it may change what is written; remove the key where it does not";
        for (key, value) in only {
            config.expect(key, &[value, "null"], hint)?;
        }
        let ties = config.get("tie_word_embeddings")?.unwrap_or(true);
        let [padding, end, start] = IDS.map(|key| config.need(key));
        let shape = Self {
            hidden: config.size("d_model", None)?,
            intermediate: config.size("d_ff", None)?,
            key: config.size("d_kv", None)?,
            heads: config.size("num_heads", None)?,
            layers,
            vocabulary: config.size("vocab_size", None)?,
            buckets: config.get("relative_attention_num_buckets")?.unwrap_or(32),
            distance: config.get("relative_attention_max_distance")?.unwrap_or(128),
            epsilon: config.epsilon("layer_norm_epsilon", 1e-6)?,
            is_gated,
            scales_output: config.get("scale_decoder_outputs")?.unwrap_or(ties),
            padding: padding?,
            end: end?,
            start: start?,
        };
        config.no_others(&IGNORED, hint)?;
        shape.check(config.at)?;
        Ok(shape)
    }

    fn check(&self, at: &Path) -> Result<()> {
        let Self { layers, heads, key, buckets, distance, .. } = self;
        if *layers > MOST_LAYERS || heads.checked_mul(*key).is_none() {
            let found = format!("{layers}, with {heads} heads of {key}");
            bail!(at, "num_layers at most {MOST_LAYERS}", found, COPY_AGAIN);
        }
        // Half of the buckets, and half of these, are for single distances.
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

    /// Every tensor of the architecture with its shape, `lm_head.weight` left out.
    pub fn tensors(&self) -> Tensors {
        let &Self { hidden, intermediate, heads, .. } = self;
        let inner = heads * self.key;
        let mut all = Tensors::from([("shared.weight".to_owned(), vec![self.vocabulary, hidden])]);
        let mut add =
            |name: String, size: &[i64]| all.insert(format!("{name}.weight"), size.to_vec());
        for side in ["encoder", "decoder"] {
            let bias = format!("{side}.block.0.layer.0.SelfAttention.relative_attention_bias");
            add(bias, &[self.buckets, heads]);
            add(format!("{side}.final_layer_norm"), &[hidden]);
            let attentions: &[&str] = if side == "encoder" {
                &["SelfAttention"]
            } else {
                &["SelfAttention", "EncDecAttention"]
            };
            for block in 0..self.layers {
                let layer = |number: usize| format!("{side}.block.{block}.layer.{number}");
                for (number, attention) in attentions.iter().enumerate() {
                    for part in ["q", "k", "v"] {
                        add(format!("{}.{attention}.{part}", layer(number)), &[inner, hidden]);
                    }
                    add(format!("{}.{attention}.o", layer(number)), &[hidden, inner]);
                    add(format!("{}.layer_norm", layer(number)), &[hidden]);
                }
                let last = layer(attentions.len());
                let first: &[&str] = if self.is_gated { &["wi_0", "wi_1"] } else { &["wi"] };
                for part in first {
                    add(format!("{last}.DenseReluDense.{part}"), &[intermediate, hidden]);
                }
                add(format!("{last}.DenseReluDense.wo"), &[hidden, intermediate]);
                add(format!("{last}.layer_norm"), &[hidden]);
            }
        }
        all
    }

    /// Checks that weights hold every tensor in its size, and no others but those that repeat one.
    pub fn check_tensors(&self, at: &Path, found: &Tensors) -> Result<()> {
        // Before any name is made, so that there are not more of them than the file has tensors.
        let least = usize::try_from(self.layers).unwrap_or_default() * 14;
        let hint = "config.json and the weights are of different models";
        if found.len() < least {
            let found = found.len();
            bail!(at, "{least} tensors and more", "{found}", hint);
        }
        let mut expected = self.tensors();
        expected.insert(HEAD.to_owned(), vec![self.vocabulary, self.hidden]);
        for (name, size) in found.iter().filter(|(name, _)| !REPEATED.contains(&&***name)) {
            match expected.remove(name) {
                Some(wanted) if wanted == *size => {}
                Some(wanted) => bail!(at, "{name} of the shape {wanted:?}", "{size:?}", hint),
                None => bail!(at, "the tensors of a T5 as config.json has it", "`{name}`", hint),
            }
        }
        expected.remove(HEAD);
        if let Some(name) = expected.keys().next() {
            let missing = expected.len();
            bail!(at, "all tensors of a T5", "{missing} missing, {name} first", hint);
        }
        Ok(())
    }
}

/// The layer over the decoder's vectors, where it is not the table of words.
pub const HEAD: &str = "lm_head.weight";
/// Tensors that are others under another name, or that nothing uses.
const REPEATED: [&str; 3] = [
    "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
    "decoder.embed_tokens.weight",
    "encoder.embed_tokens.weight",
];
const GENERATION: &str = "generation_config.json";

/// A folder whose configuration was read and whose files are there.
#[derive(Debug, Clone)]
pub struct T5Folder {
    /// The folder.
    pub path: PathBuf,
    /// What the architecture needs of `config.json`.
    pub shape: T5Shape,
    /// The files with the weights.
    pub weights: Vec<PathBuf>,
    /// `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// Whether blanks in front of punctuation are removed from what is written.
    pub cleans_up: bool,
    /// Digest over all that the texts that are written depend on.
    pub checksum: String,
}

impl T5Folder {
    /// Reads the configuration, checks it against the headers of the weights, and takes the checksum
    /// of all files.
    pub fn open(path: &Path) -> Result<Self> {
        let at = path.join("config.json");
        let Some(config) = read_optional(&at)? else {
            return Err(missing(&at, "the configuration of a model").into());
        };
        let generation = read_optional(&path.join(GENERATION))?;
        let shape = T5Shape::parse(&at, &config, generation.as_deref())?;
        let (weights, tensors) = read_weights(path)?;
        let tokenizer = path.join("tokenizer.json");
        if !tokenizer.is_file() {
            let expected = "tokenizer.json, as `AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)` \
                            writes it";
            return Err(missing(&tokenizer, expected).into());
        }
        shape.check_tensors(&weights[0], &tensors)?;
        let words = path.join("tokenizer_config.json");
        let words = Keys::read_optional(&words)?;
        let cleans_up = words.is_some_and(|words| {
            words.values.get("clean_up_tokenization_spaces") == Some(&Value::Bool(true))
        });
        let mut pieces = format!("t5 {} {cleans_up}", sha256([&config[..]]));
        pieces += sha256([&generation.unwrap_or_default()[..]]).as_str();
        for file in weights.iter().chain([&tokenizer]) {
            pieces += &sha256_of_file(file)?;
        }
        let (path, checksum) = (path.to_owned(), sha256_hex(pieces.as_bytes()));
        Ok(Self { path, shape, weights, tokenizer, cleans_up, checksum })
    }

    /// Whether the configuration in a folder is a T5's.
    pub fn is_one(path: &Path) -> bool {
        let at = path.join("config.json");
        let config = read_optional(&at).ok().flatten();
        let config = config.and_then(|bytes| Keys::parse(&at, &bytes).ok());
        let kind = config.as_ref().and_then(|config| config.values.get("model_type"));
        kind.is_some_and(|kind| kind == MODEL_TYPE)
    }

    /// What the model is, in words.
    pub fn describe(&self) -> String {
        let T5Shape { layers, hidden, .. } = self.shape;
        let version = if self.shape.is_gated { "T5 1.1" } else { "T5" };
        format!("{version}, writes a text for a text, {layers} layers of {hidden} dimensions")
    }
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
        let generation = generation.map(|value| value.to_string().into_bytes());
        T5Shape::parse("config.json".as_ref(), config.to_string().as_bytes(), generation.as_deref())
    }

    #[test]
    fn what_changes_a_text_and_is_not_understood_is_refused_by_its_key() {
        assert!(parse("use_cache", json!(false), None).is_ok());
        for (key, value, says) in [
            ("model_type", json!("mt5"), "model_type `t5`, found `mt5`"),
            ("feed_forward_proj", json!("gated-silu"), "gated-silu"),
            ("d_model", json!("4"), "d_model a whole number"),
            ("d_model", json!(0), "d_model of at least 1"),
            ("num_layers", json!(1_000_000_000), "num_layers at most"),
            ("num_heads", json!(i64::MAX), "num_layers at most"),
            ("num_decoder_layers", json!(2), "num_decoder_layers 1, found `2`"),
            ("relative_attention_num_buckets", json!(2), "from 4"),
            ("relative_attention_max_distance", json!(16), "a larger max_distance"),
            ("layer_norm_epsilon", json!(0.0), "above 0"),
            ("eos_token_id", json!(9), "eos_token_id below vocab_size, found 9"),
            ("eos_token_id", json!([1, 2]), "eos_token_id a whole number"),
            ("decoder_start_token_id", json!(null), "decoder_start_token_id in the file"),
            ("no_repeat_ngram_size", json!(3), "no_repeat_ngram_size 0, found `3`"),
            ("bad_words_ids", json!([[1]]), "`bad_words_ids`: [[1]]"),
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
        assert!(other.unwrap_err().to_string().contains("`repetition_penalty`: 2.0"));
    }

    #[test]
    fn the_output_is_scaled_where_words_are_tied_or_the_file_says_so() {
        let scales = |key: &str, value| parse(key, value, None).unwrap().scales_output;
        assert!(scales("use_cache", json!(true)) && scales("tie_word_embeddings", json!(true)));
        assert!(!scales("tie_word_embeddings", json!(false)));
        assert!(!scales("scale_decoder_outputs", json!(false)));
    }

    #[test]
    fn weights_must_be_those_of_the_configuration() {
        let shape = parse("use_cache", json!(true), None).unwrap();
        let check = |change: &dyn Fn(&mut Tensors)| {
            let mut tensors = shape.tensors();
            change(&mut tensors);
            let checked = shape.check_tensors("w".as_ref(), &tensors);
            checked.map_err(|error| error.to_string())
        };
        check(&|_| {}).unwrap();
        check(&|all| drop(all.insert(HEAD.to_owned(), vec![9, 4]))).unwrap();
        check(&|all| drop(all.insert("encoder.embed_tokens.weight".to_owned(), vec![9, 4])))
            .unwrap();
        let error = check(&|all| drop(all.remove("shared.weight"))).unwrap_err();
        assert!(error.contains("1 missing, shared.weight first"), "{error}");
        let error =
            check(&|all| drop(all.insert("shared.weight".to_owned(), vec![8, 4]))).unwrap_err();
        assert!(error.contains("shared.weight of the shape [9, 4], found [8, 4]"), "{error}");
        let more = "encoder.block.1.layer.0.layer_norm.weight";
        let error = check(&|all| drop(all.insert(more.to_owned(), vec![4]))).unwrap_err();
        assert!(error.contains(more), "{error}");
        let error = check(&Tensors::clear).unwrap_err();
        assert!(error.contains("14 tensors and more, found 0"), "{error}");
    }
}
