//! Vectors of texts in the cache, kept under what made them.

use crate::cache::Kept;
use clariq_core::{
    Block, Documents, Embeddings, Encoder, Observer, Progress, Result, Rows, Vectors, bail,
    open_regular, problem, read_regular, sha256, sha256_hex,
};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, Metadata, TensorView};
use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};

const TENSOR: &str = "embeddings";
/// What the header of a block has beside its vectors: the documents without a text.
const EMPTY: &str = "empty";
const FILE: &str = "vectors.safetensors";
/// Bytes that a vector may have: ten times those of the largest models.
const MOST_OF_A_VECTOR: u64 = 1 << 18;
/// Bytes that the header of a block may have: twice those where every document is empty.
const MOST_OF_A_HEADER: u64 = 1 << 20;
/// Bytes of vectors that are kept in memory where they cannot be written.
pub(super) const MOST_UNWRITTEN: usize = 1 << 30;

/// The vectors of documents, from entries in `folder` that are named after what made them, or
/// computed and written there. A damaged entry is made again. Texts are read where they are encoded,
/// a block at a time; an interrupted command goes on with the next block. The vectors of more than
/// one block stay in the files, or in memory where these cannot be written.
///
/// # Errors
///
/// More than `most` bytes of vectors that cannot be written.
pub(super) fn cached(
    folder: &Path,
    most: usize,
    encoder: &dyn Encoder,
    documents: &dyn Documents,
    observer: &dyn Observer,
    progress: Progress,
) -> Result<Vectors> {
    let mut unwritten = 0;
    Vectors::of(documents.len(), |block| {
        let (count, first) = (block.len(), block.start.to_string());
        let made_of = [encoder.checksum(), "\0", documents.checksum().as_str(), "\0", &first];
        let kept = kept(folder.join(sha256(made_of.map(str::as_bytes)).short()));
        let encode = || encoder.encode_block(documents, block, progress);
        let read_again = |path: &Path| {
            let found = read(path, count)?;
            progress(count as u64);
            Some(found)
        };
        let found = kept.read_or_make(observer, read_again, encode, written)?;
        if documents.len() <= Vectors::BLOCK {
            return found.load(count);
        }
        if let Rows::Memory(values) = &found.rows {
            if let Ok(Some(on_disk)) = kept.read(|path| read(path, count)) {
                return Ok(on_disk);
            }
            unwritten += size_of_val(&**values);
            if unwritten > most {
                let expected = format!("room for the vectors of {} documents", documents.len());
                let found = format!("{} MiB of them that cannot be written", unwritten >> 20);
                let hint = "free space, or set CLARIQ_CACHE to a folder that has more; the command \
                            then goes on with what was written";
                bail!(folder, expected, found, hint);
            }
        }
        Ok(found)
    })
}

fn kept(entry: PathBuf) -> Kept<'static> {
    Kept { entry, file: FILE, what: "vectors" }
}

/// A block of so many vectors, which stay in the file.
fn read(path: &Path, rows: usize) -> Option<Block> {
    let (mut file, mut length, mut header) = (open_regular(path).ok()?, [0; 8], Vec::new());
    file.read_exact(&mut length).ok()?;
    let length = u64::from_le_bytes(length);
    file.take(length.min(MOST_OF_A_HEADER)).read_to_end(&mut header).ok()?;
    let header: Metadata = serde_json::from_slice(&header).ok()?;
    let tensor = header.info(TENSOR)?;
    let &[found, dim] = &*tensor.shape else { return None };
    (found == rows && tensor.dtype == Dtype::F32).then_some(())?;
    let empty = serde_json::from_str(header.metadata().as_ref()?.get(EMPTY)?).ok()?;
    let offset = 8 + length + tensor.data_offsets.0 as u64;
    Some(Block { dim, rows: Rows::File { path: path.to_owned(), offset }, empty })
}

/// The content of the file of a block in memory.
fn written(Block { dim, rows, empty }: &Block) -> Result<Vec<u8>> {
    let Rows::Memory(values) = rows else { bail!(FILE, "vectors in memory", "those of a file") };
    let empty = Some((EMPTY, format!("{empty:?}")));
    bytes_of([(TENSOR, vec![values.len() / dim, *dim], &**values)], empty)
}

fn values(tensor: &TensorView) -> Option<Vec<f32>> {
    let four = |four: &[u8]| f32::from_le_bytes([four[0], four[1], four[2], four[3]]);
    (tensor.dtype() == Dtype::F32).then(|| tensor.data().chunks_exact(4).map(four).collect())
}

