//! A model's folder, whose files are there and belong together.

use crate::config::Shape;
use crate::layout::check_layout;
use crate::tensors::read_header;
use clariq_core::{Problem, ProblemKind, Result, problem, sha256, sha256_hex, sha256_of_file};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A folder whose configuration was read and whose files are there.
#[derive(Debug, Clone)]
pub struct ModelFolder {
    /// The folder.
    pub path: PathBuf,
    /// `config.json`, whole.
    pub config: Value,
    /// What the architecture needs of it.
    pub shape: Shape,
    /// Digest over configuration, weights and tokenizer.
    pub checksum: String,
}

/// The file names that weights can have, in the order in which they are looked for.
const WEIGHTS: [&str; 2] = ["model.safetensors", "pytorch_model.bin"];
/// The files that a tokenizer can be read from, in the order in which they are looked for.
const TOKENIZERS: [&str; 2] = ["tokenizer.json", "vocab.txt"];

impl ModelFolder {
    /// Reads the configuration, checks it against the header of the weights, and takes the checksum
    /// of all files.
    pub fn open(path: &Path) -> Result<Self> {
        let at = path.join("config.json");
        if !at.is_file() {
            return Err(missing(&at, "the configuration of a BERT").into());
        }
        let text = Source::Path(at.clone()).read_at_most(MOST_OF_A_CONFIGURATION)?.bytes;
        let (config, shape) = Shape::parse(&at, &text)?;
        let mut folder = Self { path: path.to_owned(), config, shape, checksum: String::new() };
        let (weights, tokenizer) = (folder.weights()?, folder.tokenizer()?);
        if weights.extension().is_some_and(|extension| extension == "safetensors") {
            check_layout(&weights, &folder.shape, &read_header(&weights)?)?;
        }
        let pieces =
            [sha256([&*text]).to_string(), sha256_of_file(&weights)?, sha256_of_file(&tokenizer)?];
        folder.checksum = sha256_hex(pieces.concat().as_bytes());
        Ok(folder)
    }

    /// The file with the weights.
    pub fn weights(&self) -> Result<PathBuf> {
        self.first_of(&WEIGHTS, "weights")
    }

    /// The file that the tokenizer is read from.
    pub fn tokenizer(&self) -> Result<PathBuf> {
        self.first_of(&TOKENIZERS, "a tokenizer")
    }

    fn first_of(&self, names: &[&str], what: &str) -> Result<PathBuf> {
        let mut paths = names.iter().map(|name| self.path.join(name));
        let expected = || format!("{what}: {}", names.join(" or "));
        let found = paths.find(|path| path.is_file());
        Ok(found.ok_or_else(|| missing(&self.path, &expected()))?)
    }
}

fn missing(at: &Path, expected: &str) -> Problem {
    problem!(
        at,
        expected,
        "no such file",
        "a Hugging Face folder of a BERT has config.json, weights and a tokenizer; `clariq setup` \
         installs the default one"
    )
    .kind(ProblemKind::MissingFile)
}
