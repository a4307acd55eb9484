//! How the vectors of a text's tokens become one vector, as a folder of sentence-transformers says:
//! `modules.json` and the files that it names, and `config_sentence_transformers.json`.
//!
//! Unknown modules and keys are refused by name: a module that is ignored would change every vector.

use super::config::Activation;
use super::files::{
    DOCUMENTED, OTHER_MODELS, Object, read_keys, read_object, read_optional, read_settings,
    weights_in,
};
use clariq_core::{Pooling, ReadingOverrides, Result, Similarity, bail, problem};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Settings of a pooling. Older folders switch each way on by a key of its own, in the order in which
/// vectors are concatenated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "they are the keys of the file")]
struct PoolingConfig {
    #[serde(alias = "embedding_dimension")]
    word_embedding_dimension: usize,
    #[serde(default, deserialize_with = "one_or_many")]
    pooling_mode: Option<Vec<Pooling>>,
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_max_tokens: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_mean_sqrt_len_tokens: bool,
    #[serde(default)]
    pooling_mode_weightedmean_tokens: bool,
    #[serde(default)]
    pooling_mode_lasttoken: bool,
    include_prompt: Option<bool>,
}

/// Reads one way of pooling, or a list.
fn one_or_many<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<Pooling>>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let modes = match value {
        Value::Null => return Ok(None),
        Value::Array(_) => Vec::deserialize(value),
        one => Pooling::deserialize(one).map(|mode| vec![mode]),
    };
    modes.map(Some).map_err(serde::de::Error::custom)
}

impl PoolingConfig {
    fn poolings(&self, at: &Path) -> Result<Vec<Pooling>> {
        let switches = [
            (self.pooling_mode_cls_token, Pooling::Cls),
            (self.pooling_mode_max_tokens, Pooling::Max),
            (self.pooling_mode_mean_tokens, Pooling::Mean),
            (self.pooling_mode_mean_sqrt_len_tokens, Pooling::MeanSqrtLen),
            (self.pooling_mode_weightedmean_tokens, Pooling::WeightedMean),
            (self.pooling_mode_lasttoken, Pooling::LastToken),
        ];
        if let Some(poolings) = &self.pooling_mode {
            if poolings.is_empty() || poolings.len() > switches.len() {
                let found = poolings.len().to_string();
                bail!(at, "pooling_mode with one to six ways", found, DOCUMENTED);
            }
            return Ok(poolings.clone());
        }
        let switched = switches.into_iter().filter(|(is_on, _)| *is_on);
        let mut poolings: Vec<Pooling> = switched.map(|(_, pooling)| pooling).collect();
        if poolings.is_empty() {
            poolings.push(Pooling::Mean);
        }
        Ok(poolings)
    }
}

/// Settings of a dense module.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DenseConfig {
    in_features: usize,
    out_features: NonZeroUsize,
    bias: Option<bool>,
    activation_function: Option<String>,
    use_residual: Option<bool>,
    module_input_name: Option<String>,
    module_output_name: Option<String>,
}

/// Settings of a layer normalisation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LayerNormConfig {
    dimension: usize,
}

/// Settings of a step to length 1.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NormalizeConfig {
    module_input_name: Option<String>,
    module_output_name: Option<String>,
}

/// A module after pooling.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Module {
    /// A matrix, perhaps with a bias, and an activation.
    Dense {
        /// The file with `linear.weight` and `linear.bias`.
        weights: PathBuf,
        /// The length of the vectors that it is given.
        from: usize,
        /// The length of those that it makes.
        to: usize,
        /// True if there is a bias.
        bias: bool,
        activation: Activation,
    },
    /// Layer normalisation with the epsilon of PyTorch.
    LayerNorm {
        /// The file with `norm.weight` and `norm.bias`.
        weights: PathBuf,
        /// The length of the vectors.
        dim: usize,
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
pub(crate) struct Sentence {
    /// Their vectors are concatenated.
    pub poolings: Vec<Pooling>,
    /// The modules after pooling, in order.
    pub modules: Vec<Module>,
    /// How many dimensions the vectors have before they are cut.
    pub full_dim: usize,
    /// How many of the first dimensions are kept.
    pub dim: usize,
    /// The similarity of two vectors.
    pub similarity: Similarity,
    /// The prompt before a request.
    pub query_prompt: String,
    /// The prompt before a document.
    pub document_prompt: String,
}

const MODULES: &str = "modules.json";
const SETTINGS: &str = "config_sentence_transformers.json";

/// An entry of `modules.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModuleEntry {
    #[serde(rename = "idx")]
    _number: Value,
    #[serde(rename = "name")]
    _name: Value,
    path: String,
    r#type: String,
    #[serde(default)]
    kwargs: Vec<Value>,
}

