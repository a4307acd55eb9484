//! Folders of models in the layouts of Hugging Face and sentence-transformers: configuration, weights,
//! tokenizer, pooling; and the tokens of texts. No libtorch is needed for any of it. A key that would
//! change a result and is not supported is refused by name.
//!
//! So `clariq` itself opens models whose requests are looked up in a table. If their documents are not
//! indexed yet, the command ends with an error of the kind `NoEngine` before it has read a request, and
//! continues as `clariq-learned`.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "sizes are counted in i64, as libtorch does; none is negative or near its limits"
)]

mod added_tokens;
mod chat;
mod config;
mod family;
mod files;
pub mod guard;
mod kind;
mod late;
mod late_interaction;
mod lookup;
mod modules;
mod prompts;
mod rebuilt;
mod recognise;
mod router;
mod scorer;
mod sentence;
mod settings;
mod sparse;
mod statics;
mod t5;
pub mod table;
mod tokenizer_class;
mod tokens;
mod unknown;

use chat::ChatTemplate;
use clariq_core::{Checksum, Pooling, ProblemKind, Result, bail, count_of, problem};
pub use config::{Activation, ClassifierForm, Disentangled, LayerForm, ModelShape, Norms, Reach};
pub use family::Family;
use files::MODULES;
pub use files::{COPY_AGAIN, DOCUMENTED, OTHER_MODELS, Object};
use files::{missing, parse_object, read_object, read_optional, weights_of_model};
pub use kind::kind_of;
pub use late_interaction::{Expansion, LateInteraction, Strategy};
pub use lookup::{Lookup, LookupFolder};
pub use modules::Module;
use modules::Modules;
pub use prompts::Prompts;
use recognise::check_numbers;
pub use recognise::{check, header_of, is_model, not_finite};
use scorer::is_cross_encoder;
pub use scorer::{PairScoring, ScoredBy};
pub use sentence::Sentence;
use serde_json::Value;
use settings::TransformerConfig;
pub use settings::{FolderPrompts, TokenizerConfig};
pub use sparse::{SparseActivation, SparseFolder, SparsePooling, is_sparse};
pub use statics::{StaticEncoder, StaticFolder, is_static};
use std::path::{Path, PathBuf};
pub use t5::{T5Folder, T5Shape};
use table::FROM_STANFORD;
use tokenizer_class::TokenizerClass;
pub use tokens::{Tokenize, Tokens, check_vocabulary, count_special_tokens};
pub use unknown::unknown_keys;

/// A model's folder, with its configuration and the paths of its files.
#[derive(Debug, Clone)]
pub struct ModelFolder {
    /// The folder that the user named.
    pub root: PathBuf,
    /// The folder of the transformer: `root`, or the one that `modules.json` names.
    pub path: PathBuf,
    /// All keys of `config.json`.
    pub config: Object,
    /// The sizes in `config.json`.
    pub shape: ModelShape,
    /// The longest text or pair in tokens, by the folder's settings and the model's positions.
    pub max_tokens: usize,
    pub tokenizer_config: TokenizerConfig,
    /// The transformer's settings in sentence-transformers.
    settings: TransformerConfig,
    /// True if the folder gives each token a vector.
    is_late: bool,
    /// The transformer and the modules after it, by `modules.json`.
    modules: Option<Modules>,
    /// The files with the weights: one, or those that the index lists.
    pub weights: Vec<PathBuf>,
    /// `tokenizer.json` or `vocab.txt`.
    pub tokenizer: PathBuf,
    /// The template that texts are put into.
    chat: Option<ChatTemplate>,
    /// Digest over everything that the model's numbers depend on.
    pub checksum: Checksum,
}

/// The architecture of checkpoints of Stanford's `ColBERT`.
const STANFORD: &str = "HF_ColBERT";
/// The files of a tokenizer, the preferred one first.
const TOKENIZERS: [&str; 2] = ["tokenizer.json", "vocab.txt"];
const SAVE_TOKENIZER: &str =
    "save the tokenizer in Python by `AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)`";

impl ModelFolder {
    /// Reads the configuration and takes the checksum of all files.
    pub fn open(root: &Path) -> Result<Self> {
        check(root)?;
        let modules = Modules::read(root)?;
        let path = match &modules {
            Some(modules) => modules.transformer(root)?,
            None => root.to_owned(),
        };
        Self::read(root, &path, modules)
    }

