//! Vectors of texts in the cache: those of the documents of a collection in one file, those of
//! requests, and of documents of single requests, in one file each per encoder.

use crate::cache::CacheEntry;
use clariq_core::{
    Doc, DocumentVectors, Documents, Embeddings, Encoder, Observer, Progress, Result, open_regular,
    sha256, sha256_hex,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

const FILE: &str = "vectors.bin";

fn entry(path: PathBuf) -> CacheEntry<'static> {
    CacheEntry { entry: path, file: FILE, what: "vectors" }
}

/// The first line of a file of vectors, in JSON. The numbers of all vectors follow it, little-endian.
#[derive(Serialize, Deserialize)]
struct VectorsHeader {
    rows: usize,
    dim: usize,
    /// The rows of documents without a text.
    #[serde(default)]
    empty: Vec<u32>,
    /// The SHA-256 of the texts of the rows, unless they are documents of a collection.
    #[serde(default)]
    texts: Vec<String>,
}

fn write_vectors(
    header: &VectorsHeader,
    rows: impl Iterator<Item = impl AsRef<[f32]>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    serde_json::to_writer(&mut *out, header)?;
    out.write_all(b"\n")?;
    for row in rows {
        let bytes: Vec<u8> = row.as_ref().iter().flat_map(|value| value.to_le_bytes()).collect();
        out.write_all(&bytes)?;
    }
    Ok(())
}

fn read_vectors(path: &Path) -> io::Result<(VectorsHeader, Embeddings)> {
    let mut file = BufReader::new(open_regular(path)?);
    let mut line = String::new();
    file.read_line(&mut line)?;
    let header: VectorsHeader = serde_json::from_str(&line)?;
    let values = read_numbers(&mut file)?;
    if header.rows.checked_mul(header.dim) != Some(values.len()) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let vectors = Embeddings { dim: header.dim, values };
    Ok((header, vectors))
}

/// Reads numbers up to the end of a file.
fn read_numbers(file: &mut BufReader<File>) -> io::Result<Vec<f32>> {
    let mut values = Vec::new();
    let mut bytes = [0; 1 << 14];
    loop {
        let mut length = 0;
        while length < bytes.len() {
            match file.read(&mut bytes[length..])? {
                0 => break,
                read => length += read,
            }
        }
        let (numbers, rest) = bytes[..length].as_chunks::<4>();
        if !rest.is_empty() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if numbers.is_empty() {
            return Ok(values);
        }
        values.extend(numbers.iter().map(|number| f32::from_le_bytes(*number)));
    }
}

/// The vectors of documents: read from the entry in `folder` that is named after the encoder and
/// the documents, or computed and written there.
pub(super) fn document_vectors(
    folder: &Path,
    encoder: &dyn Encoder,
    documents: &dyn Documents,
    observer: &dyn Observer,
    progress: Progress,
) -> Result<DocumentVectors> {
    let key = [encoder.checksum(), "\0", documents.checksum().as_str()];
    let entry = entry(folder.join(sha256(key.map(str::as_bytes)).short()));
    let read = |path: &Path| {
        let (header, vectors) = read_vectors(path).ok()?;
        progress(header.rows as u64);
        let is_whole = header.rows == documents.len();
        let empty = header.empty.into_iter().map(Doc).collect();
        is_whole.then_some(DocumentVectors { vectors, empty })
    };
    let write = |encoded: &DocumentVectors, out: &mut dyn Write| {
        let header = VectorsHeader {
            rows: documents.len(),
            dim: encoded.vectors.dim,
            empty: encoded.empty.iter().map(|doc| doc.0).collect(),
            texts: Vec::new(),
        };
        write_vectors(&header, encoded.vectors.rows(), out)
    };
    let encode = || DocumentVectors::encode(encoder, documents, progress);
    entry.read_or_make(observer, read, encode, write)
}

/// Above this number of texts, the cache is emptied: 50 MB of vectors of length 384.
const MOST_TEXTS: usize = 32_768;

/// The role of the texts of a cache: some models read requests and documents with different prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TextRole {
    Request,
    Document,
}

