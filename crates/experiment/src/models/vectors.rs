//! Vectors of texts in the cache: those of the documents of a collection in one file, those of
//! requests, and of documents of single requests, in one file each per encoder.

use super::kept_vectors::KeptVectors;
use super::text_cache::TextCache;
use crate::cache::CacheEntry;
use base64::DecodeError;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use clariq_core::{
    Checksum, Doc, DocumentVectors, Documents, Embeddings, Encoder, Observer, Progress, Result,
    open_regular,
};
use safetensors::tensor::{Dtype, Metadata, TensorInfo, TensorView};
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use zerocopy::IntoBytes as _;

const FILE: &str = "vectors.safetensors";

/// The maximum number of texts in a cache: 50 MB of vectors of length 384.
const MOST_TEXTS: usize = 32_768;

/// The vectors of documents: read from the entry in `folder` that is named after the encoder and
/// the documents, or computed and written there.
pub(super) fn document_vectors(
    folder: &Path,
    encoder: &dyn Encoder,
    documents: &dyn Documents,
    observer: &dyn Observer,
    progress: Progress,
) -> Result<DocumentVectors> {
    let key = [encoder.checksum().as_str(), "\0", documents.checksum().as_str()];
    let entry = folder.join(Checksum::of_pieces(key.map(str::as_bytes)).short());
    let entry = CacheEntry { entry, file: FILE, what: "vectors" };
    let read = |path: &Path| {
        let found = read_vectors(path).ok()?;
        progress(found.vectors.len() as u64);
        (found.vectors.len() == documents.len()).then_some(found)
    };
    let encode = || DocumentVectors::encode(encoder, documents, progress);
    entry.read_or_make(observer, read, encode, write_vectors)
}

/// Writes the tensors `vectors`, a row for each document, and `empty`, the rows of documents without a
/// text. Numbers are little-endian, as in memory on all platforms of the program.
fn write_vectors(encoded: &DocumentVectors, path: &Path) -> io::Result<()> {
    let Embeddings { dim, values } = &encoded.vectors;
    let empty: Vec<u32> = encoded.empty.iter().map(|doc| doc.0).collect();
    let shape = vec![encoded.vectors.len(), *dim];
    let vectors = TensorView::new(Dtype::F32, shape, values.as_bytes());
    let empty = TensorView::new(Dtype::U32, vec![empty.len()], empty.as_bytes());
    let tensors = [
        ("vectors", vectors.map_err(io::Error::other)?),
        ("empty", empty.map_err(io::Error::other)?),
    ];
    safetensors::serialize_to_file(tensors, &None, path).map_err(io::Error::other)
}

fn read_vectors(path: &Path) -> io::Result<DocumentVectors> {
    let mut file = open_regular(path)?;
    let mut length = [0; 8];
    file.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut header = Vec::new();
    (&file).take(length).read_to_end(&mut header)?;
    let metadata: Metadata = serde_json::from_slice(&header)?;
    let tensor = |name, dtype| {
        let info = metadata.info(name).filter(|info| info.dtype == dtype);
        info.ok_or_else(|| io::Error::from(ErrorKind::InvalidData))
    };
    let mut read = |info: &TensorInfo, bytes: &mut [u8]| {
        file.seek(SeekFrom::Start(8 + length + info.data_offsets.0 as u64))?;
        file.read_exact(bytes)
    };
    let info = tensor("vectors", Dtype::F32)?;
    let [rows, dim] = info.shape[..] else { return Err(ErrorKind::InvalidData.into()) };
    let mut values = vec![0.0; rows * dim];
    read(info, values.as_mut_bytes())?;
    let info = tensor("empty", Dtype::U32)?;
    let mut empty = vec![0; info.shape.iter().product()];
    read(info, empty.as_mut_bytes())?;
    let empty = empty.into_iter().map(Doc).collect();
    Ok(DocumentVectors { vectors: Embeddings { dim, values }, empty })
}

