//! The way in which the vectors of a text's tokens become one vector, according to a folder of
//! sentence-transformers.

use crate::architecture;
use crate::files::{DOCUMENTED, Object};
use crate::late_interaction::LateInteraction;
use crate::modules::{Module, ModuleEntry, Modules, PoolingConfig};
use crate::prompts::Prompts;
use crate::settings::SentenceTransformersConfig;
use clariq_core::{Pooling, ReadingOverrides, Result, Similarity, bail};
use serde_json::Value;
use std::path::Path;

/// From token vectors to the vector of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    /// The kinds of pooling, whose vectors are concatenated.
    pub poolings: Vec<Pooling>,
    /// The modules after pooling, in order.
    pub modules: Vec<Module>,
    /// Dimensions before vectors are cut.
    pub full_dim: usize,
    /// Dimensions after vectors are cut to their first ones.
    pub dim: usize,
    /// The similarity of two vectors.
    pub similarity: Similarity,
    pub prompts: Prompts,
    /// How tokens are chosen, in folders that give each token a vector: these have no pooling.
    pub late: Option<LateInteraction>,
}

/// The keys of the modules after pooling.
const OF_TEXT: &str = "sentence_embedding";

impl Sentence {
    /// The default without `modules.json`, as in sentence-transformers: mean pooling.
    pub fn usual(hidden: usize) -> Self {
        Self {
            poolings: vec![Pooling::Mean],
            modules: Vec::new(),
            full_dim: hidden,
            dim: hidden,
            similarity: Similarity::Cosine,
            prompts: Prompts::default(),
            late: None,
        }
    }

    /// True if vectors are the mean of the tokens' vectors, compared by cosine.
    pub fn is_usual(&self) -> bool {
        let modules = vec![Module::Normalize; self.modules.len().min(1)];
        *self == Self { modules, ..Self::usual(self.full_dim) }
    }

    /// Reads the settings of a folder.
    pub(crate) fn read(root: &Path, hidden: usize, modules: Option<&Modules>) -> Result<Self> {
        let settings = SentenceTransformersConfig::read(root)?;
        settings.expect_model_type("SentenceTransformer")?;
        let mut sentence = Self::usual(hidden);
        if let Some(modules) = modules {
            sentence.poolings.clear();
            sentence.read_modules(root, modules, OF_TEXT)?;
        }
        sentence.read_settings(&settings)?;
        Ok(sentence)
    }

    /// Reads the modules and settings after a table of vectors, whose mean is taken.
    pub(crate) fn read_after_table(root: &Path, dim: usize) -> Result<Self> {
        let settings = SentenceTransformersConfig::read(root)?;
        let mut sentence = Self::usual(dim);
        if let Some(modules) = Modules::read(root)? {
            sentence.read_modules(root, &modules, OF_TEXT)?;
            let other = sentence.modules.iter().find(|module| **module != Module::Normalize);
            if let Some(other) = other {
                let expected = "Normalize alone after StaticEmbedding";
                bail!(&modules.at, expected, (format!("`{other}`")), DOCUMENTED);
            }
        }
        sentence.read_settings(&settings)?;
        Ok(sentence)
    }

    fn read_settings(&mut self, settings: &SentenceTransformersConfig) -> Result<()> {
        let at = &settings.at;
        self.dim = match settings.truncate_dim {
            Some(0) => bail!(at, "truncate_dim of at least 1", "0", DOCUMENTED),
            Some(most) => most.min(self.full_dim),
            None => self.full_dim,
        };
        self.similarity = match settings.similarity_fn_name.as_deref() {
            None | Some("cosine") => Similarity::Cosine,
            Some("dot" | "dot_score") => Similarity::Dot,
            Some(other) => {
                bail!(at, "similarity_fn_name `cosine` or `dot`", "`{other}`", DOCUMENTED)
            }
        };
        settings.check_default_prompt()?;
        [self.prompts.query, self.prompts.document] = settings.prompts();
        Ok(())
    }

