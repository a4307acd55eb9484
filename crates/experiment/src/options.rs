//! The options that everything in a session is done under.

use crate::cache;
use clariq_core::Precision;
use std::path::PathBuf;

/// How work is done.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads that learned models and index building use; results are the same with any number.
    pub threads: usize,
    /// Seed of everything random but fine-tuning, whose recipe has its own.
    pub seed: u64,
    /// Where learned models are run: `cpu`, or `cuda:0` and so on.
    pub device: String,
    /// What learned models compute with.
    pub precision: Precision,
    /// Folder of indexes, models and vectors.
    pub cache: PathBuf,
    /// Folder of the index, in place of one in the cache.
    pub index: Option<PathBuf>,
    /// Bytes of memory for building an index.
    pub memory: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            seed: 42,
            device: "cpu".to_owned(),
            precision: Precision::F32,
            cache: cache::folder(),
            index: None,
            memory: 64_000_000,
        }
    }
}