/// The role of the texts of a cache: some models read requests and documents with different prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TextRole {
    Request,
    Document,
}

/// A vector in a cache of texts: its numbers in base64, little-endian.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct TextVector(Vec<f32>);

impl From<TextVector> for String {
    fn from(vector: TextVector) -> Self {
        BASE64_STANDARD.encode(vector.0.as_bytes())
    }
}

impl TryFrom<String> for TextVector {
    type Error = DecodeError;

    fn try_from(text: String) -> Result<Self, DecodeError> {
        let bytes = BASE64_STANDARD.decode(text)?;
        let (numbers, _) = bytes.as_chunks();
        Ok(Self(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect()))
    }
}

/// The vectors of texts of one role by an encoder.
pub(crate) enum TextVectors {
    /// In a file: the texts of a split recur with every system.
    Cached(TextCache<TextVector>),
    /// In memory alone.
    Kept(KeptVectors),
}

/// The cache of the vectors of texts of one role by an encoder in `folder`.
pub(super) fn text_vectors(
    role: TextRole,
    folder: &Path,
    encoder: &dyn Encoder,
    observer: &dyn Observer,
) -> TextVectors {
    let name = match role {
        TextRole::Request => "texts",
        TextRole::Document => "sentences",
    };
    let name = format!("{name}-{}.jsonl", Checksum::of(encoder.checksum().as_str().as_bytes()));
    TextVectors::Cached(TextCache::open(&folder.join(name), "vectors", MOST_TEXTS, observer))
}

/// Encodes texts, one row per text, in order; those that are in the cache are taken from it.
pub(super) fn encode_texts(
    vectors: &mut TextVectors,
    role: TextRole,
    encoder: &dyn Encoder,
    texts: &[&str],
) -> Result<Embeddings> {
    let encode = |missing: &[&str]| match role {
        TextRole::Request => encoder.encode(missing, &|_| {}),
        TextRole::Document => encoder.encode_documents_alone(missing, &|_| {}),
    };
    let cache = match vectors {
        TextVectors::Kept(kept) => return kept.rows_of(texts, encode),
        TextVectors::Cached(cache) => cache,
    };
    let vectors = cache.values(texts, &|_| {}, |missing| {
        Ok(encode(missing)?.rows().map(|row| TextVector(row.to_vec())).collect())
    })?;
    let dim = vectors.first().map_or(0, |vector| vector.0.len());
    Ok(Embeddings { dim, values: vectors.into_iter().flat_map(|vector| vector.0).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::documents::{Bank, BankRow};
    use clariq_core::Silent;
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Encodes a text as its length, and counts the texts.
    struct Lengths(AtomicUsize, Checksum);

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

        fn checksum(&self) -> &Checksum {
            &self.1
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
    fn the_same_text_has_a_vector_as_a_request_and_one_as_a_document() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), Checksum::of(b"one"));
        for _ in 0..2 {
            for (role, expected) in
                [(TextRole::Request, [1.0, 0.1]), (TextRole::Document, [1.5, 0.6])]
            {
                let mut cache = text_vectors(role, folder.path(), &encoder, &Silent);
                let found = encode_texts(&mut cache, role, &encoder, &["a"]).unwrap();
                assert_eq!((found.dim, &found.values[..]), (2, &expected[..]));
            }
        }
        assert_eq!(encoder.calls(), 2);
    }

    #[test]
    fn documents_are_encoded_once() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), Checksum::of(b"one"));
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
        let encoder = Lengths(AtomicUsize::new(0), Checksum::of(b"one"));
        let first = encode(folder.path(), &encoder, &["a", "bc"]);
        assert_ne!(encode(folder.path(), &encoder, &["ab", "c"]), first);
        let other = Lengths(AtomicUsize::new(0), Checksum::of(b"two"));
        encode(folder.path(), &other, &["a", "bc"]);
        assert_eq!(other.calls(), 2);
    }

    #[test]
    fn damaged_vectors_are_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), Checksum::of(b"one"));
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
