//! Vectors of texts in memory, for sessions whose requests belong to no split and may never end.

use clariq_core::{Checksum, Embeddings, Result};
use std::collections::HashMap;

/// The bytes of the vectors of one encoder that are kept: 32,768 vectors of length 384.
const KEPT_BYTES: usize = 48 << 20;

/// The vectors of texts, in one block of memory: small allocations that stay would lie between those
/// of the encoder, and keep the memory around them from being used again.
pub(crate) struct KeptVectors {
    dim: usize,
    values: Vec<f32>,
    rows: HashMap<TextKey, usize>,
    most_bytes: usize,
}

/// The first 128 bits of the SHA-256 of a text, in hexadecimal.
type TextKey = [u8; 32];

impl Default for KeptVectors {
    fn default() -> Self {
        Self { dim: 0, values: Vec::new(), rows: HashMap::new(), most_bytes: KEPT_BYTES }
    }
}

impl KeptVectors {
    /// The vectors of texts, one row per text, in order. `encode` gets those that are not kept, each
    /// once. Vectors that do not fit any more take the place of all that were kept before.
    pub(super) fn rows_of(
        &mut self,
        texts: &[&str],
        encode: impl FnOnce(&[&str]) -> Result<Embeddings>,
    ) -> Result<Embeddings> {
        let keys: Vec<TextKey> = texts.iter().map(|text| key_of(text)).collect();
        let mut new_rows: HashMap<&TextKey, usize> = HashMap::new();
        let mut new_keys = Vec::new();
        let mut missing = Vec::new();
        for (text, key) in texts.iter().zip(&keys) {
            if !self.rows.contains_key(key) && !new_rows.contains_key(key) {
                new_rows.insert(key, missing.len());
                missing.push(*text);
                new_keys.push(*key);
            }
        }
        let mut new = Embeddings::default();
        if !missing.is_empty() {
            new = encode(&missing)?;
            self.dim = new.dim;
        }
        let dim = self.dim;
        let mut values = Vec::with_capacity(keys.len() * dim);
        for key in &keys {
            match new_rows.get(key) {
                Some(&row) => values.extend_from_slice(new.row(row)),
                None => values.extend_from_slice(&self.values[self.rows[key] * dim..][..dim]),
            }
        }
        for (key, row) in new_keys.into_iter().zip(new.rows()) {
            self.keep(key, row);
        }
        Ok(Embeddings { dim, values })
    }

    fn keep(&mut self, key: TextKey, row: &[f32]) {
        if self.values.capacity() == 0 {
            // The system gives memory only for what is written.
            self.values.reserve_exact(self.most_bytes / size_of::<f32>());
        }
        if size_of_val(self.values.as_slice()) + size_of_val(row) > self.most_bytes {
            self.values.clear();
            self.rows.clear();
        }
        if size_of_val(row) <= self.most_bytes {
            self.rows.insert(key, self.rows.len());
            self.values.extend_from_slice(row);
        }
    }
}

fn key_of(text: &str) -> TextKey {
    let mut key = TextKey::default();
    for (byte, digit) in key.iter_mut().zip(Checksum::of(text.as_bytes()).as_str().bytes()) {
        *byte = digit;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of texts, whose vectors are their length and 1, and the texts that were encoded.
    fn rows(kept: &mut KeptVectors, texts: &[&str]) -> (Vec<f32>, Vec<String>) {
        let mut encoded = Vec::new();
        let found = kept.rows_of(texts, |missing| {
            encoded = missing.iter().map(|text| (*text).to_owned()).collect();
            let values = missing.iter().flat_map(|text| [text.len() as f32, 1.0]).collect();
            Ok(Embeddings { dim: 2, values })
        });
        (found.unwrap().values, encoded)
    }

    #[test]
    fn a_text_is_encoded_once() {
        let mut kept = KeptVectors::default();
        let first = rows(&mut kept, &["a", "bb", "a"]);
        assert_eq!(first, (vec![1.0, 1.0, 2.0, 1.0, 1.0, 1.0], vec!["a".into(), "bb".into()]));
        let second = rows(&mut kept, &["ccc", "bb"]);
        assert_eq!(second, (vec![3.0, 1.0, 2.0, 1.0], vec!["ccc".into()]));
        assert_eq!(rows(&mut kept, &["a"]), (vec![1.0, 1.0], vec![]));
        assert_eq!(rows(&mut kept, &[]), (vec![], vec![]));
    }

    #[test]
    fn twenty_thousand_requests_take_no_more_than_the_bytes_that_are_kept() {
        let mut kept = KeptVectors { most_bytes: 1 << 12, ..KeptVectors::default() };
        let most = 512;
        for number in 0..20_000 {
            let text = number.to_string();
            assert_eq!(rows(&mut kept, &[&text]).0, [text.len() as f32, 1.0]);
            assert!(kept.rows.len() <= most && kept.values.capacity() == 2 * most);
        }
        let texts: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(rows(&mut kept, &texts).0.len(), 2 * texts.len(), "more at once than are kept");
        assert!(kept.rows.len() <= most && kept.values.capacity() == 2 * most);
        assert_eq!(rows(&mut kept, &["1999", "0"]).1, ["0"]);
    }
}
