//! The modules of a folder of sentence-transformers: `modules.json`, and a `config.json` per module.
//!
//! Unknown modules are refused by name: a module that is ignored would change every vector.

use crate::config::Activation;
use crate::files::{
    DOCUMENTED, MODULES, OTHER_MODELS, Object, SENTENCE_SETTINGS, read_object, read_optional,
    weights_in,
};
use crate::table::{DENSE, Keys, LAYER_NORM, MODULE_LIST, NORMALIZE, POOLING};
use clariq_core::{Pooling, Result, bail, problem};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// An entry of `modules.json`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ModuleEntry {
    pub(super) path: String,
    pub(super) r#type: String,
}

impl ModuleEntry {
    /// The class of sentence-transformers, without its Python module, which changed over releases.
    pub(super) fn class(&self) -> Option<&str> {
        let class = self.r#type.strip_prefix("sentence_transformers.");
        let class = class.or_else(|| self.r#type.strip_prefix("pylate."))?;
        Some(class_name(class))
    }
}

/// The name of a Python class without its module.
pub(super) fn class_name(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, class)| class)
}

/// The entries of `modules.json`.
#[derive(Debug, Clone)]
pub(crate) struct Modules {
    /// The path of `modules.json`.
    pub(super) at: PathBuf,
    pub(super) entries: Vec<ModuleEntry>,
}

impl Modules {
    /// Reads `modules.json`, if there is one.
    pub(crate) fn read(root: &Path) -> Result<Option<Self>> {
        let at = root.join(MODULES);
        let Some(bytes) = read_optional(&at)? else { return Ok(None) };
        let objects: Vec<Object> = serde_json::from_slice(&bytes)
            .map_err(|error| problem!(&at, "a list of modules", "{error}", DOCUMENTED))?;
        let mut entries = Vec::new();
        for object in objects {
            let entry: ModuleEntry = MODULE_LIST.read(&at, object)?;
            if entry.path.contains("..") || entry.path.starts_with('/') {
                let found = format!("path `{}`", entry.path);
                bail!(&at, "a module in this folder", found, DOCUMENTED);
            }
            entries.push(entry);
        }
        Ok(Some(Self { at, entries }))
    }

    /// The class of the first module.
    pub(crate) fn first_class(&self) -> Option<&str> {
        self.entries.first().and_then(ModuleEntry::class)
    }

    /// The folder of the transformer, the first module.
    pub(crate) fn transformer(&self, root: &Path) -> Result<PathBuf> {
        let Some(entry) = self.entries.first().filter(|entry| entry.class() == Some("Transformer"))
        else {
            let found = self.entries.first().map_or("nothing", |entry| &entry.r#type);
            bail!(&self.at, "a Transformer as the first module", "`{found}`", DOCUMENTED);
        };
        let mut path = root.to_owned();
        if !entry.path.is_empty() {
            path.push(&entry.path);
        }
        Ok(path)
    }

    /// The modules after the first one.
    pub(crate) fn others(&self) -> &[ModuleEntry] {
        self.entries.get(1..).unwrap_or_default()
    }

    /// The existing files of the settings and of the modules after the transformer, relative to `root`.
    pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
        let mut files = vec![PathBuf::from(MODULES), PathBuf::from(SENTENCE_SETTINGS)];
        let modules = Self::read(root).ok().flatten();
        for entry in modules.iter().flat_map(Self::others) {
            files.push(Path::new(&entry.path).join("config.json"));
            files.push(Path::new(&entry.path).join("model.safetensors"));
        }
        files.retain(|file| root.join(file).is_file());
        files
    }
}

/// `config.json` of a pooling module. Older folders have a switch for each kind of pooling; vectors
/// are concatenated in the order of the switches.
#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "they are the keys of the file")]
pub(super) struct PoolingConfig {
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

/// Reads one kind of pooling, or a list.
fn one_or_many<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<Pooling>>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let poolings = match value {
        Value::Null => return Ok(None),
        Value::Array(_) => Vec::deserialize(value),
        single => Pooling::deserialize(single).map(|pooling| vec![pooling]),
    };
    poolings.map(Some).map_err(serde::de::Error::custom)
}

impl PoolingConfig {
    /// Reads the poolings over vectors of a length, and true if the tokens of prompts count.
    pub(super) fn read(folder: &Path, dim: usize) -> Result<(Vec<Pooling>, bool)> {
        let at = folder.join("config.json");
        let config: Self = read_required(&at, &POOLING)?;
        expect_dim(&at, "embedding_dimension", dim, config.word_embedding_dimension)?;
        Ok((config.poolings(&at)?, config.include_prompt.unwrap_or(true)))
    }

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
                bail!(at, "pooling_mode with one to six kinds of pooling", found, DOCUMENTED);
            }
            return Ok(poolings.clone());
        }
        let mut poolings = Vec::new();
        for (is_on, pooling) in switches {
            if is_on {
                poolings.push(pooling);
            }
        }
        if poolings.is_empty() {
            poolings.push(Pooling::Mean);
        }
        Ok(poolings)
    }
}

