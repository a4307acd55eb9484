//! Models behind endpoints: the table `[models]` of a system, and their opening in a session.

use crate::recipes;
use crate::record::RecordedOutput;
use crate::session::Session;
use crate::systems::SystemConfig;
use clariq_core::{Model, ModelKind, ModelName, NoModels, Result, bail};
use clariq_files::{StagedFile, with_ending};
use clariq_net::{EndpointConfig, write_exchanges};
use clariq_rank::ConfigSection;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use clariq_net::{CallOptions, Calls, Planned, Recording, Registry};

/// The models of a system that are behind an endpoint, by name.
pub type Endpoints = BTreeMap<String, EndpointConfig>;

/// Reads the tables `[models.NAME]`.
pub(crate) fn read(section: ConfigSection) -> Result<Endpoints> {
    let mut endpoints = Endpoints::new();
    for (name, section) in section.tables()? {
        let at = section.at.clone();
        if recipes::is_recipe(&name) {
            let hint = "the name is that of a recipe; give the model another";
            bail!(at, "a name that no recipe has", "`{name}`", hint);
        }
        let config: EndpointConfig = section.read_tagged("kind").map_err(|error| {
            error
                .to_problem()
                .hint("the documentation lists the keys of each kind (reference, Models)")
        })?;
        config.check(&at)?;
        endpoints.insert(name, config);
    }
    Ok(endpoints)
}

impl SystemConfig {
    /// True if a model of its stages needs an engine: one that is not behind an endpoint.
    pub fn needs_models(&self) -> bool {
        let models = self.models();
        models.iter().any(|model| !self.is_behind_endpoint(&model.name))
    }

    /// True if the model of this name is behind an endpoint.
    pub fn is_behind_endpoint(&self, model: &str) -> bool {
        self.endpoints.contains_key(model)
    }

    /// Refuses a chat model without a table `[models.NAME]`, which names its endpoint.
    pub(crate) fn check_endpoints(&self) -> Result<()> {
        let models = self.models().into_iter();
        for model in models.filter(|model| model.kind == ModelKind::Chat) {
            let name = &model.name;
            if !self.endpoints.contains_key(name) {
                let expected = format!("a table [models.{name}] with kind = \"chat\"");
                let hint = "the documentation lists its keys (reference, Models)";
                bail!(&*self.file, expected, "none", hint);
            }
        }
        Ok(())
    }
}

/// The maximum number of documents for an encoder behind an endpoint: their vectors are stored
/// beside every run, and read into memory to replay it.
const MOST_DOCUMENTS: usize = 200_000;

/// Refuses too many documents for an encoder behind an endpoint.
pub(crate) fn check_number(model: &ModelName, documents: usize) -> Result<()> {
    if documents > MOST_DOCUMENTS {
        let at = format!("model `{}`", model.name);
        let hint = "a model that is installed has no such limit (`clariq setup --model`); a search \
                    engine can retrieve candidates for its reranker";
        bail!(
            at,
            "at most {MOST_DOCUMENTS} documents for an encoder behind a server",
            "{documents}",
            hint
        );
    }
    Ok(())
}

/// The file with the exchanges of a run.
pub fn completions_path(run: &Path) -> PathBuf {
    with_ending(run, ".completions.jsonl.zst")
}

impl Session<'_> {
    /// Registers the models of a system by their names.
    ///
    /// # Errors
    ///
    /// An earlier system has another model of the same name.
    pub(crate) fn set_endpoints(&self, loaded: &SystemConfig) -> Result<()> {
        for model in loaded.models() {
            if !self.registry.set(&model.name, loaded.endpoints.get(&model.name)) {
                let found = format!("another one in {}", loaded.file);
                let hint = "run the systems one by one, or give one of the models another name";
                bail!(format!("model `{}`", model.name), "one model of that name", found, hint);
            }
        }
        Ok(())
    }

    /// True if a model is behind an endpoint.
    pub(crate) fn is_endpoint(&self, model: &ModelName) -> bool {
        self.registry.has(&model.name)
    }

    /// Opens a model that is behind an endpoint.
    pub(crate) fn open_endpoint(&self, model: &ModelName) -> Result<Model> {
        let cache = self.options.cache.join("completions");
        let opened = self.registry.open(model, &cache, self.observer)?;
        opened.ok_or_else(|| NoModels::refusal(&model.name))
    }

    /// Describes the models of a system that are behind endpoints in the record of the run at `path`,
    /// and stages its exchanges, if there are any.
    pub(crate) fn record_calls(
        &self,
        loaded: &SystemConfig,
        path: &Path,
        made_by: &mut Value,
    ) -> Result<Option<RecordedOutput>> {
        if !loaded.endpoints.is_empty() {
            made_by["endpoints"] = json!(loaded.endpoints);
        }
        let exchanges = self.registry.calls().take_exchanges();
        if exchanges.is_empty() {
            return Ok(None);
        }
        let path = completions_path(path);
        let staged = StagedFile::new(&path, |out| write_exchanges(out, &exchanges))?;
        Ok(Some(("completions", path, staged)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_documents_for_an_encoder_behind_an_endpoint_are_refused() {
        let model = ModelName::encoder("far");
        check_number(&model, MOST_DOCUMENTS).unwrap();
        let error = check_number(&model, MOST_DOCUMENTS + 1).unwrap_err().to_string();
        assert!(error.contains("at most 200000 documents"), "{error}");
        assert!(error.contains("found 200001"), "{error}");
    }
}
