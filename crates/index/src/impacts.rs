//! An index of weights that a model gives to the words of documents, and exact search in it.
//!
//! The score of a document is the dot product of its weights with those of the request, as 32-bit
//! floats, added up by ascending number of the word. Lists of documents are visited word by word, and
//! the sums of a *window* of 65,536 documents fit into a processor's cache.
//!
//! A file has a part for each window: the start of each word's list, the documents of all lists as
//! places in the window, and their weights. Numbers are little-endian. A line of JSON at the end lists
//! the windows, and the last eight bytes are its length.

use clariq_core::{
    Best, Doc, Error, Hit, IoAction, Ranking, Result, SharedBytes, SparseVectors, problem,
};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use tantivy::directory::{Directory as _, MmapDirectory};

/// Documents of a window: as many as 16 bits distinguish.
pub const WINDOW: usize = 1 << 16;

/// Documents that are compared with the worst hit at once.
const CHUNK: usize = 16;

/// The sum of a document without a word of the request. Other sums are never −0, unless a product is
/// too small for a 32-bit float.
const NONE: f32 = -0.0;

/// Version of the format; the key of a kept index contains it.
pub const IMPACTS_FORMAT: u32 = 1;

thread_local! {
    /// The sums of a window, all [`NONE`] between searches.
    static SUMS: RefCell<Box<[f32; WINDOW]>> = RefCell::new(Box::new([NONE; WINDOW]));
}

/// The part of a file with the documents of a window.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct WindowPart {
    /// The place of its first byte in the file.
    offset: usize,
    /// Words that have a list, which may be empty.
    words: usize,
    /// Documents of all lists.
    postings: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    documents: usize,
    windows: Vec<WindowPart>,
}

impl WindowPart {
    fn starts(&self) -> Range<usize> {
        self.offset..self.offset + 4 * (self.words + 1)
    }

    fn docs(&self) -> Range<usize> {
        let start = self.starts().end;
        start..start + 2 * self.postings
    }

    fn weights(&self) -> Range<usize> {
        let start = self.docs().end;
        start..start + 4 * self.postings
    }
}

/// Writes an index window by window.
pub struct ImpactWriter<'w> {
    out: &'w mut dyn Write,
    offset: usize,
    contents: Contents,
}

impl<'w> ImpactWriter<'w> {
    /// Begins an index.
    pub fn new(out: &'w mut dyn Write) -> Self {
        let contents = Contents { documents: 0, windows: Vec::new() };
        Self { out, offset: 0, contents }
    }

    /// Adds the next documents: a whole [`WINDOW`] of them, or the last ones.
    ///
    /// # Panics
    ///
    /// If there are more.
    pub fn add(&mut self, vectors: &SparseVectors) -> io::Result<()> {
        assert!(vectors.len() <= WINDOW, "documents of a window");
        let entries = || vectors.rows().flatten();
        let words = entries().map(|(word, _)| *word as usize + 1).max().unwrap_or(0);
        let mut starts = vec![0_u32; words + 1];
        for (word, _) in entries() {
            starts[*word as usize + 1] += 1;
        }
        for word in 0..words {
            starts[word + 1] += starts[word];
        }
        let postings = starts[words] as usize;
        let mut next = starts.clone();
        let mut docs = vec![[0; 2]; postings];
        let mut weights = vec![[0; 4]; postings];
        for (place, row) in (0_u16..=u16::MAX).zip(vectors.rows()) {
            for (word, weight) in row {
                let at = &mut next[*word as usize];
                docs[*at as usize] = place.to_le_bytes();
                weights[*at as usize] = weight.to_le_bytes();
                *at += 1;
            }
        }
        let part = WindowPart { offset: self.offset, words, postings };
        let starts: Vec<[u8; 4]> = starts.into_iter().map(u32::to_le_bytes).collect();
        self.out.write_all(starts.as_flattened())?;
        self.out.write_all(docs.as_flattened())?;
        self.out.write_all(weights.as_flattened())?;
        self.offset = part.weights().end;
        self.contents.windows.push(part);
        self.contents.documents += vectors.len();
        Ok(())
    }

    /// Ends the index.
    pub fn finish(self) -> io::Result<()> {
        let contents = serde_json::to_vec(&self.contents)?;
        self.out.write_all(&contents)?;
        self.out.write_all(&(contents.len() as u64).to_le_bytes())
    }
}

/// An index that an [`ImpactWriter`] has written.
pub struct ImpactIndex {
    bytes: SharedBytes,
    contents: Contents,
}

/// A list of a window: places and weights.
type ImpactList<'i> = (&'i [[u8; 2]], &'i [[u8; 4]]);

impl ImpactIndex {
    /// Opens an index.
    pub fn open(bytes: SharedBytes) -> Result<Self> {
        let Some(contents) = Contents::read((*bytes).as_ref()) else {
            let found = format!("{} bytes of another format", (*bytes).as_ref().len());
            let hint = "remove the entry from the cache, and it is computed again";
            return Err(problem!("weights of words", "an index", found, hint).into());
        };
        Ok(Self { bytes, contents })
    }

