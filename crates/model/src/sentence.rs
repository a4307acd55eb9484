//! How the vectors of a text's tokens become one vector, as a folder of sentence-transformers says:
//! `modules.json` and the files that it names, and `config_sentence_transformers.json`.
//!
//! What is not understood is refused by file and key: a module passed over would give every text
//! another vector.

use crate::config::Activation;
use crate::files::{DOCUMENTED, Keys, read_optional, weights_in};
use crate::tensors::read_shapes;
use clariq_core::{Pooling, Reading, Result, Similarity, bail, problem};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The keys that older folders switch each pooling on by, in the order in which vectors are
/// concatenated.
const SWITCHES: [(&str, Pooling); 6] = [
    ("pooling_mode_cls_token", Pooling::Cls),
    ("pooling_mode_max_tokens", Pooling::Max),
    ("pooling_mode_mean_tokens", Pooling::Mean),
    ("pooling_mode_mean_sqrt_len_tokens", Pooling::MeanSqrtLen),
    ("pooling_mode_weightedmean_tokens", Pooling::WeightedMean),
    ("pooling_mode_lasttoken", Pooling::LastToken),
];

/// What follows pooling.
#[derive(Debug, Clone, PartialEq)]
pub enum Module {
    /// A matrix, perhaps with a bias, and an activation.
    Dense {
        /// The file with `linear.weight` and `linear.bias`.
        weights: PathBuf,
        /// Whether there is a bias.
        bias: bool,
        /// The activation.
        activation: Activation,
    },
    /// Layer normalisation with the epsilon of PyTorch.
    LayerNorm {
        /// The file with `norm.weight` and `norm.bias`.
        weights: PathBuf,
    },
    /// To length 1.
    Normalize,
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dense { bias, activation, .. } => {
                let without = if *bias { "" } else { " without bias" };
                write!(f, "Dense{without} ({activation:?})")
            }
            Self::LayerNorm { .. } => f.write_str("LayerNorm"),
            Self::Normalize => f.write_str("Normalize"),
        }
    }
}

/// How a text gets its vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    /// Their vectors are concatenated.
    pub poolings: Vec<Pooling>,
    /// What follows, in order.
    pub modules: Vec<Module>,
    /// How many dimensions the vectors have before they are cut.
    pub full_dim: usize,
    /// How many of the first dimensions are kept.
    pub dim: usize,
    /// What compares two vectors.
    pub similarity: Similarity,
    /// What is put in front of a request.
    pub query_prompt: String,
    /// What is put in front of a document.
    pub document_prompt: String,
}

const MODULES: &str = "modules.json";
const SETTINGS: &str = "config_sentence_transformers.json";

/// An entry of `modules.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "idx")]
    _number: Value,
    #[serde(rename = "name")]
    _name: Value,
    path: String,
    r#type: String,
    #[serde(default)]
    kwargs: Vec<Value>,
}

impl Entry {
    /// The class of sentence-transformers, without the modules that it has moved between.
    fn class(&self) -> Option<&str> {
        let class = self.r#type.strip_prefix("sentence_transformers.")?;
        Some(class.rsplit_once('.').map_or(class, |(_, class)| class))
    }
}

/// What `modules.json` lists, without the transformer.
#[derive(Debug, Clone)]
pub(crate) struct Modules {
    at: PathBuf,
    rest: Vec<Entry>,
}

impl Modules {
    /// Reads `modules.json`, if there is one, with the folder of the transformer below `root`.
    pub(crate) fn read(root: &Path) -> Result<Option<(Self, PathBuf)>> {
        let at = root.join(MODULES);
        let Some(bytes) = read_optional(&at)? else { return Ok(None) };
        let mut entries: Vec<Entry> = serde_json::from_slice(&bytes)
            .map_err(|error| problem!(&at, "a list of modules", "{error}", DOCUMENTED))?;
        for entry in &entries {
            let stays = !entry.path.contains("..") && !entry.path.starts_with('/');
            if !stays || !entry.kwargs.is_empty() {
                let found = format!("path `{}`, kwargs {:?}", entry.path, entry.kwargs);
                bail!(&at, "a module in this folder, without kwargs", found, DOCUMENTED);
            }
        }
        if entries.first().and_then(Entry::class) != Some("Transformer") {
            let found = entries.first().map_or("nothing", |entry| &entry.r#type).to_owned();
            bail!(&at, "a Transformer as the first module", "`{found}`", DOCUMENTED);
        }
        let rest = entries.split_off(1);
        let below = &entries[0].path;
        let path = if below.is_empty() { root.to_owned() } else { root.join(below) };
        Ok(Some((Self { at, rest }, path)))
    }

    /// The files of the modules behind the transformer, as far as they are there.
    pub(crate) fn files(&self, root: &Path) -> Vec<PathBuf> {
        let of = |entry: &Entry| {
            ["config.json", "model.safetensors"].map(|name| Path::new(&entry.path).join(name))
        };
        let all = [MODULES, SETTINGS].map(PathBuf::from).into_iter();
        let all = all.chain(self.rest.iter().flat_map(of));
        all.filter(|file| root.join(file).is_file()).collect()
    }
}

/// `config_sentence_transformers.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    #[serde(rename = "__version__")]
    _version: Value,
    model_type: Option<String>,
    prompts: BTreeMap<String, Option<String>>,
    default_prompt_name: Option<String>,
    similarity_fn_name: Option<String>,
    truncate_dim: Option<usize>,
    activation_fn: Option<String>,
}

