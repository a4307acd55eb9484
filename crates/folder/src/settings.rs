//! Settings beside a transformer's weights, by sentence-transformers and by the tokenizer.

use crate::family::Family;
use crate::files::{DOCUMENTED, read_keys, read_object, read_settings};
use clariq_core::{Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(super) const SENTENCE_SETTINGS: &str = "config_sentence_transformers.json";

/// `config_sentence_transformers.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SentenceTransformersConfig {
    #[serde(rename = "__version__")]
    _version: Value,
    pub(super) model_type: Option<String>,
    pub(super) prompts: BTreeMap<String, Option<String>>,
    pub(super) default_prompt_name: Option<String>,
    pub(super) similarity_fn_name: Option<String>,
    pub(super) truncate_dim: Option<usize>,
    pub(super) activation_fn: Option<String>,
}

impl SentenceTransformersConfig {
    pub(super) fn read(root: &Path) -> Result<Self> {
        Ok(read_settings(&root.join(SENTENCE_SETTINGS))?.unwrap_or_default())
    }

    /// Refuses a default prompt that is not among the prompts, as sentence-transformers does.
    pub(super) fn check_default_prompt(&self, at: &Path) -> Result<()> {
        match &self.default_prompt_name {
            Some(name) if !self.prompts.contains_key(name) => {
                bail!(at, "a prompt `{name}`, default_prompt_name", "none", DOCUMENTED)
            }
            _ => Ok(()),
        }
    }

    /// The first prompt of these names, or the default prompt. Empty prompts do not count:
    /// sentence-transformers writes them for `query` and `document` by itself.
    pub(super) fn prompt(&self, names: &[&str]) -> String {
        for name in names {
            if let Some(Some(prompt)) = self.prompts.get(*name)
                && !prompt.is_empty()
            {
                return prompt.clone();
            }
        }
        let default = self.default_prompt_name.as_ref().and_then(|name| self.prompts.get(name));
        default.cloned().flatten().unwrap_or_default()
    }

    /// The prompt of that name and no other, as `encode_query` and `encode_document` of release 6 take it:
    /// an empty one, which is always there, keeps the default prompt away.
    pub(super) fn prompt_named(&self, name: &str) -> String {
        self.prompts.get(name).cloned().flatten().unwrap_or_default()
    }

    pub(super) fn has_prompts(&self) -> bool {
        self.prompts.values().flatten().any(|prompt| !prompt.is_empty())
    }
}

/// `sentence_bert_config.json`, or one of its older names.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TransformerConfig {
    pub(crate) max_seq_length: Option<usize>,
    pub(crate) do_lower_case: bool,
    module_output_name: Option<String>,
    modality_config: BTreeMap<String, Modality>,
}

/// The method that reads a kind of input.
#[derive(Debug, PartialEq, Deserialize)]
struct Modality {
    method: String,
    method_output_name: Option<String>,
}

impl TransformerConfig {
    /// Reads the first of these files that is in a transformer's folder.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        for class in
            ["bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"]
        {
            let at = path.join(format!("sentence_{class}_config.json"));
            let Some(mut object) = read_object(&at)? else { continue };
            // These two keys change no number.
            object.remove("transformer_task");
            object.remove("unpad_inputs");
            // Options for other libraries, accepted only if they are empty.
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

/// The keys of `tokenizer_config.json` that matter here.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct TokenizerConfig {
    do_lower_case: Option<bool>,
    /// True if BERT's own tokenizer removes accents; by default if it lower-cases.
    pub strip_accents: Option<bool>,
    tokenize_chinese_chars: Option<bool>,
    add_prefix_space: Option<bool>,
    model_input_names: Option<Vec<String>>,
    /// Hugging Face's library writes 1e30 for a tokenizer without a limit.
    model_max_length: Option<f64>,
    /// The class of the tokenizer in Hugging Face's library.
    pub tokenizer_class: Option<String>,
}

impl TokenizerConfig {
    pub fn read(path: &Path) -> Result<Self> {
        let at = path.join("tokenizer_config.json");
        let config: Self = read_settings(&at)?.unwrap_or_default();
        if let Some(most) = config.model_max_length.filter(|most| *most < 1.0) {
            bail!(&at, "model_max_length of at least 1", "{most}", DOCUMENTED);
        }
        Ok(config)
    }

    /// True if BERT's own tokenizer lower-cases.
    pub(crate) fn lower_case(&self) -> bool {
        self.do_lower_case.unwrap_or(true)
    }

    /// True if BERT's own tokenizer makes a word of each Chinese character.
    pub(crate) fn chinese_chars(&self) -> bool {
        self.tokenize_chinese_chars.unwrap_or(true)
    }

    /// True if a tokenizer of RoBERTa or DeBERTa reads a blank before a text.
    pub(crate) fn prefix_space(&self) -> bool {
        self.add_prefix_space.unwrap_or(false)
    }

    /// The class of the tokenizer without its ending, which Hugging Face's library derives from the
    /// `model_type` if the file has none.
    pub(crate) fn class(&self, family: Family) -> &str {
        let Some(class) = &self.tokenizer_class else {
            return match family {
                Family::Bert => "Bert",
                Family::DistilBert => "DistilBert",
                Family::Electra => "Electra",
                Family::Mpnet => "MPNet",
                Family::Roberta => "Roberta",
                Family::Deberta => "Deberta",
                Family::Albert | Family::DebertaV2 => "",
            };
        };
        let name = class.strip_suffix("Fast").unwrap_or(class);
        name.strip_suffix("Tokenizer").unwrap_or(name)
    }

    /// True if the model has segments for the two texts of a pair; `None` for the family's default.
    pub fn segments(&self) -> Option<bool> {
        if let Some(names) = &self.model_input_names {
            return Some(names.iter().any(|name| name == "token_type_ids"));
        }
        // Release 5 of the library writes this class for a tokenizer that belongs to no model.
        let is_generic = self.tokenizer_class.as_deref() == Some("TokenizersBackend");
        is_generic.then_some(false)
    }

    /// The longest text, if there is a limit.
    #[expect(clippy::cast_sign_loss, reason = "the length is in a range above 0")]
    pub fn max_tokens(&self) -> Option<usize> {
        let most = self.model_max_length.filter(|most| (1.0..1e9).contains(most))?;
        Some(most as usize)
    }

    /// The settings that differ from the defaults.
    pub fn digest(&self) -> String {
        let lower_case = self.lower_case();
        let chinese_chars = self.chinese_chars();
        let strip_accents = self.strip_accents;
        let mut text = String::new();
        if (lower_case, strip_accents, chinese_chars) != (true, None, true) {
            text = format!("{lower_case} {strip_accents:?} {chinese_chars}");
        }
        if self.prefix_space() {
            text += " prefix space";
        }
        if self.segments() == Some(false) {
            text += " one segment";
        }
        text
    }
}

/// True if blanks before punctuation are removed from a generated text.
pub fn cleans_up(path: &Path) -> Result<bool> {
    let config = read_object(&path.join("tokenizer_config.json"))?.unwrap_or_default();
    Ok(config.get("clean_up_tokenization_spaces") == Some(&Value::Bool(true)))
}
