//! Folders of sparse encoders: a masked language model whose logits become weights of words, and
//! optionally a table of weights for the words of requests.
//!
//! The layouts are those of naver's SPLADE (no `modules.json`), and of sentence-transformers 5 and 6.
//! Everything else that is called sparse is refused by the name of its module.

use crate::files::{DOCUMENTED, OTHER_MODELS};
use crate::lookup::{Lookup, LookupFolder};
use crate::modules::{Modules, class_name, read_required};
use crate::prompts::Prompts;
use crate::recognise::check;
use crate::router::{ROUTER_SETTINGS, RouterConfig};
use crate::settings::SentenceTransformersConfig;
use crate::table::SPLADE;
use crate::{ModelFolder, missing};
use clariq_core::{Checksum, ModelOptions, Result, bail};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The version of the arithmetic. It is raised when the last bits of weights change.
const ARITHMETIC: u32 = 1;

/// The way in which the logits of a text's tokens become weights of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SparsePooling {
    /// The largest over the tokens (Formal et al., "SPLADE v2", 2021).
    Max,
    /// Their sum (Formal et al., "SPLADE", SIGIR 2021).
    Sum,
}

/// The weight of a word for a logit x.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum SparseActivation {
    /// ln(1 + max(x, 0)).
    #[serde(rename = "relu")]
    Log,
    /// ln(1 + ln(1 + max(x, 0))) (Shen et al., "Exploring ℓ0 Sparsification for Inference-free Sparse
    /// Retrievers", SIGIR 2025).
    #[serde(rename = "log1p_relu")]
    LogLog,
}

/// `config.json` of `SpladePooling`.
#[derive(Deserialize)]
struct SpladeConfig {
    pooling_strategy: SparsePooling,
    activation_function: SparseActivation,
    #[serde(alias = "embedding_dimension")]
    word_embedding_dimension: Option<i64>,
}

/// The folder of a sparse encoder.
#[derive(Debug, Clone)]
pub struct SparseFolder {
    /// The transformer with its head.
    pub transformer: ModelFolder,
    /// From tokens to a text.
    pub pooling: SparsePooling,
    /// From a logit to a weight.
    pub activation: SparseActivation,
    /// The table of weights for requests; without one, the transformer reads them.
    pub lookup: Option<LookupFolder>,
    pub prompts: Prompts,
}

impl SparseFolder {
    /// True if requests of the model in a folder need no network.
    pub fn has_lookup(root: &Path) -> bool {
        root.join(ROUTER_SETTINGS).is_file()
    }

    /// Reads the configuration and takes the checksum of all files.
    pub fn open(root: &Path) -> Result<Self> {
        check(root)?;
        let settings = SentenceTransformersConfig::read(root)?;
        check_settings(&settings)?;
        let mut folder = match Modules::read(root)? {
            None => Self::plain(root)?,
            Some(modules) if modules.first_class() == Some("Router") => {
                Self::routed(root, &modules)?
            }
            Some(modules) => Self::symmetric(root, &modules)?,
        };
        [folder.prompts.query, folder.prompts.document] = settings.prompts();
        Ok(folder)
    }

    fn of(
        transformer: ModelFolder,
        pooling: SparsePooling,
        activation: SparseActivation,
    ) -> Result<Self> {
        expect_masked_language_model(&transformer)?;
        Ok(Self { transformer, pooling, activation, lookup: None, prompts: Prompts::default() })
    }

    /// A masked language model by itself.
    fn plain(root: &Path) -> Result<Self> {
        let transformer = ModelFolder::read(root, root, None)?;
        Self::of(transformer, SparsePooling::Max, SparseActivation::Log)
    }