/// `config.json` of a dense module.
#[derive(Deserialize)]
struct DenseConfig {
    in_features: usize,
    out_features: NonZeroUsize,
    bias: Option<bool>,
    activation_function: Option<String>,
    use_residual: Option<bool>,
    module_input_name: Option<String>,
    module_output_name: Option<String>,
}

/// `config.json` of a normalisation to length 1.
#[derive(Default, Deserialize)]
#[serde(default)]
struct NormalizeConfig {
    module_input_name: Option<String>,
    module_output_name: Option<String>,
}

/// `config.json` of a layer normalisation.
#[derive(Deserialize)]
struct LayerNormConfig {
    dimension: usize,
}

/// A module after pooling.
#[derive(Debug, Clone, PartialEq)]
pub enum Module {
    /// A matrix, an optional bias, and an activation.
    Dense {
        /// The file with `linear.weight` and `linear.bias`.
        weights: PathBuf,
        /// The length of its input.
        from: usize,
        /// The length of its output.
        to: usize,
        bias: bool,
        /// True if the input is added to the output, by a matrix where their lengths differ.
        residual: bool,
        activation: Activation,
    },
    /// Layer normalisation with the epsilon of PyTorch.
    LayerNorm {
        /// The file with `norm.weight` and `norm.bias`.
        weights: PathBuf,
        dim: usize,
    },
    /// Normalisation to length 1.
    Normalize,
}

impl Module {
    /// A module that reads and gives what has these names.
    pub(super) fn dense(folder: &Path, dim: usize, [of, to]: [&str; 2]) -> Result<Self> {
        let at = folder.join("config.json");
        let config: DenseConfig = read_required(&at, &DENSE)?;
        expect_vector_of(of, &at, "module_input_name", config.module_input_name.as_deref())?;
        let output = config.module_output_name.as_deref().unwrap_or(of);
        expect_vector_of(to, &at, "module_output_name", Some(output))?;
        expect_dim(&at, "in_features", dim, config.in_features)?;
        let activation = activation(&at, config.activation_function.as_deref())?;
        Ok(Self::Dense {
            weights: weights_in(folder)?,
            from: dim,
            to: config.out_features.get(),
            bias: config.bias.unwrap_or(true),
            residual: config.use_residual.unwrap_or(false),
            activation,
        })
    }

    pub(super) fn layer_norm(folder: &Path, dim: usize) -> Result<Self> {
        let at = folder.join("config.json");
        let config: LayerNormConfig = read_required(&at, &LAYER_NORM)?;
        expect_dim(&at, "dimension", dim, config.dimension)?;
        Ok(Self::LayerNorm { weights: weights_in(folder)?, dim })
    }

    pub(super) fn normalize(folder: &Path, of: &str) -> Result<Self> {
        let at = folder.join("config.json");
        let config: NormalizeConfig = NORMALIZE.read_file(&at)?.unwrap_or_default();
        expect_vector_of(of, &at, "module_input_name", config.module_input_name.as_deref())?;
        expect_vector_of(of, &at, "module_output_name", config.module_output_name.as_deref())?;
        Ok(Self::Normalize)
    }

    /// The file with its weights, if it has any.
    pub(super) fn weights(&self) -> Option<&Path> {
        match self {
            Self::Dense { weights, .. } | Self::LayerNorm { weights, .. } => Some(weights),
            Self::Normalize => None,
        }
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dense { bias, activation, residual, .. } => {
                let without = if *bias { "" } else { " without bias" };
                let sum = if *residual { ", added to its input" } else { "" };
                write!(f, "Dense{without} ({activation:?}{sum})")
            }
            Self::LayerNorm { .. } => f.write_str("LayerNorm"),
            Self::Normalize => f.write_str("Normalize"),
        }
    }
}

pub(crate) fn read_required<T: DeserializeOwned>(at: &Path, keys: &Keys) -> Result<T> {
    let Some(object) = read_object(at)? else {
        let hint = "modules.json names its folder";
        bail!(at, "the configuration of a module", "no such file", hint);
    };
    keys.read(at, object)
}

/// Refuses a module that reads or writes something other than the vectors that the modules are `of`.
fn expect_vector_of(of: &str, at: &Path, key: &str, name: Option<&str>) -> Result<()> {
    match name {
        None => Ok(()),
        Some(name) if name == of => Ok(()),
        Some(other) => bail!(at, "{key} `{of}`", "`{other}`", DOCUMENTED),
    }
}

/// Refuses a size that differs from the output of the module before.
fn expect_dim(at: &Path, key: &str, expected: usize, found: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let expected = format!("{key} {expected}, the output size of the module before it");
    bail!(at, expected, "{found}", OTHER_MODELS)
}

/// An activation of PyTorch: the library takes `Tanh` in place of any other.
fn activation(at: &Path, name: Option<&str>) -> Result<Activation> {
    if let Some(other) = name.filter(|name| !name.starts_with("torch.")) {
        bail!(at, "activation_function of torch", "`{other}`", DOCUMENTED);
    }
    Ok(match name.map(class_name) {
        None | Some("Tanh") => Activation::Tanh,
        Some("Identity") => Activation::Identity,
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