impl Settings {
    fn read(root: &Path) -> Result<Self> {
        let at = root.join(SETTINGS);
        let Some(bytes) = read_optional(&at)? else { return Ok(Self::default()) };
        Ok(serde_json::from_slice(&bytes).map_err(|error| {
            problem!(&at, "keys and values that are understood", "{error}", DOCUMENTED)
        })?)
    }

    /// The first prompt of these names that the folder gives, or its default one. An empty one is
    /// none: sentence-transformers writes empty ones for `query` and `document` by itself.
    fn prompt(&self, names: &[&str]) -> String {
        let given = |name: &str| self.prompts.get(name)?.clone().filter(|text| !text.is_empty());
        let default = || self.prompts.get(self.default_prompt_name.as_ref()?)?.clone();
        names.iter().find_map(|name| given(name)).or_else(default).unwrap_or_default()
    }
}

/// Refuses a module that reads or writes something other than the text's vector.
fn check_names(keys: &Keys) -> Result<()> {
    let known = ["\"sentence_embedding\"", "null"];
    keys.expect("module_input_name", &known, DOCUMENTED)?;
    keys.expect("module_output_name", &known, DOCUMENTED)
}

impl Sentence {
    /// What a folder without `modules.json` gets, as in sentence-transformers: the mean of the
    /// tokens' vectors.
    pub fn usual(hidden: usize) -> Self {
        Self {
            poolings: vec![Pooling::Mean],
            modules: Vec::new(),
            full_dim: hidden,
            dim: hidden,
            similarity: Similarity::Cosine,
            query_prompt: String::new(),
            document_prompt: String::new(),
        }
    }

    /// Whether its vectors are those that the mean of the tokens' vectors has by cosine.
    pub fn is_usual(&self) -> bool {
        let modules = vec![Module::Normalize; self.modules.len().min(1)];
        *self == Self { modules, ..Self::usual(self.full_dim) }
    }

    /// Reads what the folder says of its vectors.
    pub(crate) fn read(root: &Path, hidden: usize, modules: Option<&Modules>) -> Result<Self> {
        let mut sentence = Self::usual(hidden);
        let settings = Settings::read(root)?;
        let settings_at = root.join(SETTINGS);
        if let Some(other) =
            settings.model_type.as_ref().filter(|kind| *kind != "SentenceTransformer")
        {
            bail!(&settings_at, "model_type `SentenceTransformer`", "`{other}`", DOCUMENTED);
        }
        if let Some(modules) = modules {
            sentence.poolings.clear();
            for entry in &modules.rest {
                sentence.add(root, modules, entry, &settings)?;
            }
            if sentence.poolings.is_empty() {
                let hint =
                    "an encoder's folder of sentence-transformers lists Transformer and Pooling";
                bail!(&modules.at, "a Pooling", "none", hint);
            }
        }
        sentence.dim = sentence.full_dim;
        match settings.truncate_dim {
            Some(0) => bail!(&settings_at, "truncate_dim of at least 1", "0", DOCUMENTED),
            Some(most) => sentence.dim = most.min(sentence.full_dim),
            None => {}
        }
        sentence.similarity = match settings.similarity_fn_name.as_deref() {
            None | Some("cosine") => Similarity::Cosine,
            Some("dot" | "dot_score") => Similarity::Dot,
            Some(other) => {
                bail!(&settings_at, "similarity_fn_name `cosine` or `dot`", "`{other}`", DOCUMENTED)
            }
        };
        if let Some(name) = &settings.default_prompt_name
            && !settings.prompts.contains_key(name)
        {
            bail!(&settings_at, "a prompt `{name}`, default_prompt_name", "none", DOCUMENTED);
        }
        sentence.query_prompt = settings.prompt(&["query"]);
        sentence.document_prompt = settings.prompt(&["document", "passage", "corpus"]);
        Ok(sentence)
    }

