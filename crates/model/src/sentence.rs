//! How the vectors of a text's tokens become one vector, as a folder of sentence-transformers says:
//! `modules.json` and the files that it names, and `config_sentence_transformers.json`.
//!
//! What is not understood is refused by file and key: a module passed over would give every text
//! another vector.

use crate::config::Activation;
use crate::files::{read_optional, weights_in};
use crate::tensors::read_shapes;
use clariq_core::{Pooling, Reading, Result, Similarity, bail, problem};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
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

pub(crate) const DOCUMENTED: &str = "configs/README.md lists what is understood of a folder";

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
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default, rename = "__version__")]
    _version: Value,
    #[serde(default)]
    model_type: Option<String>,
    #[serde(default)]
    prompts: BTreeMap<String, Option<String>>,
    #[serde(default)]
    default_prompt_name: Option<String>,
    #[serde(default)]
    similarity_fn_name: Option<String>,
    #[serde(default)]
    truncate_dim: Option<usize>,
    #[serde(default)]
    activation_fn: Option<String>,
}

impl Settings {
    fn read(root: &Path) -> Result<Self> {
        read_typed(&root.join(SETTINGS)).map(Option::unwrap_or_default)
    }

    /// The first prompt of these names that the folder gives, or its default one. An empty one is
    /// none: sentence-transformers writes empty ones for `query` and `document` by itself.
    fn prompt(&self, names: &[&str]) -> String {
        let given = |name: &str| self.prompts.get(name)?.clone().filter(|text| !text.is_empty());
        let default = || self.prompts.get(self.default_prompt_name.as_ref()?)?.clone();
        names.iter().find_map(|name| given(name)).or_else(default).unwrap_or_default()
    }
}

/// Reads a file whose keys are all known; `None` where there is none.
pub(crate) fn read_typed<T: DeserializeOwned>(at: &Path) -> Result<Option<T>> {
    let Some(bytes) = read_optional(at)? else { return Ok(None) };
    let value = serde_json::from_slice(&bytes).map_err(|error| {
        problem!(at, "keys and values that are understood", "{error}", DOCUMENTED)
    })?;
    Ok(Some(value))
}

/// `config.json` of `Pooling`.
#[derive(Debug, Deserialize)]
struct PoolingConfig {
    #[serde(alias = "word_embedding_dimension")]
    embedding_dimension: usize,
    #[serde(default)]
    pooling_mode: Option<OneOrMore>,
    #[serde(default = "yes")]
    include_prompt: bool,
    #[serde(flatten)]
    switches: Switches,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// The switches of older folders.
type Switches = Map<String, Value>;

/// `config.json` of `Dense`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DenseConfig {
    in_features: usize,
    out_features: usize,
    #[serde(default = "yes")]
    bias: bool,
    #[serde(default = "tanh")]
    activation_function: String,
    #[serde(default)]
    module_input_name: Option<String>,
    #[serde(default)]
    module_output_name: Option<String>,
    #[serde(default)]
    use_residual: bool,
}

/// `config.json` of `LayerNorm`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LayerNormConfig {
    dimension: usize,
}

/// `config.json` of `Normalize`, which older folders have none of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NormalizeConfig {
    #[serde(default)]
    module_input_name: Option<String>,
    #[serde(default)]
    module_output_name: Option<String>,
}

fn yes() -> bool {
    true
}

fn tanh() -> String {
    "torch.nn.modules.activation.Tanh".to_owned()
}