    /// Reads the folder of a transformer below the folder that the user named.
    fn read(root: &Path, path: &Path, modules: Option<Modules>) -> Result<Self> {
        let at = path.join("config.json");
        let Some(text) = read_optional(&at)? else {
            return Err(missing(&at, "the configuration of a model").into());
        };
        let config = parse_object(&at, &text)?;
        let shape = ModelShape::read(&at, config.clone())?;
        let weights = weights_of_model(path)?;
        check_numbers(&weights)?;
        let settings = TransformerConfig::read(root, path)?;
        let is_late = late::is_late(root)?;
        if !is_late {
            settings.expect_one_length()?;
        }
        let tokenizer_config = TokenizerConfig::read(path, Some(&config))?;
        if !root.join(MODULES).is_file() {
            tokenizer_config.expect_no_chat_template(path)?;
        }
        let tokenizer = find_tokenizer(path, tokenizer_config.class)?;
        let mut chat = None;
        if let Some(format) = settings.message_format()? {
            chat = Some(tokenizer_config.chat(path, format)?);
        }
        let most = usize::try_from(shape.most_tokens()).unwrap_or_default();
        // A length that sentence-transformers is told is not cut at the model's positions.
        let usual = most.min(usize::try_from(shape.positions).unwrap_or_default());
        let max_tokens = match (settings.max_seq_length, tokenizer_config.max_tokens()) {
            (Some(setting), _) => setting.min(most),
            (None, Some(setting)) => setting.min(usual),
            (None, None) => usual,
        };
        let mut folder = Self {
            root: root.to_owned(),
            max_tokens,
            settings,
            is_late,
            path: path.to_owned(),
            config,
            shape,
            tokenizer_config,
            modules,
            weights,
            tokenizer,
            chat,
            checksum: Checksum::of(&text),
        };
        folder.checksum = folder.digest()?;
        Ok(folder)
    }

    /// The digest of a folder: its three files, and every setting that differs from the default, so
    /// that two models that differ in a setting differ in their digest.
    fn digest(&self) -> Result<Checksum> {
        let mut pieces = self.checksum.to_string();
        for weights in &self.weights {
            pieces += Checksum::of_file(weights)?.as_str();
        }
        pieces += Checksum::of_file(&self.tokenizer)?.as_str();
        if self.settings.do_lower_case {
            pieces += " lower case";
        }
        pieces += &self.tokenizer_config.digest();
        pieces += &self.chat.as_ref().map_or_else(String::new, ChatTemplate::digest);
        // A cross-encoder's folder may have settings that no encoder can have.
        let pairs = self.pair_scoring();
        if let Ok(PairScoring { by: by @ ScoredBy::Words { .. }, .. }) = &pairs {
            pieces = format!("{pieces} {by:?}");
        }
        let sentence = self.sentence().or_else(|_| Ok(pairs?.sentence));
        let sentence: Result<Sentence> = sentence;
        if let Ok(sentence) = sentence
            && !sentence.is_usual()
        {
            pieces += &sentence.digest();
            for weights in sentence.weights() {
                pieces += Checksum::of_file(weights)?.as_str();
            }
        }
        Ok(Checksum::of(pieces.as_bytes()))
    }

    /// The way in which the model, as an encoder, gives a text its vector.
    pub fn sentence(&self) -> Result<Sentence> {
        self.chat.as_ref().map_or(Ok(()), ChatTemplate::expect_texts)?;
        let hidden = usize::try_from(self.shape.hidden).unwrap_or_default();
        if let Some(modules) = self.modules.as_ref().filter(|_| self.is_late) {
            return late::read(&self.root, &self.settings, hidden, modules);
        }
        let mut sentence = Sentence::read(&self.root, hidden, self.modules.as_ref())?;
        if self.modules.is_none() {
            sentence.poolings = vec![sentence::usual_pooling(&self.config)];
        }
        Ok(sentence)
    }

    /// Refuses a transformer that the folder loads for another task.
    fn expect_task(&self, task: &str) -> Result<()> {
        self.settings.expect_task(task, true)
    }

    /// The class of transformers that `config.json` names.
    fn architecture(&self) -> Option<&str> {
        architecture(&self.config)
    }

