//! Models whose requests need no network: tables of vectors, and tables of weights, which need none once
//! the documents are indexed.

use super::opened::ModelLocation;
use crate::installed;
use crate::session::Session;
use clariq_core::{Model, ModelKind, ModelName, NoModels, Result};
use clariq_folder::{SparseFolder, StaticEncoder, is_static};
use clariq_systems::SystemConfig;
use std::path::Path;
use std::sync::Arc;

/// True if a model of a system's stages needs an engine for requests; `models` is the folder of
/// installed models.
pub fn needs_engine(config: &SystemConfig, models: &Path) -> bool {
    let needs =
        |model: &ModelName| !config.is_behind_endpoint(&model.name) && !is_lookup(models, model);
    config.models().iter().any(needs)
}

/// True if the requests of a model need no network.
fn is_lookup(models: &Path, model: &ModelName) -> bool {
    let Some(folder) = installed::find(models, &model.name) else { return false };
    match model.kind {
        ModelKind::Sparse => SparseFolder::has_lookup(&folder),
        ModelKind::Encoder => is_static(&folder),
        _ => false,
    }
}

/// Refuses a model that needs an engine where there is none.
pub(super) fn check_engine(session: &Session, model: &ModelName) -> Result<()> {
    if session.engine.is_some() || is_lookup(&session.models_folder(), model) {
        return Ok(());
    }
    Err(NoModels::refusal(&model.name))
}

/// Opens a model for requests alone.
pub(super) fn open_lookup(
    session: &Session,
    model: &ModelName,
    found: ModelLocation,
) -> Result<Model> {
    let ModelLocation { folder, reading } = found;
    session.models.models.get_or_open(model.clone(), || {
        let options = session.model_options(reading);
        if model.kind == ModelKind::Encoder {
            let encoder = StaticEncoder::open(&folder, &options)?;
            return Ok(Model::Encoder(Arc::new(encoder)));
        }
        match SparseFolder::open(&folder)?.open_lookup(&options)? {
            Some(lookup) => Ok(Model::Sparse(Arc::new(lookup))),
            None => Err(NoModels::refusal(&model.name)),
        }
    })
}