/// Vectors of texts of one role by one encoder. A vector does not depend on the texts that are encoded
/// with it, so that a run is the same with and without the cache.
pub(crate) struct TextVectorCache {
    role: TextRole,
    /// The cache entry on disk; `None` for a cache in memory.
    entry: Option<PathBuf>,
    /// By the SHA-256 of the text.
    vectors: BTreeMap<String, Box<[f32]>>,
    has_unsaved: bool,
}

impl TextVectorCache {
    /// An empty cache without a file.
    pub(super) fn in_memory(role: TextRole) -> Self {
        Self { role, entry: None, vectors: BTreeMap::new(), has_unsaved: false }
    }

    /// The cache of an encoder in `folder`. It is empty if its file is damaged.
    pub(super) fn open(
        role: TextRole,
        folder: &Path,
        encoder: &dyn Encoder,
        observer: &dyn Observer,
    ) -> Self {
        let name = match role {
            TextRole::Request => "texts",
            TextRole::Document => "sentences",
        };
        let path = folder.join(format!("{name}-{}", sha256_hex(encoder.checksum().as_bytes())));
        let found = entry(path.clone()).read_or_note(observer, |file| read_vectors(file).ok());
        let mut vectors = BTreeMap::new();
        if let Some((header, rows)) = found {
            for (text, row) in header.texts.into_iter().zip(rows.rows()) {
                vectors.insert(text, row.into());
            }
        }
        Self { role, entry: Some(path), vectors, has_unsaved: false }
    }

    /// Encodes texts, one row per text, in order; those that are in the cache are taken from it.
    pub(super) fn encode(&mut self, encoder: &dyn Encoder, texts: &[&str]) -> Result<Embeddings> {
        let keys: Vec<String> = texts.iter().map(|text| sha256_hex(text.as_bytes())).collect();
        let mut missing = Vec::new();
        let mut row_of = HashMap::new();
        for (text, key) in texts.iter().zip(&keys) {
            if !self.vectors.contains_key(key) && !row_of.contains_key(key) {
                row_of.insert(key, missing.len());
                missing.push(*text);
            }
        }
        let mut new = Embeddings::default();
        if !missing.is_empty() {
            new = match self.role {
                TextRole::Request => encoder.encode(&missing, &|_| {})?,
                TextRole::Document => encoder.encode_documents_alone(&missing, &|_| {})?,
            };
        }
        let mut all = Embeddings::default();
        for key in &keys {
            let row = match row_of.get(key) {
                Some(&row) => new.row(row),
                None => &self.vectors[key],
            };
            all.dim = row.len();
            all.values.extend_from_slice(row);
        }
        if self.vectors.len() + row_of.len() > MOST_TEXTS {
            self.vectors.clear();
        }
        for (key, row) in row_of {
            if self.vectors.len() < MOST_TEXTS {
                self.vectors.insert(key.clone(), new.row(row).into());
                self.has_unsaved = true;
            }
        }
        Ok(all)
    }