    /// Refuses a folder that says that its transformer is of another kind; by its architecture alone only
    /// if nothing says how its tokens become a vector, neither the folder nor the system.
    pub fn expect_encoder(&self, is_pooled: bool) -> Result<()> {
        self.expect_task("feature-extraction")?;
        if self.architecture() == Some(STANFORD) {
            let at = self.path.join("config.json");
            bail!(&at, "the architecture of an encoder", "`{STANFORD}`", FROM_STANFORD);
        }
        if is_pooled || self.modules.is_some() || !self.is_masked_language_model() {
            return Ok(());
        }
        let at = self.path.join("config.json");
        let hint = "the stage `sparse` takes it; in `[space]`, a table with pooling = \"mean\" takes the \
                    vectors of its tokens";
        let found = format!("`{}`", self.architecture().unwrap_or_default());
        bail!(&at, "the architecture of an encoder, or a modules.json", found, hint)
    }

    /// True if the transformer has the head of a masked language model.
    fn is_masked_language_model(&self) -> bool {
        self.architecture().is_some_and(|name| name.ends_with("ForMaskedLM"))
    }

    /// True if the transformer has a classifier, and nothing says that the folder is an encoder's.
    fn is_classifier(&self) -> bool {
        let name = self.architecture().unwrap_or_default();
        name.ends_with("ForSequenceClassification") && self.modules.is_none()
    }

    /// The number of a classifier's labels in `config.json`.
    fn labels(&self) -> usize {
        self.config.get("id2label").and_then(Value::as_object).map_or(2, Object::len)
    }

    /// A description: the family, and how a text or a pair becomes a vector or a score.
    pub fn describe(&self) -> Result<String> {
        let family = self.shape.family;
        let tokens = self.max_tokens;
        let chat = if self.chat.is_some() { ", in a chat template" } else { "" };
        if self.is_classifier() || is_cross_encoder(&self.root) {
            let PairScoring { sentence, by } = self.pair_scoring()?;
            let labels = match by {
                ScoredBy::Classifier => self.labels(),
                ScoredBy::Modules => sentence.full_dim,
                ScoredBy::Words { .. } => 1,
            };
            let prompt = match &*sentence.prompts.query {
                "" => String::new(),
                prompt => format!(", `{prompt}` before pairs"),
            };
            let labels = count_of(labels, "label");
            return Ok(format!(
                "{family}, cross-encoder with {labels}, {tokens} tokens{prompt}{chat}"
            ));
        }
        let sentence = self.sentence()?;
        let Sentence { poolings, modules, dim, similarity, prompts, .. } = sentence;
        let prompts = prompts.describe();
        let steps = poolings.iter().map(|pooling| format!("{pooling:?}"));
        let steps = steps.chain(modules.iter().map(Module::to_string));
        let steps = steps.collect::<Vec<_>>().join(" + ");
        let similarity = format!("{similarity:?}").to_lowercase();
        let mut text = format!(
            "{family}, {steps}, {dim} dimensions, {similarity}, {tokens} tokens{prompts}{chat}"
        );
        if self.modules.is_none() && self.is_masked_language_model() {
            text += "; a sparse encoder by its head, and an encoder with `pooling` alone";
        }
        Ok(text)
    }

    /// True if texts are put into a chat template.
    pub fn has_chat_template(&self) -> bool {
        self.chat.is_some()
    }

    /// True if the model has segments for the two texts of a pair.
    pub fn uses_segments(&self) -> bool {
        self.shape.segments > 1 && self.tokenizer_config.has_segments()
    }

    /// The files of sentence-transformers beside the transformer, relative to the folder.
    pub fn sentence_files(&self) -> Vec<PathBuf> {
        Modules::files(&self.root)
    }
}

/// The class of transformers that a `config.json` names.
fn architecture(config: &Object) -> Option<&str> {
    config.get("architectures")?.get(0)?.as_str()
}

/// The pooling of a folder without `modules.json`.
pub fn usual_pooling(folder: &Path) -> Result<Pooling> {
    let config = read_object(&folder.join("config.json"))?.unwrap_or_default();
    Ok(sentence::usual_pooling(&config))
}

/// The file of the tokenizer in a folder.
fn find_tokenizer(path: &Path, class: TokenizerClass) -> Result<PathBuf> {
    let [file, words] = TOKENIZERS.map(|name| path.join(name));
    if file.is_file() {
        return Ok(file);
    }
    if words.is_file() {
        if !class.is_of_words() {
            let expected =
                format!("tokenizer.json, which a tokenizer of the class {class:?} needs");
            bail!(&words, expected, "vocab.txt", SAVE_TOKENIZER);
        }
        return Ok(words);
    }
    let expected = "a tokenizer: tokenizer.json or vocab.txt";
    let absent = problem!(path, expected, "no such file", SAVE_TOKENIZER);
    Err(absent.kind(ProblemKind::MissingFile).into())
}
