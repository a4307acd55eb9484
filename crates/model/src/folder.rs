//! A model's folder, whose files are there and belong together.

use crate::config::Shape;
use crate::family::Family;
use crate::files::{COPY_AGAIN, Keys, WEIGHTS, missing, read_optional, weights_in};
use crate::layout::{check_head, check_layout, head_names, usual};
use crate::sentence::{Module, Modules, Sentence, check_cross_encoder};
use crate::tensors::{Tensors, read_shapes};
use crate::transformer::{TransformerConfig, Words};
use clariq_core::{ProblemKind, Result, bail, problem, sha256, sha256_hex, sha256_of_file};
use serde_json::Value;
use std::collections::BTreeSet;
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
    pub config: Value,
    /// What the architecture needs of it.
    pub shape: Shape,
    /// The longest text or pair in tokens, by what the folder says and what the model can read.
    pub max_tokens: usize,
    /// What it says about its tokenizer.
    pub words: Words,
    /// Whether letters are made small in front of the tokenizer.
    pub lower_case: bool,
    /// What `modules.json` lists behind the transformer.
    pub(crate) modules: Option<Modules>,
    /// The files with the weights: one, or as many as the index lists.
    pub weights: Vec<PathBuf>,
    /// The file that the tokenizer is read from.
    pub tokenizer: PathBuf,
    /// The tensors of all weights, by their usual names.
    tensors: Tensors,
    /// Digest over all that the numbers of the model depend on.
    pub checksum: String,
}

/// The files that a tokenizer can be read from, in the order in which they are looked for.
const TOKENIZERS: [&str; 2] = ["tokenizer.json", "vocab.txt"];
const SAVE_TOKENIZER: &str =
    "save the tokenizer in Python by `AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)`";
const INDEX: &str = "model.safetensors.index.json";

