//! The files of a model's folder: weights and JSON.

use clariq_core::{Problem, ProblemKind, Result, bail, problem};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

pub const COPY_AGAIN: &str =
    "copy the file again from where the model came from; it may be truncated";
pub const DOCUMENTED: &str = "the documentation lists the supported settings (reference, Models)";
pub const OTHER_MODELS: &str = "the files are of different models";

pub(crate) const WEIGHTS: &str = "model.safetensors";
pub(crate) const MODULES: &str = "modules.json";
pub(crate) const SENTENCE_SETTINGS: &str = "config_sentence_transformers.json";
pub(crate) const INDEX: &str = "model.safetensors.index.json";

/// The keys and values of a JSON object.
pub type Object = Map<String, Value>;

/// Reads a file of settings, if it exists.
pub(crate) fn read_optional(at: &Path) -> Result<Option<Vec<u8>>> {
    read_at_most(at, MOST_OF_A_CONFIGURATION)
}

/// Reads a file of at most so many bytes, if it exists.
pub(crate) fn read_at_most(at: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    if !at.is_file() {
        return Ok(None);
    }
    Ok(Some(Source::Path(at.to_owned()).read_at_most(most)?.bytes.into_owned()))
}

/// Parses a JSON object; `at` names the file in messages.
pub(crate) fn parse_object(at: &Path, text: &[u8]) -> Result<Object> {
    let object = serde_json::from_slice(text);
    Ok(object.map_err(|error| problem!(at, "a JSON object", "{error}", COPY_AGAIN))?)
}

/// Reads a JSON object, if the file exists.
pub(crate) fn read_object(at: &Path) -> Result<Option<Object>> {
    read_optional(at)?.map(|text| parse_object(at, &text)).transpose()
}

/// Reads the keys of an object into a struct; errors name the key.
pub(crate) fn read_keys<T: DeserializeOwned>(at: &Path, object: Object) -> Result<T> {
    serde_path_to_error::deserialize(Value::Object(object)).map_err(|error| {
        let key = error.path().to_string();
        let message = error.inner().to_string();
        let mut problem = Problem::of_serde(at, &message, "supported keys and values");
        if message.starts_with("unknown field") {
            "known keys".clone_into(&mut problem.expected);
        } else if key != "." {
            problem.expected = format!("{key} {}", problem.expected);
        }
        problem.hint(DOCUMENTED).into()
    })
}

/// Refuses a key with a value that is not supported. The first of the `supported` values is the usual
/// one; an absent key has the value `null`.
pub(crate) fn expect_usual(
    at: &Path,
    object: &Object,
    key: &str,
    supported: &[&str],
    hint: &str,
) -> Result<()> {
    let found = object.get(key).map_or_else(|| "null".to_owned(), Value::to_string);
    if supported.contains(&&*found) {
        return Ok(());
    }
    bail!(at, (format!("{key} {}", supported[0])), "`{found}`", hint)
}

/// The problem of a file that does not exist.
pub(crate) fn missing(at: &Path, expected: &str) -> Problem {
    let hint = "a Hugging Face folder has config.json, weights and a tokenizer";
    problem!(at, expected, "no such file", hint).kind(ProblemKind::MissingModel)
}

pub(crate) const PICKLED: &str = "a file of PyTorch, which may run any program when it is read";
pub(crate) const CONVERT: &str = "if you trust the file, convert it: `python3 -c \"import sys, torch; from \
    safetensors.torch import save_file; d = sys.argv[1]; w = torch.load(d + '/pytorch_model.bin', \
    'cpu', weights_only=True); save_file({k: v.clone().contiguous() for k, v in w.items()}, d + \
    '/model.safetensors', {'format': 'pt'})\" DIR`";

/// `model.safetensors` in a folder. PyTorch's own files may run programs when they are read.
pub(crate) fn weights_in(folder: &Path) -> Result<PathBuf> {
    let path = folder.join(WEIGHTS);
    if path.is_file() {
        return Ok(path);
    }
    if folder.join("pytorch_model.bin").exists() {
        bail!(&folder.join("pytorch_model.bin"), "weights in {WEIGHTS}", PICKLED, CONVERT);
    }
    Err(missing(folder, "weights: model.safetensors").into())
}

/// The files with the weights of a transformer: `model.safetensors`, or those that its index names.
pub(crate) fn weights_of_model(path: &Path) -> Result<Vec<PathBuf>> {
    let at = path.join(INDEX);
    if path.join(WEIGHTS).is_file() {
        return Ok(vec![weights_in(path)?]);
    }
    let Some(index) = read_object(&at)? else { return Ok(vec![weights_in(path)?]) };
    let expected = "a weight_map of tensors to files";
    let Some(Value::Object(map)) = index.get("weight_map") else {
        bail!(&at, expected, "none", COPY_AGAIN);
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for file in map.values() {
        let name = file.as_str().unwrap_or_default();
        let is_plain = name.ends_with(".safetensors") && !name.contains(['/', '\\']);
        if !is_plain {
            bail!(&at, expected, "{file}", COPY_AGAIN);
        }
        files.push(path.join(name));
    }
    files.sort();
    files.dedup();
    if files.is_empty() {
        bail!(&at, expected, "an empty one", COPY_AGAIN);
    }
    match files.iter().find(|file| !file.is_file()) {
        Some(absent) => Err(missing(absent, "the weights that the index names").into()),
        None => Ok(files),
    }
}
