//! Vectors and texts that models compute from texts, in the cache: each text is computed once.

use clariq_core::{Checksum, Observer, Progress, Result};
use clariq_files::Journal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::path::Path;

/// Values of texts by the SHA-256 of the text. A value does not depend on the texts that are computed
/// with it, so that a run is the same with and without the cache.
pub(crate) struct TextCache<T> {
    journal: Journal<T>,
    /// Above this number of texts, the cache is emptied and written no more.
    most: usize,
}

impl<T: Clone + Serialize + DeserializeOwned> TextCache<T> {
    /// The cache in a file. Damaged lines are ignored, with a note; `what` is the content for it, in
    /// the plural.
    pub(super) fn open(path: &Path, what: &str, most: usize, observer: &dyn Observer) -> Self {
        let journal = Journal::open(path);
        let path = path.display();
        let damaged = journal.damaged();
        if damaged > 0 {
            observer.note(&format!(
                "note: {damaged} {what} in {path} are damaged and are computed again"
            ));
        }
        if let Some(trouble) = journal.trouble() {
            observer.note(&format!("note: {what} cannot be kept in {path}: {trouble}"));
        }
        Self { journal, most }
    }

    /// The values of texts, in order. `compute` gets those that are not in the cache, each once;
    /// `progress` counts the others.
    pub(super) fn values(
        &mut self,
        texts: &[&str],
        progress: Progress,
        compute: impl FnOnce(&[&str]) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let keys: Vec<Checksum> = texts.iter().map(|text| Checksum::of(text.as_bytes())).collect();
        let mut place_of = HashMap::new();
        let mut missing = Vec::new();
        let mut new_keys = Vec::new();
        for (text, key) in texts.iter().zip(&keys) {
            if !self.journal.has(key.as_str()) && !place_of.contains_key(key) {
                place_of.insert(key, missing.len());
                missing.push(*text);
                new_keys.push(key);
            }
        }
        progress((texts.len() - missing.len()) as u64);
        let computed = if missing.is_empty() { Vec::new() } else { compute(&missing)? };
        let mut values = Vec::with_capacity(keys.len());
        for key in &keys {
            values.extend(match place_of.get(key) {
                Some(&place) => computed.get(place).cloned(),
                None => self.journal.get(key.as_str()),
            });
        }
        if self.journal.count() + computed.len() > self.most {
            self.journal = Journal::default();
        }
        for (key, value) in new_keys.into_iter().zip(computed) {
            if self.journal.count() < self.most {
                self.journal.put(key.to_string(), value);
            }
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Silent;
    use std::fs;

    const MOST: usize = 5;

    fn open(path: &Path) -> TextCache<String> {
        TextCache::open(path, "texts", MOST, &Silent)
    }

    /// The texts in upper case, and those that were computed.
    fn upper(cache: &mut TextCache<String>, texts: &[&str]) -> (Vec<String>, Vec<String>) {
        let mut computed = Vec::new();
        let values = cache.values(texts, &|_| {}, |texts| {
            computed = texts.iter().map(|text| (*text).to_owned()).collect();
            Ok(texts.iter().map(|text| text.to_uppercase()).collect())
        });
        (values.unwrap(), computed)
    }

    #[test]
    fn a_text_is_computed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("texts");
        for (texts, missing) in
            [(&["a", "b", "a"][..], &["a", "b"][..]), (&["b", "a"], &[]), (&["a", "c"], &["c"])]
        {
            let (values, computed) = upper(&mut open(&path), texts);
            let expected: Vec<String> = texts.iter().map(|text| text.to_uppercase()).collect();
            assert_eq!(values, expected);
            assert_eq!(computed, missing);
        }
        fs::write(&path, "[]").unwrap();
        assert_eq!(upper(&mut open(&path), &["a"]).1, ["a"], "a damaged cache");
        let mut cache = open(folder.path());
        assert_eq!(upper(&mut cache, &["a"]).1, ["a"]);
        assert_eq!(upper(&mut cache, &["a"]).1, [] as [&str; 0], "a cache that cannot be written");
    }

    #[test]
    fn a_full_cache_is_emptied() {
        let mut cache = TextCache { journal: Journal::default(), most: MOST };
        let texts: Vec<String> = (0..=MOST).map(|number| number.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for chunk in texts.chunks(MOST) {
            assert_eq!(upper(&mut cache, chunk).0[0], chunk[0]);
        }
        assert_eq!(cache.journal.count(), 1);
        upper(&mut cache, &texts);
        assert_eq!(cache.journal.count(), MOST);
    }
}
