//! What lies beside a transformer's weights: sentence-transformers' settings of it, and what
//! `tokenizer_config.json` says.

use crate::files::{read_object, read_optional};
use crate::sentence::{DOCUMENTED, read_typed};
use clariq_core::{Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

/// `sentence_bert_config.json`, or one of its older names.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TransformerConfig {
    #[serde(default)]
    pub(crate) max_seq_length: Option<usize>,
    #[serde(default)]
    pub(crate) do_lower_case: bool,
    #[serde(default, rename = "transformer_task")]
    _task: Value,
    /// Read below: what else than the usual would change the vectors.
    #[serde(default)]
    modality_config: Map<String, Value>,
    #[serde(default)]
    module_output_name: Option<String>,
    // Whether padding is computed, which no number depends on.
    #[serde(default, rename = "unpad_inputs")]
    _unpad_inputs: Value,
    #[serde(default)]
    processing_kwargs: Map<String, Value>,
    #[serde(default, alias = "model_kwargs")]
    model_args: Map<String, Value>,
    #[serde(default, alias = "processor_kwargs", alias = "tokenizer_kwargs")]
    tokenizer_args: Map<String, Value>,
    #[serde(default, alias = "config_kwargs")]
    config_args: Map<String, Value>,
}

impl TransformerConfig {
    const NAMES: [&'static str; 7] = [
        "sentence_bert_config.json",
        "sentence_roberta_config.json",
        "sentence_distilbert_config.json",
        "sentence_camembert_config.json",
        "sentence_albert_config.json",
        "sentence_xlm-roberta_config.json",
        "sentence_xlnet_config.json",
    ];

    /// Reads the first of its names that is in a transformer's folder.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        for name in Self::NAMES {
            let at = path.join(name);
            if let Some(config) = read_typed::<Self>(&at)? {
                config.check(&at)?;
                return Ok(config);
            }
        }
        Ok(Self::default())
    }

    fn check(&self, at: &Path) -> Result<()> {
        let kinds = [
            ("processing_kwargs", &self.processing_kwargs),
            ("model_args", &self.model_args),
            ("tokenizer_args", &self.tokenizer_args),
            ("config_args", &self.config_args),
        ];
        if let Some((key, value)) = kinds.into_iter().find(|(_, value)| !value.is_empty()) {
            bail!(at, "{key} {{}}", (Value::Object(value.clone()).to_string()), DOCUMENTED);
        }
        for (key, value) in &self.modality_config {
            let output = value["method_output_name"].as_str();
            let is_text = matches!(key.as_str(), "text" | "message")
                && value["method"] == "forward"
                && matches!(output, Some("last_hidden_state" | "logits"));
            if !is_text {
                let found = format!("`{key}` {value}");
                bail!(at, "a modality_config of text, by `forward`", found, DOCUMENTED);
            }
        }
        match self.module_output_name.as_deref() {
            None | Some("token_embeddings" | "scores") => {}
            Some(other) => {
                bail!(at, "module_output_name `token_embeddings`", "`{other}`", DOCUMENTED)
            }
        }
        match self.max_seq_length {
            Some(found @ ..3) => bail!(at, "max_seq_length of at least 3", "{found}", DOCUMENTED),
            _ => Ok(()),
        }
    }
}

/// What `tokenizer_config.json` says that matters here; its other keys are of the library that wrote
/// it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Words {
    /// Whether BERT's own tokenizer makes letters small.
    pub lower_case: bool,
    /// Whether it takes accents off; `None`: where letters are made small.
    pub strip_accents: Option<bool>,
    /// Whether it takes each Chinese character for a word.
    pub chinese_chars: bool,
    /// Whether the model is told which text of a pair a token is of; `None`: as its family is.
    pub segments: Option<bool>,
    /// The longest text, where it says one.
    pub most: Option<usize>,
    /// The class that reads it in Hugging Face's library.
    pub class: Option<String>,
}

impl Words {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let at = path.join("tokenizer_config.json");
        let object = match read_optional(&at)? {
            Some(bytes) => read_object(&at, &bytes)?,
            None => Map::new(),
        };
        let flag = |key: &str| -> Result<Option<bool>> {
            match object.get(key) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::Bool(flag)) => Ok(Some(*flag)),
                Some(other) => bail!(&at, "{key} true or false", "{other}", DOCUMENTED),
            }
        };
        let names = object.get("model_input_names").and_then(Value::as_array);
        let segments = names.map(|names| names.iter().any(|name| name == "token_type_ids"));
        let class = object.get("tokenizer_class").and_then(Value::as_str).map(str::to_owned);
        // The class that release 5 of the library writes for a tokenizer of no model of its own.
        let generic = class.as_deref() == Some("TokenizersBackend");
        let segments = segments.or(generic.then_some(false));
        // Where no length was given, the library writes 10 to the 30.
        let most = object.get("model_max_length").and_then(Value::as_u64);
        let most = most.and_then(|most| usize::try_from(most).ok()).filter(|&most| most > 2);
        Ok(Self {
            lower_case: flag("do_lower_case")?.unwrap_or(true),
            strip_accents: flag("strip_accents")?,
            chinese_chars: flag("tokenize_chinese_chars")?.unwrap_or(true),
            segments,
            most,
            class,
        })
    }

    /// What of it is not usual, for a model with `vocab.txt` alone (`alone`) or with a tokenizer of
    /// its own.
    pub(crate) fn digest(&self, alone: bool) -> Option<String> {
        let usual = Self { lower_case: true, chinese_chars: true, ..Self::default() };
        let Self { lower_case, strip_accents, chinese_chars, segments, .. } = self;
        let mut text = String::new();
        if alone && (*lower_case, *strip_accents, *chinese_chars) != (usual.lower_case, None, true)
        {
            text = format!("{lower_case} {strip_accents:?} {chinese_chars}");
        }
        if *segments == Some(false) {
            text += " one segment";
        }
        (!text.is_empty()).then_some(text)
    }
}
