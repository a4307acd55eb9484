//! The kind of the model in a folder.

use crate::architecture;
use crate::files::read_object;
use crate::modules::Modules;
use crate::recognise::check;
use crate::scorer::is_cross_encoder;
use crate::sparse::is_sparse;
use crate::statics::is_static;
use crate::t5::T5Folder;
use clariq_core::{ModelKind, Result};
use std::path::Path;

/// The kind of the model in a folder, by its settings.
pub fn kind_of(root: &Path) -> Result<ModelKind> {
    check(root)?;
    if is_sparse(root) {
        return Ok(ModelKind::Sparse);
    }
    if is_static(root) {
        return Ok(ModelKind::Encoder);
    }
    if is_cross_encoder(root) {
        return Ok(ModelKind::CrossEncoder);
    }
    let modules = Modules::read(root)?;
    let transformer = modules.as_ref().and_then(|modules| modules.transformer(root).ok());
    let path = transformer.unwrap_or_else(|| root.to_owned());
    let config = read_object(&path.join("config.json"))?.unwrap_or_default();
    Ok(match architecture(&config).unwrap_or_default() {
        _ if T5Folder::is_one(&path) => ModelKind::TextGenerator,
        name if name.ends_with("ForSequenceClassification") => ModelKind::CrossEncoder,
        name if name.ends_with("ForMaskedLM") && modules.is_none() => ModelKind::Sparse,
        _ => ModelKind::Encoder,
    })
}
