//! The files of a model's folder: which are there, and JSON among them.

use clariq_core::{Problem, ProblemKind, Result, bail, problem};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub(crate) const COPY_AGAIN: &str =
    "copy the file again from where the model came from; it may be truncated";
pub(crate) const DOCUMENTED: &str = "configs/README.md lists what is understood of a folder";

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

/// A JSON object of a folder, whose values must be of the kind that their keys have.
pub(crate) struct Keys<'f> {
    /// The file, for messages.
    pub(crate) at: &'f Path,
    hint: &'static str,
    pub(crate) values: Map<String, Value>,
    read: RefCell<HashSet<String>>,
}

impl<'f> Keys<'f> {
    /// Parses an object that the engine computes by.
    pub(crate) fn parse(at: &'f Path, text: &[u8]) -> Result<Self> {
        Self::parse_with(at, text, COPY_AGAIN)
    }

    fn parse_with(at: &'f Path, text: &[u8], hint: &'static str) -> Result<Self> {
        let values = serde_json::from_slice(text)
            .map_err(|error| problem!(at, "a JSON object", "{error}", hint))?;
        Ok(Self::new(at, hint, values))
    }

    /// An object in a file.
    pub(crate) fn new(at: &'f Path, hint: &'static str, values: Map<String, Value>) -> Self {
        Self { at, hint, values, read: RefCell::default() }
    }

    /// Reads what sentence-transformers or its tokenizer writes beside a model, if it is there.
    pub(crate) fn read_optional(at: &'f Path) -> Result<Option<Self>> {
        read_optional(at)?.map(|text| Self::parse_with(at, &text, DOCUMENTED)).transpose()
    }

    /// Refuses all keys that were not read, but for some that change nothing.
    pub(crate) fn no_others(&self, ignored: &[&str], hint: &str) -> Result<()> {
        let read = self.read.borrow();
        let is_known = |key: &String| read.contains(key) || ignored.contains(&key.as_str());
        match self.values.iter().find(|(key, _)| !is_known(key)) {
            Some((key, value)) => bail!(self.at, "keys that are known", "`{key}`: {value}", hint),
            None => Ok(()),
        }
    }

    /// The value of a key, whatever it is.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.read.borrow_mut().insert(key.to_owned());
        self.values.get(key)
    }

    /// The problem of a value.
    pub(crate) fn wrong(&self, key: &str, expected: &str) -> Problem {
        let found = self.values.get(key).map_or_else(|| "none".to_owned(), Value::to_string);
        problem!(self.at, "{key} {expected}", "`{found}`", (self.hint))
    }

    /// The value of a key, if it is there.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        T::deserialize(value).map(Some).map_err(|error| {
            let kind = Problem::of_serde(self.at, &error.to_string(), "of another kind").expected;
            self.wrong(key, &kind).into()
        })
    }

    /// The same where `null` stands for nothing.
    pub(crate) fn get_or_null<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        if self.value(key).is_some_and(Value::is_null) { Ok(None) } else { self.get(key) }
    }

    /// The value of a key that must be there.
    pub(crate) fn need<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        Ok(self.get(key)?.ok_or_else(|| self.wrong(key, "in the file"))?)
    }

    /// Checks that keys are there and true or false.
    pub(crate) fn need_flags(&self, keys: &[&str]) -> Result<()> {
        keys.iter().try_for_each(|key| self.need::<bool>(key).map(drop))
    }

    /// A size, which must be there if none is `usual`.
    pub(crate) fn size(&self, key: &str, usual: Option<i64>) -> Result<i64> {
        match usual {
            Some(usual) if !self.values.contains_key(key) => Ok(usual),
            _ => match self.need(key)? {
                ..1 => Err(self.wrong(key, "of at least 1").into()),
                size => Ok(size),
            },
        }
    }

    /// What is added to a variance before its root is taken.
    pub(crate) fn epsilon(&self, key: &str, usual: f64) -> Result<f64> {
        match self.get(key)?.unwrap_or(usual) {
            epsilon if epsilon > 0.0 && epsilon.is_finite() => Ok(epsilon),
            _ => Err(self.wrong(key, "above 0").into()),
        }
    }

    /// Refuses a key with another value than some, of which `null` is that of an absent key.
    pub(crate) fn expect(&self, key: &str, known: &[&str], hint: &'static str) -> Result<()> {
        let found = self.value(key).map_or_else(|| "null".to_owned(), Value::to_string);
        if known.contains(&&*found) {
            return Ok(());
        }
        bail!(self.at, (format!("{key} {}", known[0])), "`{found}`", hint)
    }
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
