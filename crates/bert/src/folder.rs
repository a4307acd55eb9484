//! Folders of models as Hugging Face and sentence-transformers lay them out: the configuration, where
//! weights and tokenizer are, and how tokens become one vector. What would change a result and is not
//! understood is refused by file and key.

mod config;
mod family;
mod files;
mod names;
mod sentence;
mod settings;

use clariq_core::{ProblemKind, Result, bail, problem, sha256, sha256_hex, sha256_of_file};
pub(crate) use config::Activation;
pub use config::ModelShape;
pub(crate) use family::Family;
pub(crate) use files::{
    COPY_AGAIN, DOCUMENTED, OTHER_MODELS, Object, expect_usual, missing, parse_object, read_keys,
    read_object, read_optional, weights_of_model,
};
pub(crate) use names::{
    DISTANCE_NORM, FUSED, distance_parts, distance_table, head_names, layer_of, layer_tensor,
    layers_key, own_name, usual_name,
};
pub(crate) use sentence::{Module, Sentence};
use sentence::{Modules, check_cross_encoder};
use serde_json::Value;
use settings::TransformerConfig;
pub(crate) use settings::{TokenizerConfig, cleans_up};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A folder whose configuration was read and whose files are there.
#[derive(Debug, Clone)]
pub struct ModelFolder {
    /// The folder as it was named.
    pub root: PathBuf,
    /// Where the transformer's files are: the folder itself, or the one that `modules.json` names.
    pub path: PathBuf,
    /// `config.json`, whole.
    pub config: Object,
    /// The sizes in it.
    pub shape: ModelShape,
    /// The longest text or pair in tokens, by what the folder says and what the model can read.
    pub max_tokens: usize,
    /// The settings of its tokenizer.
    pub(crate) words: TokenizerConfig,
    /// True if texts are made lower case before the tokenizer.
    pub lower_case: bool,
    /// The modules after the transformer in `modules.json`.
    modules: Option<Modules>,
    /// The files with the weights: one, or as many as the index lists.
    pub weights: Vec<PathBuf>,
    /// The file that the tokenizer is read from.
    pub tokenizer: PathBuf,
    /// Digest over all that the numbers of the model depend on.
    pub checksum: String,
}

/// The files that a tokenizer can be read from, in the order in which they are looked for.
const TOKENIZERS: [&str; 2] = ["tokenizer.json", "vocab.txt"];
const SAVE_TOKENIZER: &str =
    "save the tokenizer in Python by `AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)`";

impl ModelFolder {
    /// Reads the configuration and takes the checksum of all files.
    pub fn open(root: &Path) -> Result<Self> {
        let (modules, path) = match Modules::read(root)? {
            Some((modules, path)) => (Some(modules), path),
            None => (None, root.to_owned()),
        };
        let at = path.join("config.json");
        let Some(text) = read_optional(&at)? else {
            return Err(missing(&at, "the configuration of a model").into());
        };
        let config = parse_object(&at, &text)?;
        let shape = ModelShape::read(&at, config.clone())?;
        let weights = weights_of_model(&path)?;
        let tokenizer = TOKENIZERS.iter().map(|name| path.join(name)).find(|path| path.is_file());
        let Some(tokenizer) = tokenizer else {
            let expected = "a tokenizer: tokenizer.json or vocab.txt";
            let absent = problem!(&path, expected, "no such file", SAVE_TOKENIZER);
            return Err(absent.kind(ProblemKind::MissingFile).into());
        };
        let transformer = TransformerConfig::read(&path)?;
        let words = TokenizerConfig::read(&path)?;
        let alone = tokenizer.ends_with("vocab.txt");
        check_words(&tokenizer, &shape, &words, alone)?;
        let most = usize::try_from(shape.most_tokens()).unwrap_or_default();
        let said = transformer.max_seq_length.or(words.max_tokens()).unwrap_or(usize::MAX);
        let mut folder = Self {
            root: root.to_owned(),
            max_tokens: said.min(most),
            lower_case: transformer.do_lower_case,
            path,
            config,
            shape,
            words,
            modules,
            weights,
            tokenizer,
            checksum: String::new(),
        };
        folder.checksum = folder.digest(&text, alone)?;
        Ok(folder)
    }