    /// The same, but for what a system says itself.
    pub fn read_as(mut self, folder: &Path, reading: &Reading) -> Result<Self> {
        if let Some(pooling) = reading.pooling {
            let shapes_vectors = self.modules.iter().any(|module| *module != Module::Normalize);
            if shapes_vectors && self.poolings.len() != 1 {
                let found =
                    format!("{} poolings, whose vectors a module takes", self.poolings.len());
                bail!(folder, "a model with one pooling, for `pooling`", found, DOCUMENTED);
            }
            if !shapes_vectors {
                self.full_dim /= self.poolings.len();
                self.dim = self.dim.min(self.full_dim);
            }
            self.poolings = vec![pooling];
        }
        self.similarity = reading.similarity.unwrap_or(self.similarity);
        self.query_prompt = reading.query_prompt.clone().unwrap_or(self.query_prompt);
        self.document_prompt = reading.document_prompt.clone().unwrap_or(self.document_prompt);
        Ok(self)
    }

    /// Adds what an entry of `modules.json` says.
    fn add(
        &mut self,
        root: &Path,
        list: &Modules,
        entry: &Entry,
        settings: &Settings,
    ) -> Result<()> {
        let path = root.join(&entry.path);
        let at = path.join("config.json");
        let pooled = !self.poolings.is_empty();
        match (entry.class(), pooled) {
            (Some("Pooling"), false) => {
                let keys = needed(&at)?;
                let has_prompts = settings.prompts.values().flatten().any(|text| !text.is_empty());
                if keys.get("include_prompt")? == Some(false) && has_prompts {
                    let hint = "prompts whose tokens do not count are not supported";
                    bail!(&at, "include_prompt true beside prompts", "false", hint);
                }
                self.poolings = poolings(&keys)?;
                let width = match keys.value("embedding_dimension") {
                    Some(_) => "embedding_dimension",
                    None => "word_embedding_dimension",
                };
                self.expect_dim(&keys, width)?;
                self.full_dim *= self.poolings.len();
                keys.no_others(&[], DOCUMENTED)?;
            }
            (Some("Dense"), true) => {
                let keys = needed(&at)?;
                check_names(&keys)?;
                keys.expect("use_residual", &["false", "null"], DOCUMENTED)?;
                let from = self.expect_dim(&keys, "in_features")?;
                let to = keys.need("out_features")?;
                let bias = keys.get("bias")?.unwrap_or(true);
                let activation = activation(&keys)?;
                keys.no_others(&[], DOCUMENTED)?;
                let mut expected = vec![("linear.weight", vec![signed(to), from])];
                if bias {
                    expected.push(("linear.bias", vec![signed(to)]));
                }
                let weights = weights_of(&path, &expected)?;
                self.full_dim = to;
                self.modules.push(Module::Dense { weights, bias, activation });
            }
            (Some("LayerNorm"), true) => {
                let keys = needed(&at)?;
                let size = vec![self.expect_dim(&keys, "dimension")?];
                keys.no_others(&[], DOCUMENTED)?;
                let expected = [("norm.weight", size.clone()), ("norm.bias", size)];
                let weights = weights_of(&path, &expected)?;
                self.modules.push(Module::LayerNorm { weights });
            }
            (Some("Normalize"), true) => {
                if let Some(keys) = Keys::read_optional(&at)? {
                    check_names(&keys)?;
                    keys.no_others(&[], DOCUMENTED)?;
                }
                self.modules.push(Module::Normalize);
            }
            // It does nothing but in training.
            (Some("Dropout"), _) => {}
            _ => {
                let expected = if pooled {
                    "Dense, LayerNorm or Normalize after Pooling"
                } else {
                    "Pooling after Transformer"
                };
                bail!(&list.at, expected, (format!("`{}`", entry.r#type)), DOCUMENTED)
            }
        }
        Ok(())
    }

    /// A size that is that of the vectors so far.
    fn expect_dim(&self, keys: &Keys, key: &str) -> Result<i64> {
        let expected = self.full_dim;
        if keys.need::<usize>(key)? == expected {
            return Ok(signed(expected));
        }
        let expected = format!("{expected}, as what is in front of it gives");
        Err(keys.wrong(key, &expected).hint("the files are of different models").into())
    }

    /// What of it, beyond the mean, the vectors depend on.
    pub fn digest(&self) -> String {
        let modules: Vec<String> = self.modules.iter().map(Module::to_string).collect();
        let Self { poolings, dim, similarity, query_prompt, document_prompt, .. } = self;
        format!(
            "{poolings:?} {modules:?} {dim} {similarity:?} {query_prompt:?} {document_prompt:?}"
        )
    }

    /// The files with weights of their own.
    pub(crate) fn weights(&self) -> impl Iterator<Item = &Path> {
        self.modules.iter().filter_map(|module| match module {
            Module::Dense { weights, .. } | Module::LayerNorm { weights } => {
                Some(weights.as_path())
            }
            Module::Normalize => None,
        })
    }
}

fn needed(at: &Path) -> Result<Keys<'_>> {
    let hint = "modules.json names its folder";
    let absent = || problem!(at, "the configuration of a module", "no such file", hint);
    Ok(Keys::read_optional(at)?.ok_or_else(absent)?)
}

/// A size as headers have it.
fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

fn poolings(keys: &Keys) -> Result<Vec<Pooling>> {
    let switched = SWITCHES.into_iter().map(|(key, pooling)| Ok((keys.get(key)?, pooling)));
    let switched: Vec<(Option<bool>, Pooling)> = switched.collect::<Result<_>>()?;
    let is_on = |&(is_on, _): &(Option<bool>, Pooling)| is_on == Some(true);
    let switched: Vec<Pooling> =
        switched.into_iter().filter(is_on).map(|(_, pooling)| pooling).collect();
    let wrong = || {
        let hint = "`cls`, `max`, `mean`, `mean_sqrt_len_tokens`, `weightedmean` and `lasttoken` \
                    are known, one to six of them";
        keys.wrong("pooling_mode", "that is known").hint(hint)
    };
    let poolings = match keys.value("pooling_mode") {
        None | Some(Value::Null) if switched.is_empty() => vec![Pooling::Mean],
        None | Some(Value::Null) => switched,
        Some(all @ Value::Array(_)) => Vec::deserialize(all).map_err(|_| wrong())?,
        Some(one) => vec![Pooling::deserialize(one).map_err(|_| wrong())?],
    };
    if poolings.is_empty() || poolings.len() > SWITCHES.len() {
        return Err(wrong().into());
    }
    Ok(poolings)
}

fn activation(keys: &Keys) -> Result<Activation> {
    let key = "activation_function";
    let name = keys.get::<String>(key)?;
    let class = name.as_deref().map(|name| name.rsplit_once('.').map_or(name, |(_, class)| class));
    Ok(match class {
        None | Some("Tanh" | "tanh") => Activation::Tanh,
        Some("Identity" | "None") => Activation::Identity,
        Some("ReLU") => Activation::Relu,
        Some("GELU") => Activation::Gelu,
        Some("SiLU") => Activation::Silu,
        Some("Sigmoid") => Activation::Sigmoid,
        Some(_) => {
            return Err(keys.wrong(key, "Identity, Tanh, ReLU, GELU, SiLU or Sigmoid").into());
        }
    })
}

/// The weights of a module, which must hold these tensors and no others.
fn weights_of(folder: &Path, expected: &[(&str, Vec<i64>)]) -> Result<PathBuf> {
    let path = weights_in(folder)?;
    let found = read_shapes(&path)?;
    for (name, size) in expected {
        if found.get(*name) != Some(size) {
            let found =
                found.get(*name).map_or_else(|| "none".to_owned(), |size| format!("{size:?}"));
            bail!(
                &path,
                "{name} of the shape {size:?}",
                found,
                "the files are of different models"
            );
        }
    }
    if let Some(other) = found.keys().find(|name| !expected.iter().any(|(known, _)| known == name))
    {
        bail!(&path, "no tensor but those of the module", "`{other}`", DOCUMENTED);
    }
    Ok(path)
}

/// Checks what a folder of a cross-encoder says beside its weights: one score per pair, without
/// prompts, of which the activation changes no order.
pub(crate) fn check_cross_encoder(
    root: &Path,
    modules: Option<&Modules>,
    (at_config, config): (&Path, &Value),
) -> Result<()> {
    let at = root.join(SETTINGS);
    let settings = Settings::read(root)?;
    if let Some(other) = settings.model_type.as_ref().filter(|kind| *kind != "CrossEncoder") {
        bail!(&at, "model_type `CrossEncoder`", "`{other}`", DOCUMENTED);
    }
    if settings.prompts.values().flatten().any(|text| !text.is_empty()) {
        bail!(&at, "a cross-encoder without prompts", "prompts", DOCUMENTED);
    }
    if let Some(modules) = modules
        && let Some(other) = modules.rest.first()
    {
        let expected = "Transformer alone, as a cross-encoder has it";
        bail!(&modules.at, expected, (format!("`{}`", other.r#type)), DOCUMENTED);
    }
    let older = [
        &config["sbert_ce_default_activation_function"],
        &config["sentence_transformers"]["activation_fn"],
    ];
    let named = older.map(|value| (value.as_str().map(str::to_owned), at_config));
    let named = named.into_iter().chain([(settings.activation_fn, at.as_path())]);
    for (name, at) in named.filter_map(|(name, at)| Some((name?, at))) {
        match name.rsplit_once('.').map_or(name.as_str(), |(_, class)| class) {
            "Identity" | "Sigmoid" => {}
            _ => bail!(at, "an activation Identity or Sigmoid", "`{name}`", DOCUMENTED),
        }
    }
    Ok(())
}