/// The values of a module that reads and writes the text's vector.
fn check_names(at: &Path, names: [&Option<String>; 2]) -> Result<()> {
    let other = names.into_iter().flatten().find(|name| *name != "sentence_embedding");
    match other {
        Some(name) => {
            let expected = "module_input_name and module_output_name `sentence_embedding`";
            bail!(at, expected, "`{name}`", DOCUMENTED)
        }
        None => Ok(()),
    }
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
                let config: PoolingConfig = needed(&at)?;
                let has_prompts = settings.prompts.values().flatten().any(|text| !text.is_empty());
                if !config.include_prompt && has_prompts {
                    let hint = "prompts whose tokens do not count are not supported";
                    bail!(&at, "include_prompt true beside prompts", "false", hint);
                }
                self.poolings = poolings(&at, &config)?;
                expect_dim(&at, "embedding_dimension", config.embedding_dimension, self.full_dim)?;
                self.full_dim *= self.poolings.len();
            }
            (Some("Dense"), true) => {
                let config: DenseConfig = needed(&at)?;
                check_names(&at, [&config.module_input_name, &config.module_output_name])?;
                if config.use_residual {
                    bail!(&at, "use_residual false", "true", DOCUMENTED);
                }
                expect_dim(&at, "in_features", config.in_features, self.full_dim)?;
                let activation = activation(&at, &config.activation_function)?;
                let [from, to] = [config.in_features, config.out_features].map(signed);
                let mut expected = vec![("linear.weight", vec![to, from])];
                if config.bias {
                    expected.push(("linear.bias", vec![to]));
                }
                let weights = weights_of(&path, &expected)?;
                self.full_dim = config.out_features;
                self.modules.push(Module::Dense { weights, bias: config.bias, activation });
            }
            (Some("LayerNorm"), true) => {
                let config: LayerNormConfig = needed(&at)?;
                expect_dim(&at, "dimension", config.dimension, self.full_dim)?;
                let size = vec![signed(config.dimension)];
                let expected = [("norm.weight", size.clone()), ("norm.bias", size)];
                let weights = weights_of(&path, &expected)?;
                self.modules.push(Module::LayerNorm { weights });
            }
            (Some("Normalize"), true) => {
                if let Some(config) = read_typed::<NormalizeConfig>(&at)? {
                    check_names(&at, [&config.module_input_name, &config.module_output_name])?;
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

fn needed<T: DeserializeOwned>(at: &Path) -> Result<T> {
    let found = read_typed(at)?;
    Ok(found.ok_or_else(|| {
        problem!(
            at,
            "the configuration of a module",
            "no such file",
            "modules.json names its folder"
        )
    })?)
}

/// A size as headers have it.
fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

fn expect_dim(at: &Path, key: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let hint = "the files are of different models";
    bail!(at, "{key} {expected}, as what is in front of it gives", "{found}", hint)
}

fn poolings(at: &Path, config: &PoolingConfig) -> Result<Vec<Pooling>> {
    let known = |name: &str| -> Result<Pooling> {
        let pooling = Pooling::deserialize(Value::String(name.to_owned()));
        Ok(pooling.map_err(|_| {
            let hint = "`cls`, `max`, `mean`, `mean_sqrt_len_tokens`, `weightedmean` and \
                        `lasttoken` are known";
            problem!(at, "a pooling_mode that is known", "`{name}`", hint)
        })?)
    };
    for (key, value) in &config.switches {
        if !SWITCHES.iter().any(|(known, _)| known == key) || !value.is_boolean() {
            let found = format!("`{key}` with the value {value}");
            bail!(at, "a key of Pooling, true or false", found, DOCUMENTED);
        }
    }
    let is_on = |key: &str| config.switches.get(key) == Some(&Value::Bool(true));
    let switched = SWITCHES.into_iter().filter(|(key, _)| is_on(key));
    let switched: Vec<Pooling> = switched.map(|(_, pooling)| pooling).collect();
    let poolings = match &config.pooling_mode {
        Some(OneOrMore::One(name)) => vec![known(name)?],
        Some(OneOrMore::More(names)) => {
            names.iter().map(|name| known(name)).collect::<Result<_>>()?
        }
        None if switched.is_empty() => vec![Pooling::Mean],
        None => switched,
    };
    if poolings.is_empty() || poolings.len() > SWITCHES.len() {
        bail!(at, "one to six poolings", (poolings.len().to_string()), DOCUMENTED);
    }
    Ok(poolings)
}

fn activation(at: &Path, name: &str) -> Result<Activation> {
    Ok(match name.rsplit_once('.').map_or(name, |(_, class)| class) {
        "Identity" | "None" => Activation::Identity,
        "Tanh" | "tanh" => Activation::Tanh,
        "ReLU" => Activation::Relu,
        "GELU" => Activation::Gelu,
        "SiLU" => Activation::Silu,
        "Sigmoid" => Activation::Sigmoid,
        _ => {
            let expected = "activation_function Identity, Tanh, ReLU, GELU, SiLU or Sigmoid";
            bail!(at, expected, "`{name}`", DOCUMENTED)
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