    /// Reads the modules after the first one; what the last one gives has the name `output`.
    pub(crate) fn read_modules(
        &mut self,
        root: &Path,
        modules: &Modules,
        output: &str,
    ) -> Result<()> {
        for (number, entry) in (1..).zip(modules.others()) {
            let output = if number == modules.others().len() { output } else { OF_TEXT };
            self.add_module(root, modules, entry, output)?;
        }
        if self.poolings.is_empty() {
            let hint = "an encoder's folder of sentence-transformers lists Transformer and Pooling";
            bail!(&modules.at, "a Pooling", "none", hint);
        }
        Ok(())
    }

    fn add_module(
        &mut self,
        root: &Path,
        modules: &Modules,
        entry: &ModuleEntry,
        output: &str,
    ) -> Result<()> {
        let folder = root.join(&entry.path);
        let has_pooling = !self.poolings.is_empty();
        match (entry.class(), has_pooling) {
            (Some("Pooling"), false) => {
                (self.poolings, self.prompts.are_counted) =
                    PoolingConfig::read(&folder, self.full_dim)?;
                self.full_dim *= self.poolings.len();
            }
            (Some("Dense"), true) => {
                self.push(Module::dense(&folder, self.full_dim, [OF_TEXT, output])?);
            }
            (Some("LayerNorm"), true) => self.push(Module::layer_norm(&folder, self.full_dim)?),
            (Some("Normalize"), true) => self.push(Module::normalize(&folder, OF_TEXT)?),
            // Only training uses it.
            (Some("Dropout"), _) => {}
            _ => {
                let expected = if has_pooling {
                    "Dense, LayerNorm or Normalize after Pooling"
                } else {
                    "Pooling after Transformer"
                };
                bail!(&modules.at, expected, (format!("`{}`", entry.r#type)), DOCUMENTED)
            }
        }
        Ok(())
    }

    /// Adds a module, which gives the dimensions from here on.
    pub(crate) fn push(&mut self, module: Module) {
        if let Module::Dense { to, .. } = module {
            self.full_dim = to;
        }
        self.modules.push(module);
    }

    /// The same with the overrides of a system.
    pub fn with_overrides(mut self, folder: &Path, overrides: &ReadingOverrides) -> Result<Self> {
        if let Some(pooling) = overrides.pooling {
            let has_shape = self.modules.iter().any(|module| *module != Module::Normalize);
            if has_shape && self.poolings.len() != 1 {
                let found =
                    format!("{} poolings, whose vectors a module takes", self.poolings.len());
                bail!(folder, "a model with one pooling, for `pooling`", found, DOCUMENTED);
            }
            if !has_shape {
                self.full_dim /= self.poolings.len();
                self.dim = self.dim.min(self.full_dim);
            }
            self.poolings = vec![pooling];
        }
        self.similarity = overrides.similarity.unwrap_or(self.similarity);
        if let Some(query) = &overrides.query_prompt {
            self.prompts.query.clone_from(query);
        }
        if let Some(document) = &overrides.document_prompt {
            self.prompts.document.clone_from(document);
        }
        Ok(self)
    }

    /// Everything that the vectors depend on, besides weights and tokens.
    pub fn digest(&self) -> String {
        let modules: Vec<String> = self.modules.iter().map(Module::to_string).collect();
        let Self { poolings, dim, similarity, prompts, late, .. } = self;
        let Prompts { query, document, are_counted } = prompts;
        let mut rest = late.as_ref().map_or_else(String::new, |late| format!(" {late:?}"));
        if !are_counted {
            rest += " prompts do not count";
        }
        format!("{poolings:?} {modules:?} {dim} {similarity:?} {query:?} {document:?}{rest}")
    }

    /// The files with the weights of modules.
    pub fn weights(&self) -> impl Iterator<Item = &Path> {
        self.modules.iter().filter_map(Module::weights)
    }
}

/// The pooling without `modules.json`, as in sentence-transformers: the last token of a model that writes
/// texts, whose tokens attend to those before them alone, and the mean of others.
pub(crate) fn usual_pooling(config: &Object) -> Pooling {
    let writes = architecture(config).is_some_and(|name| name.ends_with("ForCausalLM"));
    if writes && config.get("is_causal") != Some(&Value::Bool(false)) {
        return Pooling::LastToken;
    }
    Pooling::Mean
}
