//! Stores of the texts of large collections, in the cache.

use crate::cache::folder;
use clariq_core::{AddText, Checksum, Documents, Result, TextKeeper};
use clariq_index::{BuildOptions, TextStore};
use std::path::PathBuf;

/// Stores of texts in the cache.
#[derive(Debug, Clone)]
pub struct TextStores {
    /// The folder of the cache; the stores are in its subfolder `texts`.
    pub cache: PathBuf,
    /// The size in bytes from which on the texts of files, packed or not, are stored on disk.
    pub min_bytes: u64,
}

impl Default for TextStores {
    /// In the user's cache, from 512 MiB on.
    fn default() -> Self {
        Self { cache: folder(), min_bytes: 512 << 20 }
    }
}

impl TextKeeper for TextStores {
    fn takes(&self, bytes: u64) -> bool {
        bytes >= self.min_bytes
    }

    fn keep(
        &self,
        source: &Checksum,
        fill: &dyn Fn(AddText) -> Result<()>,
    ) -> Result<Box<dyn Documents>> {
        let folder = self.cache.join("texts").join(source.short());
        let memory = BuildOptions::default().memory;
        Ok(Box::new(TextStore::open_or_build(&folder, source, memory, fill)?))
    }
}
