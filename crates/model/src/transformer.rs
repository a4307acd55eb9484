//! What lies beside a transformer's weights: sentence-transformers' settings of it, and what
//! `tokenizer_config.json` says.

use crate::files::{DOCUMENTED, Keys};
use clariq_core::{Result, bail};
use serde_json::{Map, Value};
use std::path::Path;

/// `sentence_bert_config.json`, or one of its older names.
#[derive(Debug, Default)]
pub(crate) struct TransformerConfig {
    pub(crate) max_seq_length: Option<usize>,
    pub(crate) do_lower_case: bool,
}

impl TransformerConfig {
    /// Reads the first of its names that is in a transformer's folder.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        for class in
            ["bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"]
        {
            let at = path.join(format!("sentence_{class}_config.json"));
            if let Some(keys) = Keys::read_optional(&at)? {
                return Self::of(&keys);
            }
        }
        Ok(Self::default())
    }

    fn of(keys: &Keys) -> Result<Self> {
        // Settings of the libraries below, none of which is understood.
        for library in ["processing", "processor", "model", "tokenizer", "config"] {
            for key in ["args", "kwargs"].map(|kind| format!("{library}_{kind}")) {
                if keys.value(&key).is_some() {
                    keys.expect(&key, &["{}"], DOCUMENTED)?;
                }
            }
        }
        let modalities = keys.get::<Map<String, Value>>("modality_config")?.unwrap_or_default();
        for (key, value) in modalities {
            let output = value["method_output_name"].as_str();
            let is_text = matches!(key.as_str(), "text" | "message")
                && value["method"] == "forward"
                && matches!(output, Some("last_hidden_state" | "logits"));
            if !is_text {
                let found = format!("`{key}` {value}");
                bail!(keys.at, "a modality_config of text, by `forward`", found, DOCUMENTED);
            }
        }
        let outputs = ["\"token_embeddings\"", "\"scores\"", "null"];
        keys.expect("module_output_name", &outputs, DOCUMENTED)?;
        let max_seq_length = keys.get_or_null("max_seq_length")?;
        if max_seq_length.is_some_and(|most| most < 3) {
            return Err(keys.wrong("max_seq_length", "of at least 3").into());
        }
        let do_lower_case = keys.get("do_lower_case")?.unwrap_or_default();
        // No number depends on whether padding is computed.
        keys.no_others(&["transformer_task", "unpad_inputs"], DOCUMENTED)?;
        Ok(Self { max_seq_length, do_lower_case })
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
    /// What holds where there is no such file.
    fn usual() -> Self {
        Self { lower_case: true, chinese_chars: true, ..Self::default() }
    }

    pub(crate) fn read(path: &Path) -> Result<Self> {
        let at = path.join("tokenizer_config.json");
        let Some(keys) = Keys::read_optional(&at)? else { return Ok(Self::usual()) };
        let names = keys.value("model_input_names").and_then(Value::as_array);
        let segments = names.map(|names| names.iter().any(|name| name == "token_type_ids"));
        let class = keys.value("tokenizer_class").and_then(Value::as_str).map(str::to_owned);
        // The class that release 5 of the library writes for a tokenizer of no model of its own.
        let generic = class.as_deref() == Some("TokenizersBackend");
        let segments = segments.or(generic.then_some(false));
        // Where no length was given, the library writes 10 to the 30.
        let most = keys.value("model_max_length").and_then(Value::as_u64);
        let most = most.and_then(|most| usize::try_from(most).ok()).filter(|&most| most > 2);
        Ok(Self {
            lower_case: keys.get_or_null("do_lower_case")?.unwrap_or(true),
            strip_accents: keys.get_or_null("strip_accents")?,
            chinese_chars: keys.get_or_null("tokenize_chinese_chars")?.unwrap_or(true),
            segments,
            most,
            class,
        })
    }

    /// What of it is not usual, for a model with `vocab.txt` alone (`alone`) or with a tokenizer of
    /// its own.
    pub(crate) fn digest(&self, alone: bool) -> Option<String> {
        let Self { lower_case, strip_accents, chinese_chars, segments, .. } = self;
        let mut text = String::new();
        if alone && (*lower_case, *strip_accents, *chinese_chars) != (true, None, true) {
            text = format!("{lower_case} {strip_accents:?} {chinese_chars}");
        }
        if *segments == Some(false) {
            text += " one segment";
        }
        (!text.is_empty()).then_some(text)
    }
}
