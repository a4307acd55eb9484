//! Rewritten utterances in the cache, one file per model and way of decoding.

use crate::cache::CacheEntry;
use clariq_core::{Decoding, Observer, Progress, Result, Rewriter, read_regular, sha256_hex};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Bytes that the file may have.
const MOST_OF_A_FILE: u64 = 1 << 32;
/// Above this number of texts, the cache is emptied.
const MOST_TEXTS: usize = 65_536;
/// The file is written again after so many new texts: a text takes long.
const BETWEEN_SAVES: usize = 256;

/// The cached output of a model for texts.
pub(crate) struct RewriteCache {
    entry: PathBuf,
    /// By the SHA-256 of the text.
    rewrites: BTreeMap<String, String>,
    unsaved: usize,
}

/// The key of a model's rewrites: everything that they depend on beside the text.
pub(super) fn key(model: &dyn Rewriter, decoding: &Decoding) -> String {
    format!("{} {}", model.checksum(), serde_json::json!(decoding))
}

fn entry(path: PathBuf) -> CacheEntry<'static> {
    CacheEntry { entry: path, file: "texts.json", what: "rewrites" }
}

impl RewriteCache {
    /// The cache of a model in `folder`. It is empty if its file is damaged.
    pub(super) fn open(folder: &Path, key: &str, observer: &dyn Observer) -> Self {
        let path = folder.join(sha256_hex(key.as_bytes()));
        let read = |file: &Path| {
            let bytes = read_regular(file, MOST_OF_A_FILE).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        let rewrites = entry(path.clone()).read_or_note(observer, read).unwrap_or_default();
        Self { entry: path, rewrites, unsaved: 0 }
    }

    /// Rewrites texts, in order; those that are in the cache are taken from it.
    pub(super) fn rewrite(
        &mut self,
        model: &dyn Rewriter,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>> {
        let keys: Vec<String> = texts.iter().map(|text| sha256_hex(text.as_bytes())).collect();
        let mut missing = Vec::new();
        let mut number_of = HashMap::new();
        for (text, key) in texts.iter().zip(&keys) {
            if !self.rewrites.contains_key(key) && !number_of.contains_key(key) {
                number_of.insert(key, missing.len());
                missing.push(*text);
            }
        }
        progress((texts.len() - missing.len()) as u64);
        let mut new = Vec::new();
        if !missing.is_empty() {
            new = model.rewrite(&missing, decoding, progress)?;
        }
        let mut all = Vec::with_capacity(texts.len());
        for key in &keys {
            all.push(match number_of.get(key) {
                Some(&number) => new[number].clone(),
                None => self.rewrites[key].clone(),
            });
        }
        if self.rewrites.len() + number_of.len() > MOST_TEXTS {
            self.rewrites.clear();
        }
        for (key, number) in number_of {
            self.rewrites.insert(key.clone(), new[number].clone());
            self.unsaved += 1;
        }
        if self.unsaved >= BETWEEN_SAVES {
            self.save();
        }
        Ok(all)
    }

    /// Writes the cache, best effort: what cannot be written is computed again.
    pub(super) fn save(&mut self) {
        if std::mem::take(&mut self.unsaved) > 0 {
            let entry = entry(self.entry.clone());
            let _ = entry.write(|out| Ok(serde_json::to_writer(out, &self.rewrites)?));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Silent;
    use std::fs;
    use std::num::NonZeroUsize;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Writes a text in upper case, and counts the texts.
    struct Upper(AtomicUsize);

    impl Rewriter for Upper {
        fn rewrite(&self, texts: &[&str], _: &Decoding, _: Progress) -> Result<Vec<String>> {
            self.0.fetch_add(texts.len(), Ordering::Relaxed);
            Ok(texts.iter().map(|text| text.to_uppercase()).collect())
        }

        fn checksum(&self) -> &'static str {
            "upper"
        }
    }

    #[test]
    fn a_text_is_rewritten_once_for_each_way_of_decoding() {
        let folder = tempfile::tempdir().unwrap();
        let model = Upper(AtomicUsize::new(0));
        let get = |texts: &[&str], length_penalty| {
            let beams = NonZeroUsize::MIN;
            let decoding = Decoding { beams, length_penalty, max_length: 9, early_stopping: true };
            let mut cache = RewriteCache::open(folder.path(), &key(&model, &decoding), &Silent);
            let found = cache.rewrite(&model, texts, &decoding, &|_| {}).unwrap();
            cache.save();
            found
        };
        for (texts, penalty, count) in [
            (&["a", "b", "a"][..], 1.0, 2),
            (&["b", "a"], 1.0, 2),
            (&["a", "b"], 2.0, 4),
            (&["a", "c"], 1.0, 5),
        ] {
            let upper: Vec<String> = texts.iter().map(|text| text.to_uppercase()).collect();
            assert_eq!(get(texts, penalty), upper);
            assert_eq!(model.0.load(Ordering::Relaxed), count);
        }
        for entry in fs::read_dir(folder.path()).unwrap() {
            fs::write(entry.unwrap().path().join("texts.json"), "[]").unwrap();
        }
        assert_eq!(get(&["a"], 1.0), ["A"], "a damaged cache");
    }
}