impl ModuleEntry {
    /// The class of sentence-transformers, without the modules that it has moved between.
    fn class(&self) -> Option<&str> {
        let class = self.r#type.strip_prefix("sentence_transformers.")?;
        Some(class_name(class))
    }
}

/// The entries of `modules.json`, without the transformer.
#[derive(Debug, Clone)]
pub(crate) struct Modules {
    at: PathBuf,
    rest: Vec<ModuleEntry>,
}

impl Modules {
    /// Reads `modules.json`, if there is one, with the folder of the transformer below `root`.
    pub(crate) fn read(root: &Path) -> Result<Option<(Self, PathBuf)>> {
        let at = root.join(MODULES);
        let Some(bytes) = read_optional(&at)? else { return Ok(None) };
        let mut entries: Vec<ModuleEntry> = serde_json::from_slice(&bytes)
            .map_err(|error| problem!(&at, "a list of modules", "{error}", DOCUMENTED))?;
        for entry in &entries {
            let stays = !entry.path.contains("..") && !entry.path.starts_with('/');
            if !stays || !entry.kwargs.is_empty() {
                let found = format!("path `{}`, kwargs {:?}", entry.path, entry.kwargs);
                bail!(&at, "a module in this folder, without kwargs", found, DOCUMENTED);
            }
        }
        if entries.first().and_then(ModuleEntry::class) != Some("Transformer") {
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
        let of = |entry: &ModuleEntry| {
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
struct SentenceTransformersConfig {
    #[serde(rename = "__version__")]
    _version: Value,
    model_type: Option<String>,
    prompts: BTreeMap<String, Option<String>>,
    default_prompt_name: Option<String>,
    similarity_fn_name: Option<String>,
    truncate_dim: Option<usize>,
    activation_fn: Option<String>,
}

impl SentenceTransformersConfig {
    fn read(root: &Path) -> Result<Self> {
        Ok(read_settings(&root.join(SETTINGS))?.unwrap_or_default())
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
fn check_names(at: &Path, input: Option<&str>, output: Option<&str>) -> Result<()> {
    for (key, name) in [("module_input_name", input), ("module_output_name", output)] {
        if let Some(other) = name.filter(|name| *name != "sentence_embedding") {
            bail!(at, "{key} `sentence_embedding`", "`{other}`", DOCUMENTED);
        }
    }
    Ok(())
}

impl Sentence {
    /// The default without `modules.json`, as in sentence-transformers: mean pooling.
    pub(crate) fn usual(hidden: usize) -> Self {
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

    /// True if vectors are the mean of the tokens' vectors, compared by cosine.
    pub(crate) fn is_usual(&self) -> bool {
        let modules = vec![Module::Normalize; self.modules.len().min(1)];
        *self == Self { modules, ..Self::usual(self.full_dim) }
    }

    /// Reads the settings of a folder's vectors.
    pub(crate) fn read(root: &Path, hidden: usize, modules: Option<&Modules>) -> Result<Self> {
        let mut sentence = Self::usual(hidden);
        let settings = SentenceTransformersConfig::read(root)?;
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

    /// The same with the overrides of a system.
    pub(crate) fn read_as(mut self, folder: &Path, reading: &ReadingOverrides) -> Result<Self> {
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

    /// Adds an entry of `modules.json`.
    fn add(
        &mut self,
        root: &Path,
        list: &Modules,
        entry: &ModuleEntry,
        settings: &SentenceTransformersConfig,
    ) -> Result<()> {
        let path = root.join(&entry.path);
        let at = path.join("config.json");
        let pooled = !self.poolings.is_empty();
        match (entry.class(), pooled) {
            (Some("Pooling"), false) => {
                let config: PoolingConfig = read_needed(&at)?;
                let has_prompts = settings.prompts.values().flatten().any(|text| !text.is_empty());
                if config.include_prompt == Some(false) && has_prompts {
                    let hint = "prompts whose tokens do not count are not supported";
                    bail!(&at, "include_prompt true beside prompts", "false", hint);
                }
                self.expect_dim(&at, "embedding_dimension", config.word_embedding_dimension)?;
                self.poolings = config.poolings(&at)?;
                self.full_dim *= self.poolings.len();
            }
            (Some("Dense"), true) => {
                let config: DenseConfig = read_needed(&at)?;
                let input = config.module_input_name.as_deref();
                check_names(&at, input, config.module_output_name.as_deref())?;
                if config.use_residual == Some(true) {
                    bail!(&at, "use_residual false", "true", DOCUMENTED);
                }
                self.expect_dim(&at, "in_features", config.in_features)?;
                let to = config.out_features.get();
                self.modules.push(Module::Dense {
                    weights: weights_in(&path)?,
                    from: self.full_dim,
                    to,
                    bias: config.bias.unwrap_or(true),
                    activation: activation(&at, config.activation_function.as_deref())?,
                });
                self.full_dim = to;
            }
            (Some("LayerNorm"), true) => {
                let config: LayerNormConfig = read_needed(&at)?;
                self.expect_dim(&at, "dimension", config.dimension)?;
                let weights = weights_in(&path)?;
                self.modules.push(Module::LayerNorm { weights, dim: self.full_dim });
            }
            (Some("Normalize"), true) => {
                let config: NormalizeConfig = read_settings(&at)?.unwrap_or_default();
                let input = config.module_input_name.as_deref();
                check_names(&at, input, config.module_output_name.as_deref())?;
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

    /// Refuses a size that is not that of the vectors so far.
    fn expect_dim(&self, at: &Path, key: &str, found: usize) -> Result<()> {
        let expected = self.full_dim;
        if found == expected {
            return Ok(());
        }
        let expected = format!("{key} {expected}, as the module before it makes");
        bail!(at, expected, "{found}", OTHER_MODELS)
    }

    /// Everything beyond the mean that the vectors depend on.
    pub(crate) fn digest(&self) -> String {
        let modules: Vec<String> = self.modules.iter().map(Module::to_string).collect();
        let Self { poolings, dim, similarity, query_prompt, document_prompt, .. } = self;
        format!(
            "{poolings:?} {modules:?} {dim} {similarity:?} {query_prompt:?} {document_prompt:?}"
        )
    }

    /// The files with weights of their own.
    pub(crate) fn weights(&self) -> impl Iterator<Item = &Path> {
        self.modules.iter().filter_map(|module| match module {
            Module::Dense { weights, .. } | Module::LayerNorm { weights, .. } => {
                Some(weights.as_path())
            }
            Module::Normalize => None,
        })
    }
}

fn read_needed<T: DeserializeOwned>(at: &Path) -> Result<T> {
    let Some(object) = read_object(at)? else {
        let hint = "modules.json names its folder";
        bail!(at, "the configuration of a module", "no such file", hint);
    };
    read_keys(at, object)
}

fn activation(at: &Path, name: Option<&str>) -> Result<Activation> {
    Ok(match name.map(class_name) {
        None | Some("Tanh" | "tanh") => Activation::Tanh,
        Some("Identity" | "None") => Activation::Identity,
        Some("ReLU") => Activation::Relu,
        Some("GELU") => Activation::Gelu,
        Some("SiLU") => Activation::Silu,
        Some("Sigmoid") => Activation::Sigmoid,
        Some(other) => {
            let expected = "activation_function Identity, Tanh, ReLU, GELU, SiLU or Sigmoid";
            bail!(at, expected, "`{other}`", DOCUMENTED)
        }
    })
}

/// The name of a Python class without its modules.
fn class_name(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, class)| class)
}

/// Checks what a folder of a cross-encoder says beside its weights: one score per pair, without
/// prompts, of which the activation changes no order.
pub(crate) fn check_cross_encoder(
    root: &Path,
    modules: Option<&Modules>,
    (at_config, config): (&Path, &Object),
) -> Result<()> {
    let at = root.join(SETTINGS);
    let settings = SentenceTransformersConfig::read(root)?;
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
        config.get("sbert_ce_default_activation_function"),
        config.get("sentence_transformers").and_then(|settings| settings.get("activation_fn")),
    ];
    let named = older.map(|value| (value.and_then(Value::as_str).map(str::to_owned), at_config));
    let named = named.into_iter().chain([(settings.activation_fn, at.as_path())]);
    for (name, at) in named.filter_map(|(name, at)| Some((name?, at))) {
        match class_name(&name) {
            "Identity" | "Sigmoid" => {}
            _ => bail!(at, "an activation Identity or Sigmoid", "`{name}`", DOCUMENTED),
        }
    }
    Ok(())
}
