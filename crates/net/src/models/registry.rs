//! The models behind servers that a session knows, by name.

use super::calls::{CallOptions, Calls};
use super::config::{EndpointConfig, TAKEN};
use super::server::{Server, api_key};
use clariq_core::{Model, ModelName, Observer, ReadingOverrides, Result, bail};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Opens models behind servers. All of them share the calls of a session.
#[derive(Debug, Default)]
pub struct Registry {
    calls: Arc<Calls>,
    /// The model of each name; `None` if it is not behind a server.
    endpoints: Mutex<HashMap<String, Option<EndpointConfig>>>,
}

impl Registry {
    /// A registry without models, whose calls have these options.
    pub fn new(options: CallOptions) -> Self {
        Self { calls: Arc::new(Calls::new(options)), ..Self::default() }
    }

    /// The calls of its models.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Sets the model of a name for the session. False if the name has another model already.
    #[must_use]
    pub fn set(&self, name: &str, model: Option<&EndpointConfig>) -> bool {
        let mut endpoints = self.endpoints.lock();
        let known = endpoints.entry(name.to_owned()).or_insert_with(|| model.cloned());
        known.as_ref() == model
    }

    /// True if the model of a name is behind a server.
    pub fn has(&self, name: &str) -> bool {
        self.config(name).is_some()
    }

    fn config(&self, name: &str) -> Option<EndpointConfig> {
        let endpoints = self.endpoints.lock();
        endpoints.get(name).cloned().flatten()
    }

    /// Opens a model, or `None` if it is not behind a server. `cache` is the folder of answers.
    ///
    /// # Errors
    ///
    /// Another kind of model, overrides of a model's folder, and a key that cannot be sent.
    pub fn open(
        &self,
        model: &ModelName,
        cache: &Path,
        observer: &dyn Observer,
    ) -> Result<Option<Model>> {
        let Some(config) = self.config(&model.name) else { return Ok(None) };
        let at = format!("model `{}`", model.name);
        let kind = config.table().kind();
        if kind.model != model.kind {
            let found = format!("kind = \"{}\" in [models]", kind.name);
            bail!(at, (model.kind.to_string()), found, TAKEN);
        }
        if model.reading != ReadingOverrides::default() {
            let found = model.label();
            let hint = "only the server's own options change how it reads texts; prompts are keys of [models.NAME]";
            bail!(at, "a model behind a server without overrides", found, hint);
        }
        let key = api_key(&model.name)?;
        let calls = Arc::clone(&self.calls);
        let server = Server::open(&model.name, config.table(), key, calls, cache, observer)?;
        Ok(Some(config.open(server)))
    }
}