    /// A masked language model and its pooling.
    fn symmetric(root: &Path, modules: &Modules) -> Result<Self> {
        let mut classes = Vec::new();
        for entry in &modules.entries {
            classes.push((entry.class().unwrap_or(&entry.r#type), root.join(&entry.path)));
        }
        Self::of_modules(&modules.at, root, &classes)
    }

    /// A transformer and its pooling, which `at` lists with their folders.
    fn of_modules(at: &Path, root: &Path, modules: &[(&str, PathBuf)]) -> Result<Self> {
        let Some((transformer, rest)) = modules.split_first() else {
            bail!(at, "a masked language model and SpladePooling", "nothing", DOCUMENTED);
        };
        let (class, path) = transformer;
        if !matches!(*class, "Transformer" | "MLMTransformer") {
            bail!(at, "a masked language model (Transformer)", "`{class}`", DOCUMENTED);
        }
        let (pooling_class, pooling_path) = match rest {
            [one] => one,
            [] => bail!(at, "SpladePooling after {class}", "nothing", DOCUMENTED),
            [first, second, ..] => {
                let odd = if first.0 == "SpladePooling" { second.0 } else { first.0 };
                bail!(at, "SpladePooling alone after {class}", "`{odd}`", DOCUMENTED)
            }
        };
        if *pooling_class != "SpladePooling" {
            bail!(at, "SpladePooling after {class}", "`{pooling_class}`", DOCUMENTED);
        }
        let pooling_at = pooling_path.join("config.json");
        let config: SpladeConfig = read_required(&pooling_at, &SPLADE)?;
        let transformer = ModelFolder::read(root, path, None)?;
        // Otherwise its output is vectors of tokens.
        if *class == "Transformer" {
            transformer.settings.expect_task("fill-mask", false)?;
        }
        let vocabulary = transformer.shape.vocabulary;
        if let Some(found) = config.word_embedding_dimension.filter(|found| *found != vocabulary) {
            let expected = format!("embedding_dimension {vocabulary}, vocab_size of the model");
            bail!(&pooling_at, expected, (found.to_string()), OTHER_MODELS);
        }
        Self::of(transformer, config.pooling_strategy, config.activation_function)
    }

    /// A table for requests, and a masked language model with its pooling for documents.
    fn routed(root: &Path, modules: &Modules) -> Result<Self> {
        if let [other, ..] = modules.others() {
            let found = format!("`{}`", other.r#type);
            bail!(&modules.at, "no module after Router", found, DOCUMENTED);
        }
        let at = root.join(&modules.entries[0].path).join(ROUTER_SETTINGS);
        let Some(config) = RouterConfig::read(&at)? else {
            return Err(missing(&at, "the configuration of a Router").into());
        };
        if config.parameters.route_mappings.is_some_and(|routes| !routes.is_empty()) {
            bail!(&at, "no route_mappings", "some", DOCUMENTED);
        }
        let routes: Vec<&str> = config.structure.keys().map(String::as_str).collect();
        if routes != ["document", "query"] {
            bail!(&at, "the routes `document` and `query`", "{routes:?}", DOCUMENTED);
        }
        let modules = |route: &str| -> Result<Vec<(&str, PathBuf)>> {
            let mut modules = Vec::new();
            for name in &config.structure[route] {
                let Some(class) = config.types.get(name) else {
                    bail!(&at, "the type of `{name}`", "none", DOCUMENTED);
                };
                if name.contains(['/', '\\']) || name.starts_with('.') {
                    bail!(&at, "the name of a folder", "`{name}`", DOCUMENTED);
                }
                modules.push((class_name(class), at.with_file_name(name)));
            }
            Ok(modules)
        };
        let mut folder = Self::of_modules(&at, root, &modules("document")?)?;
        let query = modules("query")?;
        let [("SparseStaticEmbedding" | "IDF", path)] = &query[..] else {
            let classes: Vec<&str> = query.iter().map(|(class, _)| *class).collect();
            bail!(&at, "SparseStaticEmbedding alone for requests", "{classes:?}", DOCUMENTED);
        };
        let shape = &folder.transformer.shape;
        folder.lookup = Some(LookupFolder::open(path, shape.family, shape.vocabulary)?);
        Ok(folder)
    }

    /// The checksum of everything that the weights depend on.
    pub fn checksum(&self) -> Checksum {
        let Self { transformer, pooling, activation, lookup, prompts } = self;
        let Prompts { query, document, .. } = prompts;
        let lookup = lookup.as_ref().map_or("", |lookup| lookup.checksum.as_str());
        let checksum = &transformer.checksum;
        let whole =
            format!("{checksum} {pooling:?} {activation:?} {lookup} {query:?} {document:?}");
        Checksum::of(whole.as_bytes())
    }

    /// The checksum of everything that the weights depend on, to the last bit, under options.
    pub fn checksum_with(&self, options: &ModelOptions) -> Checksum {
        let checksum = self.checksum();
        let most = self.transformer.shape.most_tokens() as usize;
        let cut = options.reading.max_tokens.unwrap_or(self.transformer.max_tokens).min(most);
        let precision = options.precision;
        let computes_with = options.computes_with();
        let digest = format!("sparse {ARITHMETIC} {checksum} {precision} {cut} {computes_with}");
        Checksum::of(digest.as_bytes())
    }

    /// The model of its table, which needs no network for requests; `None` without a table.
    pub fn open_lookup(&self, options: &ModelOptions) -> Result<Option<Lookup>> {
        let Some(lookup) = &self.lookup else { return Ok(None) };
        let name = self.transformer.root.display().to_string();
        lookup.to_model(&self.prompts, self.checksum_with(options), name).map(Some)
    }

    /// A description: the family, and how a text becomes weights.
    pub fn describe(&self) -> String {
        let Self { transformer, pooling, activation, lookup, prompts } = self;
        let prompts = prompts.describe();
        let family = transformer.shape.family;
        let tokens = transformer.max_tokens;
        let logs = match activation {
            SparseActivation::Log => "",
            SparseActivation::LogLog => " of two logarithms",
        };
        let requests = if lookup.is_some() { ", requests by a table" } else { "" };
        let pooling = format!("{pooling:?}").to_lowercase();
        format!("{family}, sparse, {pooling}{logs}{requests}, {tokens} tokens{prompts}")
    }
}

/// True if the folder's settings or modules say that its model is a sparse encoder.
pub fn is_sparse(root: &Path) -> bool {
    let is_named = SentenceTransformersConfig::read(root)
        .is_ok_and(|settings| settings.model_type.as_deref() == Some("SparseEncoder"));
    let modules = Modules::read(root).ok().flatten();
    let mut entries = modules.iter().flat_map(|modules| &modules.entries);
    let has_module = entries.any(|entry| entry.r#type.contains(".sparse_encoder."));
    is_named || has_module || SparseFolder::has_lookup(root)
}

fn check_settings(settings: &SentenceTransformersConfig) -> Result<()> {
    settings.expect_model_type("SparseEncoder")?;
    let at = &settings.at;
    match settings.similarity_fn_name.as_deref() {
        None | Some("dot" | "dot_score") => {}
        Some(other) => bail!(at, "similarity_fn_name `dot`", "`{other}`", DOCUMENTED),
    }
    if let Some(most) = settings.truncate_dim {
        bail!(at, "no truncate_dim", "{most}", DOCUMENTED);
    }
    settings.check_default_prompt()
}

fn expect_masked_language_model(folder: &ModelFolder) -> Result<()> {
    if folder.is_masked_language_model() {
        return Ok(());
    }
    let at = folder.path.join("config.json");
    let expected = "the architecture of a masked language model, such as BertForMaskedLM";
    let found = folder.architecture().map_or_else(|| "none".to_owned(), |name| format!("`{name}`"));
    bail!(&at, expected, found, "an encoder of vectors is for the stage `dense`")
}
