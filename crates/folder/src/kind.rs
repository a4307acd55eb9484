//! The kind of the model in a folder.

use crate::architecture;
use crate::files::{MODULES, read_object};
use crate::modules::Modules;
use crate::recognise::check;
use crate::scorer::is_cross_encoder;
use crate::sparse::is_sparse;
use crate::statics::is_static;
use clariq_core::{ModelKind, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};

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
    let path = transformer_of(root)?;
    let config = read_object(&path.join("config.json"))?.unwrap_or_default();
    Ok(match architecture(&config).unwrap_or_default() {
        _ if config.get("model_type").and_then(Value::as_str) == Some("t5") => {
            ModelKind::TextGenerator
        }
        name if name.ends_with("ForSequenceClassification") => ModelKind::CrossEncoder,
        name if name.ends_with("ForMaskedLM") && path == root && !root.join(MODULES).is_file() => {
            ModelKind::Sparse
        }
        _ => ModelKind::Encoder,
    })
}

/// The folder of the transformer below a model's folder.
fn transformer_of(root: &Path) -> Result<PathBuf> {
    let entries = Modules::entries(root)?.unwrap_or_default();
    let first = entries.first().filter(|entry| entry.class() == Some("Transformer"));
    Ok(first.map_or_else(|| root.to_owned(), |entry| root.join(&entry.path)))
}
