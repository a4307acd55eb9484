//! Settings beside a transformer's weights, by sentence-transformers and by the tokenizer.

use crate::added_tokens::AddedTokens;
use crate::family::Family;
use crate::files::{DOCUMENTED, read_object};
use crate::table::{SENTENCE, TOKENIZER, TRANSFORMER};
use clariq_core::{Result, bail};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) const SENTENCE_SETTINGS: &str = "config_sentence_transformers.json";

/// The names of the prompts of requests and of documents.
const QUERY: &str = "query";
const DOCUMENT: &str = "document";

/// `config_sentence_transformers.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SentenceTransformersConfig {
    pub(super) model_type: Option<String>,
    pub(super) prompts: BTreeMap<String, Option<String>>,
    pub(super) default_prompt_name: Option<String>,
    pub(super) similarity_fn_name: Option<String>,
    pub(super) truncate_dim: Option<usize>,
    pub(super) activation_fn: Option<String>,
}

impl SentenceTransformersConfig {
    pub(super) fn read(root: &Path) -> Result<Self> {
        Ok(SENTENCE.read_file(&root.join(SENTENCE_SETTINGS))?.unwrap_or_default())
    }

    /// Refuses a default prompt that is not among the prompts, as sentence-transformers does. It is used
    /// for texts that are neither requests nor documents: these have prompts of their own, empty ones if
    /// the folder has none.
    pub(super) fn check_default_prompt(&self, at: &Path) -> Result<()> {
        match self.default_prompt_name.as_deref() {
            None | Some(QUERY | DOCUMENT) => Ok(()),
            Some(name) if self.prompts.contains_key(name) => Ok(()),
            Some(name) => {
                bail!(at, "a prompt `{name}`, default_prompt_name", "none", DOCUMENTED)
            }
        }
    }

    /// The prompts of requests and of documents, as `encode_query` and `encode_document` of release 6 take
    /// them: no other name counts, and no default.
    pub(super) fn prompts(&self) -> [String; 2] {
        [QUERY, DOCUMENT].map(|name| self.prompts.get(name).cloned().flatten().unwrap_or_default())
    }

    /// The names of prompts that neither requests nor documents have.
    pub(super) fn unused_prompts(&self) -> Vec<&str> {
        let unused = self.prompts.iter().filter(|(name, prompt)| {
            ![QUERY, DOCUMENT].contains(&name.as_str())
                && prompt.as_ref().is_some_and(|prompt| !prompt.is_empty())
        });
        unused.map(|(name, _)| name.as_str()).collect()
    }

    pub(super) fn has_prompts(&self) -> bool {
        self.prompts.values().flatten().any(|prompt| !prompt.is_empty())
    }
}

/// The prompts of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FolderPrompts {
    /// Before requests.
    pub query: String,
    /// Before documents.
    pub document: String,
    /// The names of those that are before neither.
    pub unused: Vec<String>,
}

impl FolderPrompts {
    /// Reads the prompts of the folder that a user named.
    pub fn read(root: &Path) -> Result<Self> {
        let settings = SentenceTransformersConfig::read(root)?;
        let [query, document] = settings.prompts();
        let unused = settings.unused_prompts().into_iter().map(str::to_owned).collect();
        Ok(Self { query, document, unused })
    }
}

/// `sentence_bert_config.json`, or one of its older names.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TransformerConfig {
    /// The task that the transformer is loaded for.
    pub(crate) transformer_task: Option<String>,
    pub(crate) max_seq_length: Option<usize>,
    pub(crate) do_lower_case: bool,
    module_output_name: Option<String>,
    modality_config: BTreeMap<String, Modality>,
    // Read by `late`, for the folders that it is about.
    query_length: Option<Value>,
    document_length: Option<Value>,
    query_expansion: Option<Value>,
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
        let Some(at) = Self::find(path) else { return Ok(Self::default()) };
        let config: Self = TRANSFORMER.read_file(&at)?.unwrap_or_default();
        config.check(&at)?;
        Ok(config)
    }

    /// Refuses lengths of both sides, which only folders that give each token a vector have.
    pub(crate) fn expect_one_length(&self, path: &Path) -> Result<()> {
        let own = [
            ("query_length", &self.query_length),
            ("document_length", &self.document_length),
            ("query_expansion", &self.query_expansion),
        ];
        for (key, value) in own {
            if let Some(value) = value {
                let at = path.join("sentence_bert_config.json");
                let hint = "max_seq_length holds for requests and documents of an encoder";
                bail!(&at, "no {key}", "`{value}`", hint);
            }
        }
        Ok(())
    }

    /// The first of these files that is in a transformer's folder.
    pub(crate) fn find(path: &Path) -> Option<PathBuf> {
        let classes =
            ["bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"];
        let files = classes.map(|class| path.join(format!("sentence_{class}_config.json")));
        files.into_iter().find(|file| file.is_file())
    }

    /// Refuses a transformer that is loaded for another task: its output would be other numbers.
    pub(crate) fn expect_task(&self, path: &Path, task: &str, is_default: bool) -> Result<()> {
        match &self.transformer_task {
            None if is_default => Ok(()),
            Some(found) if found == task => Ok(()),
            found => {
                let found =
                    found.as_ref().map_or_else(|| "none".to_owned(), |task| format!("`{task}`"));
                let at = path.join("sentence_bert_config.json");
                bail!(&at, "transformer_task `{task}`", found, DOCUMENTED)
            }
        }
    }

    fn check(&self, at: &Path) -> Result<()> {
        for (kind, modality) in &self.modality_config {
            let output = modality.method_output_name.as_deref();
            // A message is rendered by a chat template, which is not done here.
            let is_text = kind == "text"
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
    // An older name of it.
    max_len: Option<f64>,
    truncation_side: Option<Side>,
    padding_side: Option<Side>,
    split_special_tokens: Option<bool>,
    mask_token: Option<Value>,
    eos_token: Option<Value>,
    /// The class of the tokenizer in Hugging Face's library.
    pub tokenizer_class: Option<String>,
    /// Tokens beside those of the tokenizer's file.
    #[serde(skip)]
    pub(crate) added_tokens: AddedTokens,
}

/// The end of a text at which tokens are cut or padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    Left,
    Right,
}