/// The content of a file of tensors, each with its name and shape, with a text in its header.
fn bytes_of<'t>(
    tensors: impl IntoIterator<Item = (&'t str, Vec<usize>, &'t [f32])>,
    beside: Option<(&str, String)>,
) -> Result<Vec<u8>> {
    let bytes = |(name, shape, values): (&'t str, _, &[f32])| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        (name, shape, bytes)
    };
    let tensors: Vec<(&str, Vec<usize>, Vec<u8>)> = tensors.into_iter().map(bytes).collect();
    let views = tensors.iter().map(|(name, shape, bytes)| {
        TensorView::new(Dtype::F32, shape.clone(), bytes).map(|view| (*name, view))
    });
    let views: Result<Vec<_>, _> = views.collect();
    let beside = beside.map(|(name, text)| HashMap::from([(name.to_owned(), text)]));
    let file = views.and_then(|views| safetensors::serialize(views, &beside));
    Ok(file.map_err(|error| problem!(FILE, "vectors that can be written", "{error}"))?)
}

/// So many texts are kept: 50 MB of vectors of length 384.
const MOST_TEXTS: usize = 32_768;

/// Vectors of texts or conversations that a model was given each by itself, with those of earlier
/// commands.
pub(crate) struct Apart {
    entry: PathBuf,
    /// By the SHA-256 of the text, or of all that the vector depends on.
    vectors: BTreeMap<String, Box<[f32]>>,
    /// Whether some are not on the disk.
    is_new: bool,
}

impl Apart {
    /// Those of the model with this checksum that `folder` has.
    pub(super) fn read(folder: &Path, model: &str) -> Self {
        let entry = folder.join(format!("apart-{}", sha256_hex(model.as_bytes())));
        // What is damaged is written again.
        let vectors = kept(entry.clone()).read(read_apart).ok().flatten().unwrap_or_default();
        Self { entry, vectors, is_new: false }
    }

    /// The vectors with these keys; `make` computes those at the positions that are not known yet.
    pub(super) fn find(
        &mut self,
        keys: Vec<String>,
        make: impl FnOnce(&[usize]) -> Result<Embeddings>,
    ) -> Result<Embeddings> {
        let known: Vec<_> = keys.iter().map(|key| self.vectors.get(key).cloned()).collect();
        let missing: Vec<usize> = (0..keys.len()).filter(|&at| known[at].is_none()).collect();
        let new = if missing.is_empty() { Embeddings::default() } else { make(&missing)? };
        if self.vectors.len() + missing.len() > MOST_TEXTS {
            self.vectors.clear();
        }
        let (mut values, mut rows, count) = (Vec::new(), new.rows(), keys.len());
        for (key, known) in keys.into_iter().zip(known) {
            if let Some(vector) = &known {
                values.extend_from_slice(vector);
            } else if let Some(vector) = rows.next() {
                values.extend_from_slice(vector);
                if self.vectors.len() < MOST_TEXTS {
                    self.vectors.insert(key, vector.into());
                    self.is_new = true;
                }
            }
        }
        Ok(Embeddings { dim: values.len() / count.max(1), values })
    }

    /// Writes what is new. As with banks, what cannot be written is computed again.
    pub(super) fn keep(&mut self) {
        if std::mem::take(&mut self.is_new) {
            let tensors = self.vectors.iter().map(|(key, row)| (&**key, vec![row.len()], &**row));
            let _ =
                bytes_of(tensors, None).and_then(|bytes| kept(self.entry.clone()).write(&bytes));
        }
    }
}