impl ModelFolder {
    /// Reads the configuration, checks it against the headers of the weights, and takes the checksum
    /// of all files.
    pub fn open(root: &Path) -> Result<Self> {
        let (modules, path) = match Modules::read(root)? {
            Some((modules, path)) => (Some(modules), path),
            None => (None, root.to_owned()),
        };
        let at = path.join("config.json");
        let Some(text) = read_optional(&at)? else {
            return Err(missing(&at, "the configuration of a model").into());
        };
        let (config, shape) = Shape::parse(&at, &text)?;
        let (weights, tensors) = read_weights(&path)?;
        let tokenizer = TOKENIZERS.iter().map(|name| path.join(name)).find(|path| path.is_file());
        let Some(tokenizer) = tokenizer else {
            let expected = "a tokenizer: tokenizer.json or vocab.txt";
            let absent = problem!(&path, expected, "no such file", SAVE_TOKENIZER);
            return Err(absent.kind(ProblemKind::MissingFile).into());
        };
        let tensors = usual(&weights[0], tensors, shape.family)?;
        check_layout(&weights[0], &shape, &tensors)?;
        let transformer = TransformerConfig::read(&path)?;
        let words = Words::read(&path)?;
        let alone = tokenizer.ends_with("vocab.txt");
        check_words(&tokenizer, &shape, &words, alone)?;
        let most = usize::try_from(shape.most_tokens()).unwrap_or_default();
        let said = transformer.max_seq_length.or(words.most).unwrap_or(usize::MAX);
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
            tensors,
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
        pieces.extend(self.words.digest(alone));
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
    pub fn sentence(&self) -> Result<Sentence> {
        let hidden = usize::try_from(self.shape.hidden).unwrap_or_default();
        Sentence::read(&self.root, hidden, self.modules.as_ref())
    }

    /// Checks that the model scores pairs; the number of its classes.
    pub fn check_cross_encoder(&self) -> Result<i64> {
        let config = self.path.join("config.json");
        check_cross_encoder(&self.root, self.modules.as_ref(), (&config, &self.config))?;
        check_head(&self.weights[0], &self.shape, &self.tensors)
    }

    /// What the model is, in words: its family, and what it makes of a text or a pair. Weights with a
    /// classifier are a cross-encoder's, in a folder that lists no pooling.
    pub fn describe(&self) -> Result<String> {
        let (family, tokens) = (self.shape.family, self.max_tokens);
        let (_, classifier) = head_names(self.shape.family);
        if self.tensors.contains_key(&format!("{classifier}.weight")) && self.modules.is_none() {
            let classes = self.check_cross_encoder()?;
            let labels = if classes == 1 { "1 label" } else { "2 labels" };
            return Ok(format!("{family}, cross-encoder with {labels}, {tokens} tokens"));
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

    /// Whether the model is told which text of a pair a token is of.
    pub fn uses_segments(&self) -> bool {
        let family = self.shape.family;
        let usual = matches!(family, Family::Bert | Family::Electra | Family::Albert)
            || family.is_deberta();
        self.shape.segments > 1 && self.words.segments.unwrap_or(usual)
    }

    /// The files that say how an encoder's vectors are made, below the folder, without its weights
    /// and tokenizer.
    pub fn sentence_files(&self) -> Vec<PathBuf> {
        let Some(modules) = &self.modules else { return Vec::new() };
        modules.files(&self.root)
    }
}

/// Refuses a list of words that another tokenizer than BERT's reads.
fn check_words(at: &Path, shape: &Shape, words: &Words, alone: bool) -> Result<()> {
    if !alone {
        return Ok(());
    }
    let hint = SAVE_TOKENIZER;
    if !shape.family.has_words_of_bert() {
        bail!(at, (format!("tokenizer.json, which {} needs", shape.family)), "vocab.txt", hint);
    }
    let known = ["Bert", "DistilBert", "Electra"];
    let class = words.class.as_deref().unwrap_or("BertTokenizer");
    let is_known = class.strip_suffix("TokenizerFast").or_else(|| class.strip_suffix("Tokenizer"));
    if !is_known.is_some_and(|name| known.contains(&name)) {
        bail!(at, "tokenizer.json, or a tokenizer_class of BERT", "`{class}`", hint);
    }
    Ok(())
}

/// The files with the weights of a transformer, and the shapes of the tensors in them.
pub(crate) fn read_weights(path: &Path) -> Result<(Vec<PathBuf>, Tensors)> {
    let (files, mut tensors) = (weights_of_model(path)?, Tensors::new());
    for file in &files {
        for (name, size) in read_shapes(file)? {
            if tensors.insert(name.clone(), size).is_some() {
                bail!(file, "each tensor once", "`{name}` twice", COPY_AGAIN);
            }
        }
    }
    Ok((files, tensors))
}

fn weights_of_model(path: &Path) -> Result<Vec<PathBuf>> {
    let index = path.join(INDEX);
    if path.join(WEIGHTS).is_file() || !index.is_file() {
        return Ok(vec![weights_in(path)?]);
    }
    let keys = Keys::parse(&index, &read_optional(&index)?.unwrap_or_default())?;
    let expected = "a weight_map of tensors to files";
    let Some(Value::Object(map)) = keys.value("weight_map") else {
        bail!(&index, expected, "none", COPY_AGAIN);
    };
    let mut files = BTreeSet::new();
    for file in map.values() {
        let name = file.as_str().unwrap_or_default();
        let is_plain = name.ends_with(".safetensors") && !name.contains(['/', '\\']);
        if !is_plain {
            bail!(&index, expected, "{file}", COPY_AGAIN);
        }
        files.insert(path.join(name));
    }
    match files.iter().find(|file| !file.is_file()) {
        Some(absent) => Err(missing(absent, "the weights that the index names").into()),
        None if files.is_empty() => bail!(&index, expected, "an empty one", COPY_AGAIN),
        None => Ok(files.into_iter().collect()),
    }
}
