//! The files of a model's folder: which are there, and JSON among them.

use crate::config::COPY_AGAIN;
use clariq_core::{Problem, ProblemKind, Result, bail, problem};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

pub(crate) const WEIGHTS: &str = "model.safetensors";

/// `model.safetensors` in a folder. Other forms of weights hold programs, or cannot be checked before
/// they are read.
pub(crate) fn weights_in(folder: &Path) -> Result<PathBuf> {
    let path = folder.join(WEIGHTS);
    if path.is_file() {
        return Ok(path);
    }
    let pickled = folder.join("pytorch_model.bin");
    if pickled.exists() || folder.join("pytorch_model.bin.index.json").exists() {
        bail!(
            &pickled,
            "weights in {WEIGHTS}",
            "weights as a Python pickle, which may run any program when it is read",
            CONVERT
        );
    }
    Err(missing(folder, "weights: model.safetensors").into())
}

const CONVERT: &str = "convert them where you trust the file: `python3 -c \"import sys, torch; from \
    safetensors.torch import save_file; d = sys.argv[1]; w = torch.load(d + '/pytorch_model.bin', \
    'cpu', weights_only=True); save_file({k: v.clone().contiguous() for k, v in w.items()}, d + \
    '/model.safetensors', {'format': 'pt'})\" DIR`";

/// The bytes of a file of a folder, which may not be there.
pub(crate) fn read_optional(at: &Path) -> Result<Option<Vec<u8>>> {
    if !at.is_file() {
        return Ok(None);
    }
    Ok(Some(Source::Path(at.to_owned()).read_at_most(MOST_OF_A_CONFIGURATION)?.bytes.into_owned()))
}

/// A JSON object.
pub(crate) fn read_object(at: &Path, bytes: &[u8]) -> Result<Map<String, Value>> {
    Ok(serde_json::from_slice(bytes)
        .map_err(|error| problem!(at, "a JSON object", "{error}", COPY_AGAIN))?)
}

pub(crate) fn missing(at: &Path, expected: &str) -> Problem {
    problem!(
        at,
        expected,
        "no such file",
        "a Hugging Face folder has config.json, weights and a tokenizer; `clariq setup` installs \
         the default model"
    )
    .kind(ProblemKind::MissingFile)
}
