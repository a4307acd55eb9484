//! Models behind endpoints, in a session.

use crate::session::Session;
use clariq_core::{Model, ModelName, NoModels, Result, bail};
use clariq_systems::SystemConfig;

pub use clariq_net::{CallOptions, Calls, Planned, Recording, Registry};

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

/// Registers the models of a system by their names.
///
/// # Errors
///
/// An earlier system has another model of the same name.
pub(crate) fn register(session: &Session, config: &SystemConfig) -> Result<()> {
    for model in config.models() {
        if !session.registry.set(&model.name, config.endpoints.get(&model.name)) {
            let found = format!("another one in {}", config.file);
            let hint = "run the systems one by one, or give one of the models another name";
            bail!(format!("model `{}`", model.name), "one model of that name", found, hint);
        }
    }
    Ok(())
}

/// True if a model is behind an endpoint.
pub(crate) fn is_endpoint(session: &Session, model: &ModelName) -> bool {
    session.registry.has(&model.name)
}

/// Opens a model that is behind an endpoint.
pub(crate) fn open(session: &Session, model: &ModelName) -> Result<Model> {
    let cache = session.options.cache.join("completions");
    let opened = session.registry.open(model, &cache, session.observer)?;
    opened.ok_or_else(|| NoModels::refusal(&model.name))
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
