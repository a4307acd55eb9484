//! Settings beside a transformer's weights, by sentence-transformers and by the tokenizer.

use crate::added_tokens::AddedTokens;
use crate::chat::{ChatTemplate, MessageFormat};
use crate::family::Family;
use crate::files::{DOCUMENTED, MODULES, Object, SENTENCE_SETTINGS, read_object};
use crate::late_interaction::Expansion;
use crate::table::{SENTENCE, TOKENIZER, TRANSFORMER, transformer_settings};
use crate::tokenizer_class::TokenizerClass;
use clariq_core::{Result, bail};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The names of the prompts of requests and of documents.
const QUERY: &str = "query";
const DOCUMENT: &str = "document";
/// The name of the transformer's settings.
const USUAL: &str = "sentence_bert_config.json";
/// The modality of messages, in which every text is where a folder has it.
const MESSAGE: &str = "message";

/// `config_sentence_transformers.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SentenceTransformersConfig {
    /// The file, whether or not it is there.
    #[serde(skip)]
    pub(super) at: PathBuf,
    pub(super) model_type: Option<String>,
    pub(super) prompts: BTreeMap<String, Option<String>>,
    pub(super) default_prompt_name: Option<String>,
    pub(super) similarity_fn_name: Option<String>,
    pub(super) truncate_dim: Option<usize>,
    pub(super) activation_fn: Option<String>,
}

impl SentenceTransformersConfig {
    /// Reads the settings of a folder. Without `modules.json`, sentence-transformers makes a model from the
    /// transformer alone, and passes over all files of its own.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let at = root.join(SENTENCE_SETTINGS);
        let mut config = Self::default();
        if root.join(MODULES).is_file() {
            config = SENTENCE.read_file(&at)?.unwrap_or_default();
        }
        Ok(Self { at, ..config })
    }

    /// Refuses the settings of a model of another kind.
    pub(super) fn expect_model_type(&self, expected: &str) -> Result<()> {
        match self.model_type.as_deref() {
            Some(other) if other != expected => {
                bail!(&self.at, "model_type `{expected}`", "`{other}`", DOCUMENTED)
            }
            _ => Ok(()),
        }
    }

    /// Refuses a default prompt that is not among the prompts, as sentence-transformers does. It is used
    /// for texts that are neither requests nor documents: these have prompts of their own, empty ones if
    /// the folder has none.
    pub(super) fn check_default_prompt(&self) -> Result<()> {
        match self.default_prompt_name.as_deref() {
            None | Some(QUERY | DOCUMENT) => Ok(()),
            Some(name) if self.prompts.contains_key(name) => Ok(()),
            Some(name) => {
                bail!(&self.at, "a prompt `{name}`, default_prompt_name", "none", DOCUMENTED)
            }
        }
    }

    /// The prompts of requests and of documents, as `encode_query` and `encode_document` of release 6 take
    /// them: no other name counts, and no default.
    pub(super) fn prompts(&self) -> [String; 2] {
        [QUERY, DOCUMENT].map(|name| self.prompts.get(name).cloned().flatten().unwrap_or_default())
    }

    /// The prompt of texts that are neither, such as pairs.
    pub(super) fn default_prompt(&self) -> String {
        let prompt = self.default_prompt_name.as_ref().and_then(|name| self.prompts.get(name));
        prompt.cloned().flatten().unwrap_or_default()
    }

    /// The names of prompts that neither requests nor documents have.
    pub(super) fn unused_prompts(&self) -> Vec<&str> {
        let unused = self.prompts.iter().filter(|(name, prompt)| {
            ![QUERY, DOCUMENT].contains(&name.as_str())
                && prompt.as_ref().is_some_and(|prompt| !prompt.is_empty())
        });
        unused.map(|(name, _)| name.as_str()).collect()
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
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TransformerConfig {
    /// The file; the usual one if there is none.
    #[serde(skip)]
    pub(crate) at: PathBuf,
    /// The task that the transformer is loaded for.
    pub(crate) transformer_task: Option<String>,
    pub(crate) max_seq_length: Option<usize>,
    pub(crate) do_lower_case: bool,
    module_output_name: Option<String>,
    modality_config: BTreeMap<String, Modality>,
    // Of folders that give each token a vector.
    pub(crate) query_length: Option<usize>,
    pub(crate) document_length: Option<usize>,
    pub(crate) query_expansion: Option<Expansion>,
    /// True if the file has an expansion, or says that there is none.
    #[serde(skip)]
    pub(crate) has_expansion: bool,
}

/// The method that reads a kind of input.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Modality {
    method: String,
    method_output_name: Option<String>,
    // Of messages alone.
    format: Option<String>,
}