    /// Writes the cache, best effort: what cannot be written is computed again.
    pub(super) fn save(&mut self) {
        let is_due = std::mem::take(&mut self.has_unsaved);
        let Some(path) = self.entry.clone().filter(|_| is_due) else { return };
        let dim = self.vectors.values().next().map_or(0, |row| row.len());
        let texts = self.vectors.keys().cloned().collect();
        let header = VectorsHeader { rows: self.vectors.len(), dim, empty: Vec::new(), texts };
        let _ = entry(path).write(|out| write_vectors(&header, self.vectors.values(), out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::documents::{Bank, BankRow};
    use clariq_core::Silent;
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Encodes a text as its length, and counts the texts.
    struct Lengths(AtomicUsize, &'static str);

    impl Encoder for Lengths {
        fn encode(&self, texts: &[&str], _progress: Progress) -> Result<Embeddings> {
            self.0.fetch_add(texts.len(), Ordering::Relaxed);
            let values = texts.iter().flat_map(|text| [text.len() as f32, 0.1]).collect();
            Ok(Embeddings { dim: 2, values })
        }

        fn encode_documents_alone(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
            let mut vectors = self.encode(texts, progress)?;
            vectors.values.iter_mut().for_each(|value| *value += 0.5);
            Ok(vectors)
        }

        fn checksum(&self) -> &str {
            self.1
        }
    }

    impl Lengths {
        fn calls(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn encode(folder: &Path, encoder: &Lengths, texts: &[&str]) -> DocumentVectors {
        let row = |(number, text): (u32, &&str)| BankRow {
            id: format!("D{number:05}").as_str().into(),
            text: (*text).to_owned(),
        };
        let bank = Bank::new((0..).zip(texts).map(row).collect(), "Q00001");
        document_vectors(folder, encoder, &bank, &Silent, &|_| {}).unwrap()
    }

    #[test]
    fn requests_are_encoded_once() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), "one");
        let get = |texts: &[&str]| {
            let mut cache =
                TextVectorCache::open(TextRole::Request, folder.path(), &encoder, &Silent);
            let found = cache.encode(&encoder, texts).unwrap();
            cache.save();
            found.values
        };
        assert_eq!(get(&["a", "bcd", "a"]), [1.0, 0.1, 3.0, 0.1, 1.0, 0.1]);
        assert_eq!(encoder.calls(), 2);
        assert_eq!(get(&["bcd", "a"]), [3.0, 0.1, 1.0, 0.1]);
        assert_eq!(encoder.calls(), 2);
        assert_eq!(get(&["bcd", "ef", "a"]), [3.0, 0.1, 2.0, 0.1, 1.0, 0.1]);
        assert_eq!(encoder.calls(), 3, "one text is new");
        let entry = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(entry.join(FILE), "damaged").unwrap();
        assert_eq!(get(&["ef"]), [2.0, 0.1]);
        assert_eq!(get(&[]), [] as [f32; 0]);
    }

    #[test]
    fn the_same_text_has_a_vector_as_a_request_and_one_as_a_document() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), "one");
        for _ in 0..2 {
            for (role, expected) in
                [(TextRole::Request, [1.0, 0.1]), (TextRole::Document, [1.5, 0.6])]
            {
                let mut cache = TextVectorCache::open(role, folder.path(), &encoder, &Silent);
                assert_eq!(cache.encode(&encoder, &["a"]).unwrap().values, expected);
                cache.save();
            }
        }
        assert_eq!(encoder.calls(), 2);
    }

    #[test]
    fn a_full_cache_is_emptied() {
        let encoder = Lengths(AtomicUsize::new(0), "one");
        let mut cache = TextVectorCache::in_memory(TextRole::Request);
        let texts: Vec<String> = (0..=MOST_TEXTS).map(|number| number.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for chunk in texts.chunks(MOST_TEXTS) {
            let found = cache.encode(&encoder, chunk).unwrap();
            assert_eq!(found.row(0)[0], chunk[0].len() as f32);
        }
        assert_eq!(cache.vectors.len(), 1);
        cache.encode(&encoder, &texts).unwrap();
        assert_eq!(cache.vectors.len(), MOST_TEXTS);
    }

    #[test]
    fn documents_are_encoded_once() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), "one");
        let texts = ["a", "", "bc"];
        let first = encode(folder.path(), &encoder, &texts);
        assert_eq!(first.empty, [Doc(1)]);
        assert_eq!(first.vectors.values, [1.0, 0.1, 0.0, 0.1, 2.0, 0.1]);
        assert_eq!(encode(folder.path(), &encoder, &texts), first);
        assert_eq!(encoder.calls(), 3);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(encode(&file, &encoder, &texts), first, "a cache that cannot be written");
    }

    #[test]
    fn vectors_of_another_encoder_or_of_other_texts_are_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), "one");
        let first = encode(folder.path(), &encoder, &["a", "bc"]);
        assert_ne!(encode(folder.path(), &encoder, &["ab", "c"]), first);
        let other = Lengths(AtomicUsize::new(0), "two");
        encode(folder.path(), &other, &["a", "bc"]);
        assert_eq!(other.calls(), 2);
    }

    #[test]
    fn damaged_vectors_are_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), "one");
        let first = encode(folder.path(), &encoder, &["a", "bc"]);
        let entry = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let whole = fs::read(entry.join(FILE)).unwrap();
        // Only the checksum detects the second kind of damage.
        let other_number = [&whole[..whole.len() - 4], &[0; 4]].concat();
        for damaged in [b"damaged".to_vec(), other_number] {
            fs::write(entry.join(FILE), damaged).unwrap();
            assert_eq!(encode(folder.path(), &encoder, &["a", "bc"]), first);
        }
    }
}
