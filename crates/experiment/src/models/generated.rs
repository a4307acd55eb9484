//! Generated texts in the cache, one file per model and decoding parameters.

use clariq_core::{Decoding, Observer, Progress, Result, TextGenerator, sha256_hex};
use clariq_files::Journal;
use std::collections::HashSet;
use std::path::Path;

/// The cached output of a text generator, by the SHA-256 of its input.
pub(crate) struct GeneratedTextCache(Journal<String>);

/// Everything that a generated text depends on, besides its input.
pub(super) fn key(model: &dyn TextGenerator, decoding: &Decoding) -> String {
    format!("{} {}", model.checksum(), serde_json::json!(decoding))
}

impl GeneratedTextCache {
    /// The cache of a model in `folder`. Damaged lines of its file are ignored, with a note.
    pub(super) fn open(folder: &Path, key: &str, observer: &dyn Observer) -> Self {
        let path = folder.join(sha256_hex(key.as_bytes()));
        let journal = Journal::open(&path);
        let file = path.display();
        let damaged = journal.damaged();
        if damaged > 0 {
            observer.note(&format!(
                "note: {damaged} generated texts in {file} are damaged and are computed again"
            ));
        }
        if let Some(trouble) = journal.trouble() {
            observer.note(&format!("note: generated texts cannot be kept in {file}: {trouble}"));
        }
        Self(journal)
    }

    /// Generates texts, in order; texts in the cache are taken from it.
    pub(super) fn generate(
        &mut self,
        model: &dyn TextGenerator,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>> {
        let keys: Vec<String> = texts.iter().map(|text| sha256_hex(text.as_bytes())).collect();
        let mut new_keys = Vec::new();
        let mut new_texts = Vec::new();
        let mut seen = HashSet::new();
        for (text, key) in texts.iter().zip(&keys) {
            if !self.0.has(key) && seen.insert(key) {
                new_keys.push(key);
                new_texts.push(*text);
            }
        }
        progress((texts.len() - new_texts.len()) as u64);
        if !new_texts.is_empty() {
            let generated = model.generate(&new_texts, decoding, progress)?;
            for (key, text) in new_keys.into_iter().zip(generated) {
                self.0.put(key.clone(), text);
            }
        }
        Ok(keys.iter().filter_map(|key| self.0.get(key)).collect())
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

    impl TextGenerator for Upper {
        fn generate(&self, texts: &[&str], _: &Decoding, _: Progress) -> Result<Vec<String>> {
            self.0.fetch_add(texts.len(), Ordering::Relaxed);
            Ok(texts.iter().map(|text| text.to_uppercase()).collect())
        }

        fn checksum(&self) -> &'static str {
            "upper"
        }
    }

    #[test]
    fn a_text_is_generated_once_for_each_decoding() {
        let folder = tempfile::tempdir().unwrap();
        let model = Upper(AtomicUsize::new(0));
        let get = |texts: &[&str], length_penalty| {
            let beams = NonZeroUsize::MIN;
            let decoding = Decoding {
                beams,
                length_penalty,
                max_length: 9,
                early_stopping: true,
                min_length: 0,
            };
            let mut cache =
                GeneratedTextCache::open(folder.path(), &key(&model, &decoding), &Silent);
            cache.generate(&model, texts, &decoding, &|_| {}).unwrap()
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
            fs::write(entry.unwrap().path(), "[]").unwrap();
        }
        assert_eq!(get(&["a"], 1.0), ["A"], "a damaged cache");
    }
}