impl TransformerConfig {
    /// Reads the first of these files that is in the folder of a transformer, in or below that of the model.
    pub(crate) fn read(root: &Path, path: &Path) -> Result<Self> {
        let found = Self::find(path).filter(|_| root.join(MODULES).is_file());
        let Some(at) = found else {
            return Ok(Self { at: path.join(USUAL), ..Self::default() });
        };
        let object = read_object(&at)?.unwrap_or_default();
        let has_expansion = object.contains_key("query_expansion");
        let config: Self = TRANSFORMER.read(&at, object)?;
        let config = Self { at, has_expansion, ..config };
        config.check()?;
        Ok(config)
    }

    /// The format of messages, if texts are put into a chat template.
    pub(crate) fn message_format(&self) -> Result<Option<MessageFormat>> {
        let Some(modality) = self.modality_config.get(MESSAGE) else { return Ok(None) };
        match modality.format.as_deref() {
            Some("flat") => Ok(Some(MessageFormat::Flat)),
            Some("structured") => Ok(Some(MessageFormat::Structured)),
            other => {
                let found = format!("`{}`", other.unwrap_or("none"));
                bail!(&self.at, "a format of messages `flat` or `structured`", found, DOCUMENTED)
            }
        }
    }

    /// Refuses lengths of both sides, which only folders that give each token a vector have.
    pub(crate) fn expect_one_length(&self) -> Result<()> {
        for (key, is_there) in [
            ("query_length", self.query_length.is_some()),
            ("document_length", self.document_length.is_some()),
            ("query_expansion", self.query_expansion.is_some()),
        ] {
            if is_there {
                let hint = "max_seq_length holds for requests and documents of an encoder";
                bail!(&self.at, "no {key}", "one", hint);
            }
        }
        Ok(())
    }

    /// The first of these files that is in a transformer's folder.
    pub(crate) fn find(path: &Path) -> Option<PathBuf> {
        transformer_settings().map(|name| path.join(name)).find(|file| file.is_file())
    }

    /// Refuses a transformer that is loaded for another task: its output would be other numbers.
    pub(crate) fn expect_task(&self, task: &str, is_default: bool) -> Result<()> {
        match &self.transformer_task {
            None if is_default => Ok(()),
            Some(found) if found == task => Ok(()),
            found => {
                let found =
                    found.as_ref().map_or_else(|| "none".to_owned(), |task| format!("`{task}`"));
                bail!(&self.at, "transformer_task `{task}`", found, DOCUMENTED)
            }
        }
    }

