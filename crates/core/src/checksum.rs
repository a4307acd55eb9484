//! Checksums, which bind a result to its input.

use crate::problem::{Error, IoAction, Result};
use crate::regular::open_regular;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{array, fmt};

/// A SHA-256 digest in lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Checksum(String);

impl Checksum {
    /// The checksum of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_pieces([bytes])
    }

    /// The checksum of pieces of bytes, one after the other.
    pub fn of_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self::finished(pieces.into_iter().fold(Sha256::new(), Digest::chain_update))
    }

    /// The checksum of a stream, which is read in blocks.
    pub fn of_stream(stream: impl Read) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        io::copy(&mut BufReader::with_capacity(1 << 16, stream), &mut hasher)?;
        Ok(Self::finished(hasher))
    }

    /// The checksum of a file, which is read in blocks.
    pub fn of_file(path: &Path) -> Result<Self> {
        open_regular(path).and_then(Self::of_stream).map_err(Error::io(IoAction::Read, path))
    }

    fn finished(hasher: Sha256) -> Self {
        Self(format!("{:x}", hasher.finalize()))
    }

    /// All 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first twelve digits: enough to tell files apart in a table or a folder name.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }

    /// True if these are its first digits.
    pub fn starts_with(&self, digits: &str) -> bool {
        self.0.starts_with(digits)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The SHA-256 of a stream of bytes, which can be read at any time.
#[derive(Debug, Clone, Default)]
pub struct Sha256Sum(Sha256);

impl Sha256Sum {
    /// Appends bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes so far.
    pub fn checksum(&self) -> Checksum {
        Checksum::finished(self.0.clone())
    }
}

/// A checksum of pieces that come in any order, from any number of threads: the SHA-256 of the sum of
/// their SHA-256.
#[derive(Debug, Default)]
pub struct UnorderedSum([AtomicU64; 4]);

impl UnorderedSum {
    /// Adds a piece; a piece may be added several times.
    pub fn add(&self, piece: &[&[u8]]) {
        for (sum, part) in self.0.iter().zip(parts(piece)) {
            // The sum wraps around.
            sum.fetch_add(part, Ordering::Relaxed);
        }
    }

    /// Removes a piece that was added.
    pub fn remove(&self, piece: &[&[u8]]) {
        for (sum, part) in self.0.iter().zip(parts(piece)) {
            sum.fetch_sub(part, Ordering::Relaxed);
        }
    }

    /// The checksum of the pieces so far.
    pub fn checksum(self) -> Checksum {
        let sums = self.0.map(|sum| sum.into_inner().to_le_bytes());
        Checksum::of_pieces(sums.iter().map(<[u8; 8]>::as_slice))
    }
}

/// The SHA-256 of a piece as four numbers.
fn parts(piece: &[&[u8]]) -> [u64; 4] {
    let hasher = piece.iter().fold(Sha256::new(), Digest::chain_update);
    let digest = hasher.finalize();
    array::from_fn(|part| u64::from_le_bytes(array::from_fn(|byte| digest[8 * part + byte])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_published_test_vector() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Checksum::of(b"abc").as_str(), expected);
        assert_eq!(Checksum::of_pieces([b"a".as_slice(), b"bc"]).as_str(), expected);
    }

    #[test]
    fn the_unordered_sum_is_that_of_the_pieces_left() {
        let of = |added: &[&str], removed: &[&str]| {
            let sum = UnorderedSum::default();
            for piece in added {
                sum.add(&[piece.as_bytes()]);
            }
            for piece in removed {
                sum.remove(&[piece.as_bytes()]);
            }
            sum.checksum()
        };
        assert_eq!(of(&["a", "bc", "d"], &[]), of(&["d", "a", "bc"], &[]));
        assert_eq!(of(&["a", "bc", "a"], &["a"]), of(&["bc", "a"], &[]));
        assert_ne!(of(&["a", "bc", "a"], &[]), of(&["bc", "a"], &[]));
        assert_ne!(of(&["a", "bc"], &[]), of(&["ab", "c"], &[]));
    }
}