    /// The number of documents.
    pub fn documents(&self) -> usize {
        self.contents.documents
    }

    /// The number of weights of all documents.
    pub fn postings(&self) -> usize {
        self.contents.windows.iter().map(|part| part.postings).sum()
    }

    /// Ranks the documents that have a word of the request by the dot product of their weights with
    /// `request`, the words of a request by ascending number. `among` are the documents that may be
    /// ranked, in ascending order; all if absent.
    pub fn rank(&self, request: &[(u32, f32)], among: Option<&[Doc]>, limit: usize) -> Ranking {
        let mut best = Best::new(limit.min(self.documents()));
        SUMS.with_borrow_mut(|sums| {
            // Of equal scores, the highest number is best.
            for (number, part) in self.contents.windows.iter().enumerate().rev() {
                for &(word, weight) in request {
                    let (docs, weights) = self.list(part, word);
                    for (doc, impact) in docs.iter().zip(weights) {
                        let sum = &mut sums[u16::from_le_bytes(*doc) as usize];
                        *sum += weight * f32::from_le_bytes(*impact);
                    }
                }
                let first = number * WINDOW;
                let count = (self.documents() - first).min(WINDOW);
                collect(&mut sums[..count], first, among, &mut best);
            }
        });
        best.ranking()
    }

    /// The weights of some words in a document; 0 for words that it has not.
    pub fn weights(&self, doc: Doc, words: impl IntoIterator<Item = u32>) -> Vec<f32> {
        let part = self.contents.windows.get(doc.index() / WINDOW);
        let place = (doc.index() % WINDOW) as u16;
        let weight = |word| {
            let (docs, weights) = self.list(part?, word);
            let at = docs.binary_search_by_key(&place, |doc| u16::from_le_bytes(*doc)).ok()?;
            Some(f32::from_le_bytes(weights[at]))
        };
        words.into_iter().map(|word| weight(word).unwrap_or(0.0)).collect()
    }

    /// The list of a word in a window.
    fn list(&self, part: &WindowPart, word: u32) -> ImpactList<'_> {
        let bytes = (*self.bytes).as_ref();
        let word = word as usize;
        if word >= part.words {
            return (&[], &[]);
        }
        let (starts, _) = bytes[part.starts()].as_chunks::<4>();
        let [start, end] = [word, word + 1].map(|at| u32::from_le_bytes(starts[at]) as usize);
        let (docs, _) = bytes[part.docs()].as_chunks::<2>();
        let (weights, _) = bytes[part.weights()].as_chunks::<4>();
        (docs.get(start..end).unwrap_or_default(), weights.get(start..end).unwrap_or_default())
    }
}

/// Takes the documents of a window that have a sum, and resets their sums. `first` is the number of
/// the first document.
fn collect(sums: &mut [f32], first: usize, among: Option<&[Doc]>, best: &mut Best) {
    for (number, chunk) in sums.chunks_mut(CHUNK).enumerate() {
        let least = best.last().map_or(f32::NEG_INFINITY, |hit| hit.score as f32);
        // Counted without a branch, so that the processor compares several at once.
        if chunk.iter().filter(|sum| **sum >= least).count() > 0 {
            let first = first + number * CHUNK;
            let places = (first as u32..).zip(&*chunk);
            let hits = places
                .filter(|(_, sum)| sum.to_bits() != NONE.to_bits())
                .map(|(doc, sum)| Hit { doc: Doc(doc), score: f64::from(*sum) })
                .filter(|hit| among.is_none_or(|among| among.binary_search(&hit.doc).is_ok()));
            best.extend(hits);
        }
        chunk.fill(NONE);
    }
}

impl Contents {
    /// The list of windows at the end of a file, if it fits the file.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (rest, length) = bytes.split_last_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (_, json) = rest.split_at_checked(rest.len().checked_sub(length)?)?;
        let contents: Self = serde_json::from_slice(json).ok()?;
        let windows = &contents.windows;
        let fits = windows.iter().all(|part| part.weights().end <= rest.len() - length)
            && windows.len() == contents.documents.div_ceil(WINDOW);
        fits.then_some(contents)
    }
}

/// Maps a file into memory. It must not change while it is used.
pub fn map_file(path: &Path) -> Result<SharedBytes> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = Path::new(path.file_name().unwrap_or_default());
    let mapped = MmapDirectory::open(folder).map_err(io::Error::other).and_then(|folder| {
        folder.get_file_handle(name).map_err(io::Error::other)?.read_bytes(0..file_length(path)?)
    });
    Ok(Arc::new(mapped.map_err(Error::io(IoAction::Read, path))?))
}

