//! Settings beside a transformer's weights: those of sentence-transformers and of the tokenizer.

use super::files::{DOCUMENTED, read_keys, read_object, read_settings};
use clariq_core::{Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// `sentence_bert_config.json`, or one of its older names.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TransformerConfig {
    pub(crate) max_seq_length: Option<usize>,
    pub(crate) do_lower_case: bool,
    module_output_name: Option<String>,
    modality_config: BTreeMap<String, Modality>,
}

/// How an input of a kind is read.
#[derive(Debug, PartialEq, Deserialize)]
struct Modality {
    method: String,
    method_output_name: Option<String>,
}

impl TransformerConfig {
    /// Reads the first of its names that is in a transformer's folder.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        for class in
            ["bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"]
        {
            let at = path.join(format!("sentence_{class}_config.json"));
            let Some(mut object) = read_object(&at)? else { continue };
            // They change no number.
            object.remove("transformer_task");
            object.remove("unpad_inputs");
            // Settings of the libraries below, which may be there if they are empty.
            object.retain(|key, value| {
                let is_of_library = key.ends_with("_args") || key.ends_with("_kwargs");
                !is_of_library || !(value.is_null() || *value == json!({}))
            });
            let config: Self = read_keys(&at, object)?;
            config.check(&at)?;
            return Ok(config);
        }
        Ok(Self::default())
    }

    fn check(&self, at: &Path) -> Result<()> {
        for (kind, modality) in &self.modality_config {
            let output = modality.method_output_name.as_deref();
            let is_text = matches!(kind.as_str(), "text" | "message")
                && modality.method == "forward"
                && matches!(output, Some("last_hidden_state" | "logits"));
            if !is_text {
                let found = format!("`{kind}` {modality:?}");
                bail!(at, "a modality_config of text, by `forward`", found, DOCUMENTED);
            }
        }
        if let Some(name) = &self.module_output_name
            && !matches!(name.as_str(), "token_embeddings" | "scores")
        {
            bail!(at, "module_output_name `token_embeddings`", "`{name}`", DOCUMENTED);
        }
        if let Some(most) = self.max_seq_length.filter(|most| *most < 3) {
            bail!(at, "max_seq_length of at least 3", "{most}", DOCUMENTED);
        }
        Ok(())
    }
}

/// `tokenizer_config.json`, as far as it matters here; its other keys are of the library that wrote
/// it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TokenizerConfig {
    do_lower_case: Option<bool>,
    /// True if BERT's own tokenizer removes accents; by default if it lower-cases.
    pub strip_accents: Option<bool>,
    tokenize_chinese_chars: Option<bool>,
    model_input_names: Option<Vec<String>>,
    /// The library writes 10 to the 30 where no length was given.
    model_max_length: Option<f64>,
    /// The class that reads it in Hugging Face's library.
    pub tokenizer_class: Option<String>,
}

impl TokenizerConfig {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        Ok(read_settings(&path.join("tokenizer_config.json"))?.unwrap_or_default())
    }

    /// True if BERT's own tokenizer lower-cases.
    pub(crate) fn lower_case(&self) -> bool {
        self.do_lower_case.unwrap_or(true)
    }

    /// True if BERT's own tokenizer makes a word of each Chinese character.
    pub(crate) fn chinese_chars(&self) -> bool {
        self.tokenize_chinese_chars.unwrap_or(true)
    }

    /// Whether the model tells the two texts of a pair apart; `None`: as usual in its family.
    pub(crate) fn segments(&self) -> Option<bool> {
        if let Some(names) = &self.model_input_names {
            return Some(names.iter().any(|name| name == "token_type_ids"));
        }
        // The class that release 5 of the library writes for a tokenizer of no model of its own.
        let is_generic = self.tokenizer_class.as_deref() == Some("TokenizersBackend");
        is_generic.then_some(false)
    }

    /// The longest text, if it names one.
    #[expect(clippy::cast_sign_loss, reason = "the length is in a range above 0")]
    pub(crate) fn max_tokens(&self) -> Option<usize> {
        let most = self.model_max_length.filter(|most| (3.0..1e9).contains(most))?;
        Some(most as usize)
    }

    /// The unusual settings, for a model with `vocab.txt` alone (`alone`) or with a tokenizer of
    /// its own.
    pub(crate) fn digest(&self, alone: bool) -> String {
        let lower_case = self.lower_case();
        let chinese_chars = self.chinese_chars();
        let strip_accents = self.strip_accents;
        let mut text = String::new();
        if alone && (lower_case, strip_accents, chinese_chars) != (true, None, true) {
            text = format!("{lower_case} {strip_accents:?} {chinese_chars}");
        }
        if self.segments() == Some(false) {
            text += " one segment";
        }
        text
    }
}

/// True if blanks before punctuation are removed from a written text.
pub(crate) fn cleans_up(path: &Path) -> Result<bool> {
    let config = read_object(&path.join("tokenizer_config.json"))?.unwrap_or_default();
    Ok(config.get("clean_up_tokenization_spaces") == Some(&Value::Bool(true)))
}
