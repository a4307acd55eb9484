//! Vectors of a bank in the cache, kept under what made them.

use crate::cache::{self, State};
use clariq_core::{Embeddings, Encoder, Error, Observer, Progress, problem, read_regular, sha256};
use clariq_files::write_atomically;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use std::fs;
use std::path::Path;

const TENSOR: &str = "embeddings";
const FILE: &str = "vectors.safetensors";
/// Bytes that a vector may have: ten times those of the largest models.
const MOST_OF_A_VECTOR: u64 = 1 << 18;

/// The vectors of some texts, from an entry in `folder` that is named after what made them, or
/// computed and written there. A damaged entry is made again.
pub(super) fn cached(
    folder: &Path,
    encoder: &dyn Encoder,
    texts: &[&str],
    observer: &dyn Observer,
    progress: Progress,
) -> Result<Embeddings, Error> {
    let separated = texts.iter().flat_map(|text| [text.as_bytes(), b"\0"]);
    let made_of = sha256(std::iter::once(encoder.checksum().as_bytes()).chain(separated));
    let entry = folder.join(made_of.short());
    match cache::check(&entry) {
        State::Sound => {
            if let Some(found) = read(&entry.join(FILE), texts.len()) {
                progress(texts.len() as u64);
                return Ok(found);
            }
        }
        State::Damaged { found } => observer.note(&format!(
            "note: the vectors in {} are damaged and are computed again: {found}",
            entry.display()
        )),
        State::Absent => {}
    }
    let embeddings = encoder.encode_documents(texts, progress)?;
    // The cache is a convenience: a full disk must not stop a run that needs no file.
    let _ = write(&entry, &embeddings);
    Ok(embeddings)
}

fn read(path: &Path, rows: usize) -> Option<Embeddings> {
    let file = read_regular(path, MOST_OF_A_VECTOR * (rows as u64 + 1)).ok()?;
    let tensors = SafeTensors::deserialize(&file).ok()?;
    let tensor = tensors.tensor(TENSOR).ok()?;
    let &[found, dim] = tensor.shape() else { return None };
    if found != rows || tensor.dtype() != Dtype::F32 {
        return None;
    }
    let values = tensor
        .data()
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
    Some(Embeddings { dim, values: values.collect() })
}

fn write(entry: &Path, embeddings: &Embeddings) -> Result<(), Error> {
    let bytes: Vec<u8> = embeddings.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let view = TensorView::new(Dtype::F32, vec![embeddings.len(), embeddings.dim], &bytes);
    let file = view.and_then(|view| safetensors::serialize([(TENSOR, view)], &None));
    let file = file.map_err(|error| problem!(entry, "vectors that can be written", "{error}"))?;
    let made = cache::beside(entry, "made");
    let put = || {
        fs::create_dir_all(&made).map_err(Error::io("create", &made))?;
        write_atomically(&made.join(FILE), |out| out.write_all(&file))?;
        cache::store(&made, entry)
    };
    put().inspect_err(|_| {
        let _ = fs::remove_dir_all(&made);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Silent;
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