fn file_length(path: &Path) -> io::Result<usize> {
    usize::try_from(std::fs::metadata(path)?.len()).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::best_first;
    use proptest::prelude::*;

    fn index(documents: &SparseVectors) -> ImpactIndex {
        let mut bytes = Vec::new();
        let mut writer = ImpactWriter::new(&mut bytes);
        let rows: Vec<&[(u32, f32)]> = documents.rows().collect();
        for window in rows.chunks(WINDOW) {
            let vectors = window.iter().map(|row| row.iter().copied());
            writer.add(&vectors.collect()).unwrap();
        }
        writer.finish().unwrap();
        ImpactIndex::open(Arc::new(bytes)).unwrap()
    }

    /// The documents that share a word with the request, by the definition.
    fn naive(documents: &SparseVectors, request: &[(u32, f32)], among: Option<&[Doc]>) -> Ranking {
        let mut hits = Ranking::new();
        for (doc, row) in (0..).map(Doc).zip(documents.rows()) {
            let mut sum = 0.0_f32;
            let mut shares = false;
            for (word, weight) in request {
                for (_, impact) in row.iter().filter(|(other, _)| other == word) {
                    sum += weight * impact;
                    shares = true;
                }
            }
            if shares && among.is_none_or(|among| among.contains(&doc)) {
                hits.push(Hit { doc, score: f64::from(sum) });
            }
        }
        hits.sort_by(best_first);
        hits
    }

    /// Words with weights, some of them equal; `signed` ones may be negative.
    fn vector(words: u32, signed: bool) -> impl Strategy<Value = Vec<(u32, f32)>> {
        let least = if signed { -2.0 } else { 0.01 };
        let weight = prop_oneof![1 => Just(0.5_f32), 1 => Just(1.0), 3 => least..4.0_f32];
        let weight = weight.prop_filter("not 0", |weight| *weight != 0.0);
        let entries = prop::collection::btree_map(0..words, weight, 0..8);
        entries.prop_map(|entries| entries.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        #[test]
        fn hits_are_the_largest_dot_products(
            (documents, requests) in any::<bool>().prop_flat_map(|signed| (
                prop::collection::vec(vector(12, signed), 1..120),
                prop::collection::vec(vector(14, signed), 1..5),
            )),
            limit in 0..50_usize,
            every in 1..4_usize,
        ) {
            let documents: SparseVectors = documents.into_iter().collect();
            let index = index(&documents);
            let among: Vec<Doc> = Doc::all(documents.len()).step_by(every).collect();
            let among = (every > 1).then_some(&*among);
            for request in &requests {
                let mut expected = naive(&documents, request, among);
                expected.truncate(limit);
                prop_assert_eq!(index.rank(request, among, limit), expected);
                for (doc, row) in Doc::all(documents.len()).zip(documents.rows()) {
                    let words = row.iter().map(|(word, _)| *word);
                    let weights: Vec<f32> = row.iter().map(|(_, weight)| *weight).collect();
                    prop_assert_eq!(index.weights(doc, words), weights);
                    prop_assert_eq!(index.weights(doc, [12, 99]), [0.0, 0.0]);
                }
            }
        }
    }

    #[test]
    fn several_windows_are_one_ranking() {
        let weight = |doc: usize| (doc % 1000) as f32 + 1.0;
        let documents: SparseVectors =
            (0..2 * WINDOW + 77).map(|doc| [((doc % 3) as u32, weight(doc))]).collect();
        let index = index(&documents);
        let request = [(0, 1.0), (2, 0.5), (7, 1.0)];
        let mut expected = naive(&documents, &request, None);
        for limit in [1, 30, 5000] {
            expected.truncate(expected.len().min(5000));
            assert_eq!(index.rank(&request, None, limit), expected[..limit.min(expected.len())]);
        }
        assert_eq!(index.documents(), 2 * WINDOW + 77);
        assert_eq!(index.postings(), 2 * WINDOW + 77);
        assert_eq!(index.weights(Doc(WINDOW as u32 + 2), [0, 1, 2]), [539.0, 0.0, 0.0]);
    }

    #[test]
    fn a_mapped_file_is_the_same_index_and_a_damaged_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("impacts.bin");
        let mut bytes = Vec::new();
        let mut writer = ImpactWriter::new(&mut bytes);
        writer
            .add(&[vec![(3, 2.0)], vec![], vec![(3, 1.0), (5, 1.0)]].into_iter().collect())
            .unwrap();
        writer.finish().unwrap();
        std::fs::write(&path, &bytes).unwrap();
        let index = ImpactIndex::open(map_file(&path).unwrap()).unwrap();
        let found = index.rank(&[(3, 1.0), (5, 3.0)], None, 9);
        let hit = |doc, score| Hit { doc: Doc(doc), score };
        assert_eq!(found, [hit(2, 4.0), hit(0, 2.0)]);
        for damaged in [&bytes[..bytes.len() - 1], &bytes[20..], &[]] {
            assert!(ImpactIndex::open(Arc::new(damaged.to_vec())).is_err());
        }
        assert!(map_file(&folder.path().join("absent")).is_err());
    }
}