    /// The digest of a usual folder is that of its three files. What is not usual is in it as well,
    /// so that a model that was read otherwise before has another.
    fn digest(&self, config: &[u8], alone: bool) -> Result<String> {
        let mut pieces = sha256([config]).to_string();
        for weights in &self.weights {
            pieces += &sha256_of_file(weights)?;
        }
        pieces += &sha256_of_file(&self.tokenizer)?;
        if self.lower_case {
            pieces += " lower case";
        }
        pieces += &self.words.digest(alone);
        // A cross-encoder's folder may say what no encoder can be.
        if let Ok(sentence) = self.sentence()
            && !sentence.is_usual()
        {
            pieces += &sentence.digest();
            for weights in sentence.weights() {
                pieces += &sha256_of_file(weights)?;
            }
        }
        Ok(sha256_hex(pieces.as_bytes()))
    }

    /// How the model, as an encoder, gives a text its vector.
    pub(crate) fn sentence(&self) -> Result<Sentence> {
        let hidden = usize::try_from(self.shape.hidden).unwrap_or_default();
        Sentence::read(&self.root, hidden, self.modules.as_ref())
    }

    /// Checks that nothing beside the weights changes the scores of pairs.
    pub(crate) fn check_cross_encoder(&self) -> Result<()> {
        let config = self.path.join("config.json");
        check_cross_encoder(&self.root, self.modules.as_ref(), (&config, &self.config))
    }

    /// How many labels a classifier has, by `config.json`; `None` where it is no classifier's, or the
    /// folder lists a pooling.
    fn labels(&self) -> Option<usize> {
        let architecture = self.config.get("architectures")?.get(0)?.as_str()?;
        let is_classifier = architecture.ends_with("ForSequenceClassification");
        let labels = self.config.get("id2label").and_then(Value::as_object);
        (is_classifier && self.modules.is_none()).then(|| labels.map_or(2, Object::len))
    }

    /// A description: the family, and how a text or a pair becomes a vector or a score.
    pub(crate) fn describe(&self) -> Result<String> {
        let family = self.shape.family;
        let tokens = self.max_tokens;
        if let Some(labels) = self.labels() {
            self.check_cross_encoder()?;
            let plural = if labels == 1 { "label" } else { "labels" };
            return Ok(format!("{family}, cross-encoder with {labels} {plural}, {tokens} tokens"));
        }
        let Sentence { poolings, modules, dim, similarity, query_prompt, document_prompt, .. } =
            self.sentence()?;
        let steps = poolings.iter().map(|pooling| format!("{pooling:?}"));
        let steps = steps.chain(modules.iter().map(Module::to_string));
        let steps = steps.collect::<Vec<_>>().join(" + ");
        let similarity = format!("{similarity:?}").to_lowercase();
        let mut text =
            format!("{family}, {steps}, {dim} dimensions, {similarity}, {tokens} tokens");
        for (what, prompt) in [("requests", query_prompt), ("documents", document_prompt)] {
            if !prompt.is_empty() {
                let _ = write!(text, ", `{prompt}` before {what}");
            }
        }
        Ok(text)
    }

    /// True if the model tells the two texts of a pair apart.
    pub(crate) fn uses_segments(&self) -> bool {
        let family = self.shape.family;
        let usual = matches!(family, Family::Bert | Family::Electra | Family::Albert)
            || family.is_deberta();
        self.shape.segments > 1 && self.words.segments().unwrap_or(usual)
    }

    /// The files that say how an encoder's vectors are made, below the folder, without its weights
    /// and tokenizer.
    pub(crate) fn sentence_files(&self) -> Vec<PathBuf> {
        let Some(modules) = &self.modules else { return Vec::new() };
        modules.files(&self.root)
    }
}

/// Refuses a list of words that another tokenizer than BERT's reads.
fn check_words(at: &Path, shape: &ModelShape, words: &TokenizerConfig, alone: bool) -> Result<()> {
    if !alone {
        return Ok(());
    }
    let hint = SAVE_TOKENIZER;
    if !shape.family.has_words_of_bert() {
        bail!(at, (format!("tokenizer.json, which {} needs", shape.family)), "vocab.txt", hint);
    }
    let known = ["Bert", "DistilBert", "Electra"];
    let class = words.tokenizer_class.as_deref().unwrap_or("BertTokenizer");
    let is_known = class.strip_suffix("TokenizerFast").or_else(|| class.strip_suffix("Tokenizer"));
    if !is_known.is_some_and(|name| known.contains(&name)) {
        bail!(at, "tokenizer.json, or a tokenizer_class of BERT", "`{class}`", hint);
    }
    Ok(())
}