fn read_apart(path: &Path) -> Option<BTreeMap<String, Box<[f32]>>> {
    let file = read_regular(path, MOST_OF_A_VECTOR * MOST_TEXTS as u64).ok()?;
    let tensors = SafeTensors::deserialize(&file).ok()?;
    let vector =
        |(key, tensor): (&str, TensorView)| Some((key.to_owned(), values(&tensor)?.into()));
    tensors.iter().map(vector).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::clariq::{Bank, BankRow};
    use clariq_core::{Doc, Silent};
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Lengths(AtomicUsize, &'static str);

    impl Encoder for Lengths {
        fn encode(&self, texts: &[&str], _progress: Progress) -> Result<Embeddings> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let values = texts.iter().flat_map(|text| [text.len() as f32, 0.1]).collect();
            Ok(Embeddings { dim: 2, values })
        }

        fn checksum(&self) -> &str {
            self.1
        }
    }

    fn bank(texts: impl Iterator<Item = String>) -> Bank {
        let row = |(number, text)| BankRow { id: format!("D{number:05}").as_str().into(), text };
        Bank::from_rows((0..).zip(texts).map(row).collect())
    }

    fn rows(vectors: &Vectors, documents: &dyn Documents) -> Vec<f32> {
        let all: Vec<Doc> = Doc::all(documents.len()).collect();
        vectors.rows(&all, &mut Vec::new()).unwrap().to_vec()
    }

    #[test]
    fn texts_by_themselves_are_kept_between_commands() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), "one");
        let calls = || encoder.0.load(Ordering::Relaxed);
        let get = |texts: &[&str]| {
            let mut apart = Apart::read(folder.path(), encoder.checksum());
            let keys = texts.iter().map(|text| sha256_hex(text.as_bytes())).collect();
            let make = |missing: &[usize]| {
                let missing: Vec<&str> = missing.iter().map(|&at| texts[at]).collect();
                encoder.encode_apart(&missing, &|_| {})
            };
            let found = apart.find(keys, make).unwrap();
            apart.keep();
            found.values
        };
        assert_eq!(get(&["a", "bcd", "a"]), [1.0, 0.1, 3.0, 0.1, 1.0, 0.1]);
        let first = calls();
        assert_eq!(get(&["bcd", "a"]), [3.0, 0.1, 1.0, 0.1]);
        assert_eq!(calls(), first);
        assert_eq!(get(&["bcd", "ef", "a"]), [3.0, 0.1, 2.0, 0.1, 1.0, 0.1]);
        assert_eq!(calls(), first + 1, "one text is new");
        let entry = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(entry.join(FILE), "damaged").unwrap();
        assert_eq!(get(&["ef"]), [2.0, 0.1]);
        assert_eq!(get(&[]), [] as [f32; 0]);
    }

    #[test]
    fn blocks_are_kept_when_they_are_computed() {
        struct Fails<'e>(&'e Lengths, usize);
        impl Encoder for Fails<'_> {
            fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
                if self.0.0.load(Ordering::Relaxed) == self.1 {
                    return Err(problem!("encoder", "power", "none").into());
                }
                self.0.encode(texts, progress)
            }

            fn checksum(&self) -> &str {
                self.0.checksum()
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let numbers = 0..=Vectors::BLOCK;
        let bank = bank(numbers.clone().map(|number| "x".repeat(number % 7)));
        let encoder = Lengths(AtomicUsize::new(0), "one");
        let most = &std::cell::Cell::new(0);
        let get = |encoder: &dyn Encoder, folder: &Path| {
            cached(folder, most.get(), encoder, &bank, &Silent, &|_| {})
        };
        assert!(get(&Fails(&encoder, 1), folder.path()).is_err(), "it fails in the second block");
        let expected: Vec<f32> = numbers.flat_map(|number| [(number % 7) as f32, 0.1]).collect();
        for calls in [2, 2] {
            let found = get(&encoder, folder.path()).unwrap();
            assert_eq!(encoder.0.load(Ordering::Relaxed), calls, "the first block was kept");
            assert_eq!(rows(&found, &bank), expected);
            let empty = Doc::all(bank.len()).filter(|doc| doc.index() % 7 == 0);
            assert_eq!(found.empty(), empty.collect::<Vec<_>>());
        }
        // A folder that cannot be made: what is not written must fit into memory.
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = get(&encoder, &file).unwrap_err().to_string();
        assert!(error.contains("vectors of 65537 documents, found 0 MiB"), "{error}");
        most.set(1 << 20);
        assert_eq!(rows(&get(&encoder, &file).unwrap(), &bank), expected);
    }

    #[test]
    fn only_what_made_the_vectors_makes_them_reusable() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), "one");
        let get = |encoder: &Lengths, texts: &[&str]| {
            let bank = bank(texts.iter().map(|text| (*text).to_owned()));
            let found = cached(folder.path(), 0, encoder, &bank, &Silent, &|_| {}).unwrap();
            rows(&found, &bank)
        };
        let first = get(&encoder, &["a", "bc"]);
        assert_eq!(get(&encoder, &["a", "bc"]), first);
        assert_eq!(encoder.0.load(Ordering::Relaxed), 1);
        assert_ne!(get(&encoder, &["ab", "c"]), first);
        let other = Lengths(AtomicUsize::new(0), "two");
        get(&other, &["a", "bc"]);
        assert_eq!(other.0.load(Ordering::Relaxed), 1);
        let zeros = vec![0; 1000];
        for damage in [&b"damaged"[..], &zeros] {
            for entry in fs::read_dir(folder.path()).unwrap() {
                let file = entry.unwrap().path().join(FILE);
                let whole = fs::read(&file).unwrap();
                // The header stays as it was: only a checksum can tell.
                let kept = if damage.len() < 100 {
                    &[][..]
                } else {
                    &whole[..whole.len().saturating_sub(16)]
                };
                let rest = &damage[..damage.len().min(16)];
                fs::write(&file, [kept, rest].concat()).unwrap();
            }
            assert_eq!(get(&encoder, &["a", "bc"]), first);
        }
    }
}
