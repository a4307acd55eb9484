//! The kind of a folder, before its model is read, and why it is none that can be read.

use crate::files::{COPY_AGAIN, INDEX, MODULES, WEIGHTS};
use crate::router::modules;
use crate::table::{FileUse, KnownFile, SERVED};
use clariq_core::{Error, IoAction, ProblemKind, Result, bail, open_regular, problem};
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The beginning of the file that git has in place of one of git-lfs.
const POINTER: &[u8] = b"version https://git-lfs";

/// True if a folder has a file that one of the libraries reads as a model, whether or not it can be read
/// here.
pub fn is_model(folder: &Path) -> bool {
    let entries = entries(folder).unwrap_or_default();
    entries.iter().any(|(name, is_folder)| {
        let known = KnownFile::find(name, *is_folder);
        let is_model = |known: &KnownFile| match known.is {
            FileUse::Done => ["config.json", "modules.json", WEIGHTS, INDEX].contains(&known.name),
            FileUse::OtherWeights(..) => true,
            FileUse::Refused(..) => known.name.starts_with("adapter"),
            FileUse::WithoutEffect => false,
        };
        known.is_some_and(is_model)
    })
}

/// Refuses a folder with a file that would change a result and is not read, weights of another kind alone,
/// and pointers in place of files. The folders of its modules are looked at, too.
pub fn check(root: &Path) -> Result<()> {
    check_one(root, true)?;
    let below = modules(root).unwrap_or_default().into_iter().map(|(_, folder)| folder);
    // A module without settings may have no folder.
    for folder in below.filter(|folder| folder != root && folder.is_dir()) {
        check_one(&folder, false)?;
    }
    Ok(())
}

fn check_one(folder: &Path, is_root: bool) -> Result<()> {
    let entries = entries(folder)?;
    let has = |wanted: &str| entries.iter().any(|(name, _)| name == wanted);
    // The transformer, and each module with weights, has its settings beside them.
    let needs_weights = has("config.json") || (is_root && !has(MODULES));
    let has_weights = !needs_weights
        || has(INDEX)
        || entries.iter().any(|(name, _)| name.ends_with(".safetensors"));
    let weights = folder.join(WEIGHTS);
    if weights.is_file() {
        check_numbers(&[weights])?;
    }
    for (name, is_folder) in &entries {
        let at = folder.join(name);
        let Some(known) = KnownFile::find(name, *is_folder) else { continue };
        match known.is {
            FileUse::Refused(what, hint) => {
                bail!(&at, "a model's own weights and settings", what, hint)
            }
            FileUse::OtherWeights(what, hint) if !has_weights => {
                bail!(&at, "weights in {WEIGHTS}", what, hint)
            }
            FileUse::Done if !is_folder && is_pointer(&at) => {
                let found = "a pointer of git-lfs in place of the file";
                bail!(&at, "the file itself", found, "`git lfs pull` in the clone gets the files")
            }
            _ => {}
        }
    }
    Ok(())
}

/// The names in a folder in order, and true for folders.
fn entries(folder: &Path) -> Result<Vec<(String, bool)>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let entry = entry.map_err(Error::io(IoAction::Read, folder))?;
        names.push((entry.file_name().to_string_lossy().into_owned(), entry.path().is_dir()));
    }
    names.sort();
    Ok(names)
}

fn unreadable(folder: &Path, error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::NotFound {
        let absent = problem!(folder, "the folder of a model", "no such folder");
        return absent.kind(ProblemKind::MissingFile).into();
    }
    Error::io(IoAction::Read, folder)(error)
}

fn is_pointer(file: &Path) -> bool {
    let mut beginning = [0; POINTER.len()];
    let is_file = file.metadata().is_ok_and(|known| known.is_file());
    is_file
        && open_regular(file).and_then(|mut file| file.read_exact(&mut beginning)).is_ok()
        && beginning == POINTER
}

/// Refuses tensors of numbers that are not read, by the headers of weights.
pub(crate) fn check_numbers(weights: &[PathBuf]) -> Result<()> {
    for file in weights {
        let header = header_of(file)?;
        for (name, tensor) in &header {
            let kind = tensor.get("dtype").and_then(Value::as_str).unwrap_or_default();
            let is_float = kind.starts_with('F') && !["F16", "F32", "F64"].contains(&kind);
            if is_float {
                let found = format!("{kind} in `{name}`");
                bail!(file, "numbers of 16, 32 or 64 bits", found, SERVED);
            }
        }
    }
    Ok(())
}

/// The tensors of a safetensors file, by its header.
pub fn header_of(file: &Path) -> Result<crate::Object> {
    let mut open = open_regular(file).map_err(Error::io(IoAction::Read, file))?;
    let mut length = [0; 8];
    // A damaged file is named where its tensors are read.
    if open.read_exact(&mut length).is_err() {
        return Ok(crate::Object::new());
    }
    let most = open.metadata().map_or(0, |known| known.len()).min(MOST_OF_A_HEADER);
    let length = u64::from_le_bytes(length);
    let mut text = Vec::new();
    if length > most || open.take(length).read_to_end(&mut text).is_err() {
        return Ok(crate::Object::new());
    }
    Ok(serde_json::from_slice(&text).unwrap_or_default())
}

/// The most that the format allows.
const MOST_OF_A_HEADER: u64 = 100_000_000;

/// Refuses a number that is not finite, by the tensor that has it.
pub fn not_finite(file: &Path, tensor: &str) -> Error {
    let hint = format!("the model was damaged before it was saved, or {COPY_AGAIN}");
    problem!(file, "finite numbers", "one that is not in `{tensor}`", hint).into()
}
