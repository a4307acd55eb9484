//! Vectors of texts in the cache, kept under what made them.

use crate::cache::Kept;
use clariq_core::{
    Embeddings, Encoder, Error, Observer, Progress, problem, read_regular, sha256, sha256_hex,
};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const TENSOR: &str = "embeddings";
const FILE: &str = "vectors.safetensors";
/// Bytes that a vector may have: ten times those of the largest models.
const MOST_OF_A_VECTOR: u64 = 1 << 18;

/// Of more texts, the vectors are kept in blocks, each when it is computed, so that an interrupted
/// command goes on with the next one.
const BLOCK: usize = 65_536;

/// The vectors of some texts, from entries in `folder` that are named after what made them, or
/// computed and written there. A damaged entry is made again.
pub(super) fn cached(
    folder: &Path,
    encoder: &dyn Encoder,
    texts: &[&str],
    observer: &dyn Observer,
    progress: Progress,
) -> Result<Embeddings, Error> {
    let mut blocks =
        texts.chunks(BLOCK).map(|b| cached_block(folder, encoder, b, observer, progress));
    let mut all = blocks.next().transpose()?.unwrap_or_default();
    all.values.reserve_exact((texts.len() * all.dim).saturating_sub(all.values.len()));
    for block in blocks {
        all.values.extend(block?.values);
    }
    Ok(all)
}

fn cached_block(
    folder: &Path,
    encoder: &dyn Encoder,
    texts: &[&str],
    observer: &dyn Observer,
    progress: Progress,
) -> Result<Embeddings, Error> {
    let separated = texts.iter().flat_map(|text| [text.as_bytes(), b"\0"]);
    let made_of = sha256(std::iter::once(encoder.checksum().as_bytes()).chain(separated));
    let kept = kept(folder.join(made_of.short()));
    let read = |path: &Path| {
        let found = read(path, texts.len())?;
        progress(texts.len() as u64);
        Some(found)
    };
    kept.read_or_make(
        observer,
        read,
        || encoder.encode_documents(texts, progress),
        |made| bytes_of([(TENSOR, vec![made.len(), made.dim], &*made.values)]),
    )
}

fn kept(entry: PathBuf) -> Kept<'static> {
    Kept { entry, file: FILE, what: "vectors" }
}

fn read(path: &Path, rows: usize) -> Option<Embeddings> {
    let file = read_regular(path, MOST_OF_A_VECTOR * (rows as u64 + 1)).ok()?;
    let tensors = SafeTensors::deserialize(&file).ok()?;
    let tensor = tensors.tensor(TENSOR).ok()?;
    let &[found, dim] = tensor.shape() else { return None };
    (found == rows).then_some(())?;
    Some(Embeddings { dim, values: values(&tensor)? })
}

fn values(tensor: &TensorView) -> Option<Vec<f32>> {
    let four = |four: &[u8]| f32::from_le_bytes([four[0], four[1], four[2], four[3]]);
    (tensor.dtype() == Dtype::F32).then(|| tensor.data().chunks_exact(4).map(four).collect())
}

/// The content of a file of tensors, each with its name and shape.
fn bytes_of<'t>(
    tensors: impl IntoIterator<Item = (&'t str, Vec<usize>, &'t [f32])>,
) -> Result<Vec<u8>, Error> {
    let bytes = |(name, shape, values): (&'t str, _, &[f32])| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        (name, shape, bytes)
    };
    let tensors: Vec<(&str, Vec<usize>, Vec<u8>)> = tensors.into_iter().map(bytes).collect();
    let views = tensors.iter().map(|(name, shape, bytes)| {
        TensorView::new(Dtype::F32, shape.clone(), bytes).map(|view| (*name, view))
    });
    let views: Result<Vec<_>, _> = views.collect();
    let file = views.and_then(|views| safetensors::serialize(views, &None));
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
        make: impl FnOnce(&[usize]) -> Result<Embeddings, Error>,
    ) -> Result<Embeddings, Error> {
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
            let _ = bytes_of(tensors).and_then(|bytes| kept(self.entry.clone()).write(&bytes));
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
    use clariq_core::Silent;
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Lengths(AtomicUsize, &'static str);

    impl Encoder for Lengths {
        fn encode(&self, texts: &[&str], _progress: Progress) -> Result<Embeddings, Error> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let values = texts.iter().flat_map(|text| [text.len() as f32, 0.1]).collect();
            Ok(Embeddings { dim: 2, values })
        }

        fn checksum(&self) -> &str {
            self.1
        }
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
            fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings, Error> {
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
        let texts: Vec<String> = (0..=BLOCK).map(|number| "x".repeat(number % 7)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let encoder = Lengths(AtomicUsize::new(0), "one");
        let get = |encoder: &dyn Encoder| cached(folder.path(), encoder, &texts, &Silent, &|_| {});
        assert!(get(&Fails(&encoder, 1)).is_err(), "it fails in the second block");
        let all = get(&encoder).unwrap();
        assert_eq!(encoder.0.load(Ordering::Relaxed), 2, "the first block was kept");
        assert_eq!(all, encoder.encode(&texts, &|_| {}).unwrap());
    }

    #[test]
    fn only_what_made_the_vectors_makes_them_reusable() {
        let folder = tempfile::tempdir().unwrap();
        let encoder = Lengths(AtomicUsize::new(0), "one");
        let get = |encoder: &Lengths, texts: &[&str]| {
            cached(folder.path(), encoder, texts, &Silent, &|_| {}).unwrap()
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