    fn check(&self) -> Result<()> {
        let at = &self.at;
        for (kind, modality) in &self.modality_config {
            let output = modality.method_output_name.as_deref();
            let is_text = matches!(kind.as_str(), "text" | MESSAGE)
                && modality.method == "forward"
                && matches!(output, Some("last_hidden_state" | "logits"));
            if !is_text {
                let found = format!("`{kind}` {modality:?}");
                bail!(
                    at,
                    "a modality_config of texts and messages, by `forward`",
                    found,
                    DOCUMENTED
                );
            }
        }
        if let Some(name) = &self.module_output_name
            && !matches!(name.as_str(), "token_embeddings" | "scores" | "causal_logits")
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
    // Read by classes, each of which has its usual values.
    pub(crate) do_lower_case: Option<bool>,
    pub(crate) strip_accents: Option<bool>,
    pub(crate) keep_accents: bool,
    pub(crate) tokenize_chinese_chars: Option<bool>,
    pub(crate) add_prefix_space: Option<bool>,
    pub(crate) split_by_punct: bool,
    pub(crate) unk_id: Option<usize>,
    model_input_names: Option<Vec<String>>,
    /// Hugging Face's library writes 1e30 for a tokenizer without a limit.
    model_max_length: Option<f64>,
    // An older name of it.
    max_len: Option<f64>,
    truncation_side: Option<Side>,
    padding_side: Option<Side>,
    split_special_tokens: Option<bool>,
    chat_template: Option<Value>,
    tokenizer_class: Option<String>,
    /// The class that makes the tokenizer.
    #[serde(skip)]
    pub(crate) class: TokenizerClass,
    /// True if it is that of the model's family.
    #[serde(skip)]
    is_usual_class: bool,
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
    /// Reads a folder. The model's `config.json` may name the class, and its `model_type` has one.
    pub fn read(path: &Path, model: Option<&Object>) -> Result<Self> {
        let at = path.join("tokenizer_config.json");
        let mut config: Self = TOKENIZER.read_file(&at)?.unwrap_or_default();
        config.model_max_length = config.model_max_length.or(config.max_len.take());
        if let Some(most) = config.model_max_length.filter(|most| *most < 1.0) {
            bail!(&at, "model_max_length of at least 1", "{most}", DOCUMENTED);
        }
        let key = |key: &str| model.and_then(|model| model.get(key)).and_then(Value::as_str);
        let named = config.tokenizer_class.as_deref().or_else(|| key("tokenizer_class"));
        let of_model = model.map(|_| Family::class_of(key("model_type").unwrap_or("bert")));
        // A table for requests has no model; words alone are BERT's.
        let has_words_alone = !path.join("tokenizer.json").is_file();
        let of_model = of_model.or(has_words_alone.then_some("Bert"));
        config.class = TokenizerClass::of(&at, named, of_model)?;
        config.is_usual_class = config.class == TokenizerClass::of(&at, None, of_model)?;
        config.added_tokens = AddedTokens::read(path, config.class)?;
        Ok(config)
    }

    /// True if padding is at the left: where the settings have it, or else the tokenizer's file, or else the
    /// class. Refused where positions are counted from the left.
    pub(crate) fn pads_left(&self, at: &Path, own: Option<bool>, family: Family) -> Result<bool> {
        let usual = own.unwrap_or(self.class == TokenizerClass::Gemma);
        let is_left = self.padding_side.map_or(usual, |side| side == Side::Left);
        if is_left && !family.has_rotary_positions() {
            let hint = "a vector would depend on the lengths of the texts beside its own";
            bail!(at, "padding_side `right`", "`left`", hint);
        }
        Ok(is_left)
    }

    /// Refuses a template of messages, in a folder without `modules.json`: sentence-transformers puts each
    /// text into it.
    pub(crate) fn expect_no_chat_template(&self, path: &Path) -> Result<()> {
        let [file, folder] = ["chat_template.jinja", "chat_templates"].map(|name| path.join(name));
        let at = match &self.chat_template {
            Some(_) => path.join("tokenizer_config.json"),
            None if file.is_file() => file,
            None if folder.is_dir() => folder,
            None => return Ok(()),
        };
        let hint = "sentence-transformers puts the texts of a folder without modules.json into it, which is not \
                    done here; remove it if the model reads texts as they are";
        bail!(&at, "no chat_template", "one", hint)
    }

    /// True if a text that is too long loses its beginning; `None` if its file says so.
    pub(crate) fn cuts_beginnings(&self) -> Option<bool> {
        self.truncation_side.map(|side| side == Side::Left)
    }

    /// True if special tokens that are written in a text are words like others.
    pub(crate) fn splits_special_tokens(&self) -> bool {
        self.split_special_tokens.unwrap_or(false)
    }

    /// The template that texts are put into, for messages of a format.
    pub(crate) fn chat(&self, path: &Path, format: MessageFormat) -> Result<ChatTemplate> {
        let tokens = self.added_tokens.named().map(|(key, token)| (key, token.to_owned()));
        ChatTemplate::read(path, format, self.chat_template.as_ref(), tokens.collect())
    }

    /// The special token that a key names.
    pub(crate) fn special(&self, key: &str) -> Option<&str> {
        self.added_tokens.special(key)
    }

    /// The tokens that expand a request: the mask, or else the one that ends a text.
    pub(crate) fn usual_expansion(&self) -> Vec<String> {
        let named = ["mask_token", "eos_token"].map(|key| self.special(key).map(str::to_owned));
        named.into_iter().flatten().collect()
    }

    /// True if the two texts of a pair are numbered for the model.
    pub(crate) fn has_segments(&self) -> bool {
        match &self.model_input_names {
            Some(names) => names.iter().any(|name| name == "token_type_ids"),
            None => self.class.has_segments(),
        }
    }

    /// The longest text, if there is a limit.
    #[expect(clippy::cast_sign_loss, reason = "the length is in a range above 0")]
    pub fn max_tokens(&self) -> Option<usize> {
        let most = self.model_max_length.filter(|most| (1.0..1e9).contains(most))?;
        Some(most as usize)
    }

    /// The settings that differ from the defaults.
    pub fn digest(&self) -> String {
        let lower_case = self.do_lower_case.unwrap_or(true);
        let chinese_chars = self.tokenize_chinese_chars.unwrap_or(true);
        let strip_accents = self.strip_accents;
        let mut text = String::new();
        if (lower_case, strip_accents, chinese_chars) != (true, None, true) {
            text = format!("{lower_case} {strip_accents:?} {chinese_chars}");
        }
        for (is_on, setting) in [
            (self.add_prefix_space == Some(true), " prefix space"),
            (self.add_prefix_space == Some(false), " no prefix space"),
            (self.keep_accents, " accents kept"),
            (self.split_by_punct, " split at punctuation"),
            (!self.has_segments(), " one segment"),
            (self.cuts_beginnings() == Some(true), " cut at the beginning"),
            (self.splits_special_tokens(), " special tokens split"),
        ] {
            if is_on {
                text += setting;
            }
        }
        let class = (!self.is_usual_class).then_some(self.class);
        if class.is_some() || self.unk_id.is_some() {
            text = format!("{text} {class:?} {:?}", self.unk_id);
        }
        text + &self.added_tokens.digest()
    }
}