impl TokenizerConfig {
    pub fn read(path: &Path) -> Result<Self> {
        let at = path.join("tokenizer_config.json");
        let mut config: Self = TOKENIZER.read_file(&at)?.unwrap_or_default();
        config.model_max_length = config.model_max_length.or(config.max_len.take());
        if let Some(most) = config.model_max_length.filter(|most| *most < 1.0) {
            bail!(&at, "model_max_length of at least 1", "{most}", DOCUMENTED);
        }
        config.added_tokens = AddedTokens::read(path)?;
        Ok(config)
    }

    /// Refuses settings of which a class of tokenizers has its own usual value.
    pub(crate) fn check(&self, path: &Path, family: Family) -> Result<()> {
        let at = path.join("tokenizer_config.json");
        let class = self.class(family);
        let has_own_prefix = ["XLMRoberta", "Camembert", "Albert", "DebertaV2"].contains(&class);
        if has_own_prefix && self.add_prefix_space == Some(false) {
            bail!(&at, "add_prefix_space true in {class}Tokenizer", "false", DOCUMENTED);
        }
        let lower_case = match class {
            "Albert" => true,
            "DebertaV2" => false,
            _ => return Ok(()),
        };
        if let Some(found) = self.do_lower_case.filter(|found| *found != lower_case) {
            bail!(&at, "do_lower_case {lower_case} in {class}Tokenizer", "{found}", DOCUMENTED);
        }
        Ok(())
    }

    /// Refuses padding at the left, where the tokenizer's file or the settings, which win, have it, and
    /// positions are counted from the left.
    pub(crate) fn check_padding(&self, at: &Path, is_left: bool, family: Family) -> Result<()> {
        let is_left = self.padding_side.map_or(is_left, |side| side == Side::Left);
        if is_left && !family.has_rotary_positions() {
            let hint = "a vector would depend on the lengths of the texts beside its own";
            bail!(at, "padding_side `right`", "`left`", hint);
        }
        Ok(())
    }

    /// True if a text that is too long loses its beginning; `None` if its file says so.
    pub(crate) fn cuts_beginnings(&self) -> Option<bool> {
        self.truncation_side.map(|side| side == Side::Left)
    }

    /// True if special tokens that are written in a text are words like others.
    pub(crate) fn splits_special_tokens(&self) -> bool {
        self.split_special_tokens.unwrap_or(false)
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

    /// The tokens that expand a request: the mask, which BERT's tokenizers have without being told, or else
    /// the one that ends a text.
    pub(crate) fn usual_expansion(&self, family: Family) -> Vec<String> {
        let text = |token: &Value| {
            let content = token.get("content").unwrap_or(token).as_str();
            content.map(str::to_owned)
        };
        let usual_mask = ["Bert", "DistilBert", "Electra"].contains(&self.class(family));
        let usual_mask = usual_mask.then(|| Value::from("[MASK]"));
        let mask = self.mask_token.as_ref().or(usual_mask.as_ref());
        [mask, self.eos_token.as_ref()].into_iter().flatten().filter_map(text).collect()
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
                Family::Qwen3 => "Qwen2",
                Family::Gemma3 => "Gemma",
                Family::Albert | Family::DebertaV2 | Family::ModernBert => "",
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
        if self.cuts_beginnings() == Some(true) {
            text += " cut at the beginning";
        }
        if self.splits_special_tokens() {
            text += " special tokens split";
        }
        text += &self.added_tokens.digest();
        text
    }
}

/// True if blanks before punctuation are removed from a generated text.
pub fn cleans_up(path: &Path) -> Result<bool> {
    let config = read_object(&path.join("tokenizer_config.json"))?.unwrap_or_default();
    Ok(config.get("clean_up_tokenization_spaces") == Some(&Value::Bool(true)))
}
