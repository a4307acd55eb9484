//! The keys of a folder's files that the table does not have.

use crate::config::keys;
use crate::family::Family;
use crate::files::{MODULES, Object, SENTENCE_SETTINGS, read_object, read_optional};
use crate::late::is_late;
use crate::router::{ROUTER_SETTINGS, modules};
use crate::settings::TransformerConfig;
use crate::table::{
    DENSE, Keys, LATE, LAYER_NORM, LOGIT_SCORE, LOOKUP, MODULE_LIST, MULTI_VECTOR_MASK, NORMALIZE,
    POOLING, ROUTER, SENTENCE, SPLADE, STATIC_EMBEDDING, TEXT_GENERATOR, TOKENIZER, TRANSFORMER,
};
use clariq_core::Result;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The keys that are passed over because nothing is known about them, each with its file.
pub fn unknown_keys(root: &Path) -> Result<Vec<String>> {
    let mut unknown = Vec::new();
    let mut add = |at: &Path, keys: Vec<String>| {
        let file = at.strip_prefix(root).unwrap_or(at).display();
        unknown.extend(keys.into_iter().map(|key| format!("{file}: {key}")));
    };
    let modules = modules(root)?;
    let settings = if is_late(root)? { &LATE } else { &SENTENCE };
    let mut files = vec![(root.join(SENTENCE_SETTINGS), settings)];
    for (class, folder) in &modules {
        files.extend(files_of(class, folder)?);
    }
    for (at, keys) in files {
        let object = read_object(&at)?.unwrap_or_default();
        add(&at, keys.unknown(&object));
    }
    if let Some(text) = read_optional(&root.join(MODULES))? {
        for entry in serde_json::from_slice::<Vec<Object>>(&text).unwrap_or_default() {
            add(&root.join(MODULES), MODULE_LIST.unknown(&entry));
        }
    }
    Ok(unknown)
}

/// The files of a module with their keys.
fn files_of(class: &str, folder: &Path) -> Result<Vec<(PathBuf, &'static Keys)>> {
    let config = folder.join("config.json");
    let keys = match class {
        "Transformer" | "MLMTransformer" => return files_of_transformer(folder),
        "Router" => return Ok(vec![(folder.join(ROUTER_SETTINGS), &ROUTER)]),
        "Pooling" => &POOLING,
        "Dense" => &DENSE,
        "LayerNorm" => &LAYER_NORM,
        "Normalize" => &NORMALIZE,
        "MultiVectorMask" => &MULTI_VECTOR_MASK,
        "LogitScore" => &LOGIT_SCORE,
        "SpladePooling" => &SPLADE,
        "SparseStaticEmbedding" | "IDF" => &LOOKUP,
        "StaticEmbedding" => &STATIC_EMBEDDING,
        _ => return Ok(Vec::new()),
    };
    Ok(vec![(config, keys)])
}

fn files_of_transformer(folder: &Path) -> Result<Vec<(PathBuf, &'static Keys)>> {
    let config = folder.join("config.json");
    let object = read_object(&config)?.unwrap_or_default();
    let tokenizer = (folder.join("tokenizer_config.json"), &TOKENIZER);
    Ok(match object.get("model_type").and_then(Value::as_str) {
        Some("t5") => vec![
            (config, &TEXT_GENERATOR),
            (folder.join("generation_config.json"), &TEXT_GENERATOR),
            tokenizer,
        ],
        Some("model2vec") => vec![(config, &STATIC_EMBEDDING)],
        model_type => {
            let family = Family::named(&config, model_type).unwrap_or_default();
            let mut files = vec![(config, keys(family)), tokenizer];
            files.extend(TransformerConfig::find(folder).map(|at| (at, &TRANSFORMER)));
            files
        }
    })
}
