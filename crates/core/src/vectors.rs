//! The vectors of documents: in memory where they are few, and otherwise in files of which only
//! the rows that are compared are read.

use crate::document::Doc;
use crate::problem::{Error, Result};
use crate::regular::open_regular;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;

/// The vectors of documents by one encoder, a row each in the order of their numbers.
#[derive(Debug, Default)]
pub struct Vectors {
    count: usize,
    dim: usize,
    /// All have [`BLOCK`](Self::BLOCK) rows but the last.
    blocks: Vec<Rows>,
    empty: Vec<Doc>,
}

/// The rows of a block, one after the other.
#[derive(Debug)]
pub enum Rows {
    /// Those in memory.
    Memory(Vec<f32>),
    /// Those of a file, as little-endian numbers.
    File {
        /// The file. It is opened again each time, so that their number has no limit.
        path: PathBuf,
        /// Where the first begins, in bytes.
        offset: u64,
    },
}

/// The vectors of documents that come one after the other.
#[derive(Debug)]
pub struct Block {
    /// The length of a vector.
    pub dim: usize,
    /// The vectors.
    pub rows: Rows,
    /// The documents without a text, by their positions in the block.
    pub empty: Vec<u32>,
}

impl Block {
    /// The same block of so many vectors in memory.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn load(mut self, count: usize) -> Result<Self> {
        if let Rows::File { path, offset } = &self.rows {
            let mut values = Vec::with_capacity(count * self.dim);
            open_regular(path)
                .and_then(|mut file| append(&mut file, *offset, 0..count * self.dim, &mut values))
                .map_err(Error::io("read", path))?;
            self.rows = Rows::Memory(values);
        }
        Ok(self)
    }
}

impl Vectors {
    /// Documents of a block: they are encoded together, and kept when that is done.
    pub const BLOCK: usize = 65_536;

    /// The vectors of so many documents. `block` is called for one range of them after the other.
    ///
    /// # Errors
    ///
    /// Those of `block`.
    pub fn of(
        documents: usize,
        mut block: impl FnMut(Range<usize>) -> Result<Block>,
    ) -> Result<Self> {
        let mut all = Self { count: documents, ..Self::default() };
        for first in (0..documents).step_by(Self::BLOCK) {
            let Block { dim, rows, empty } = block(first..documents.min(first + Self::BLOCK))?;
            all.dim = dim;
            all.blocks.push(rows);
            all.empty.extend(empty.into_iter().map(|index| Doc(first as u32 + index)));
        }
        Ok(all)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The length of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The documents without a text, in order.
    pub fn empty(&self) -> &[Doc] {
        &self.empty
    }

    /// The rows of some documents, one after the other. `room` holds those that do not lie so in
    /// memory; what it held is overwritten.
    ///
    /// # Errors
    ///
    /// A file that is no longer there, or cannot be read.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    pub fn rows<'r>(&'r self, docs: &[Doc], room: &'r mut Vec<f32>) -> Result<&'r [f32]> {
        let block = |doc: &Doc| doc.index() / Self::BLOCK;
        let values = |run: &[Doc]| {
            let first = run[0].index() % Self::BLOCK * self.dim;
            first..first + run.len() * self.dim
        };
        let neighbours = |one: &Doc, next: &Doc| one.0 + 1 == next.0 && block(one) == block(next);
        if let (Some(first), true) = (docs.first(), docs.is_sorted_by(neighbours))
            && let Rows::Memory(rows) = &self.blocks[block(first)]
        {
            return Ok(&rows[values(docs)]);
        }
        room.clear();
        for docs in docs.chunk_by(|one, next| block(one) == block(next)) {
            let runs = docs.chunk_by(neighbours).map(values);
            match &self.blocks[block(&docs[0])] {
                Rows::Memory(rows) => runs.for_each(|run| room.extend_from_slice(&rows[run])),
                Rows::File { path, offset } => {
                    let unreadable = Error::io("read", path);
                    let mut file = open_regular(path).map_err(&unreadable)?;
                    for run in runs {
                        append(&mut file, *offset, run, room).map_err(&unreadable)?;
                    }
                }
            }
        }
        Ok(room)
    }
}

/// Appends numbers of a file whose first one is at `offset`.
fn append(
    file: &mut File,
    offset: u64,
    numbers: Range<usize>,
    room: &mut Vec<f32>,
) -> std::io::Result<()> {
    const WIDTH: usize = size_of::<f32>();
    file.seek(SeekFrom::Start(offset + (numbers.start * WIDTH) as u64))?;
    let mut bytes = [0; 1 << 14];
    let mut left = numbers.len() * WIDTH;
    while left > 0 {
        let some = &mut bytes[..left.min(1 << 14)];
        file.read_exact(some)?;
        let four = |four: &[u8]| f32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        room.extend(some.chunks_exact(WIDTH).map(four));
        left -= some.len();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_same_in_memory_and_in_files() {
        let (dim, documents) = (3, Vectors::BLOCK + 10);
        let value = |index: usize| index as f32 / 7.0;
        let folder = tempfile::tempdir().unwrap();
        let make = |on_disk: &dyn Fn(usize) -> bool| {
            Vectors::of(documents, |block| {
                let numbers = (block.start * dim..block.end * dim).map(value);
                let path = folder.path().join(block.start.to_string());
                let empty = vec![4];
                if !on_disk(block.start) {
                    return Ok(Block { dim, rows: Rows::Memory(numbers.collect()), empty });
                }
                let bytes: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
                std::fs::write(&path, [&b"head"[..], &bytes].concat()).unwrap();
                Ok(Block { dim, rows: Rows::File { path, offset: 4 }, empty })
            })
            .unwrap()
        };
        let (last, edge) = (documents as u32 - 1, Vectors::BLOCK as u32);
        let all: Vec<Doc> = Doc::all(documents).collect();
        let some: [&[u32]; 6] =
            [&[], &[5], &[5, 6, 7], &[0, 9, edge - 1, edge, edge + 1, last], &[9, 3], &[edge]];
        let some = some.map(|docs| docs.iter().copied().map(Doc).collect::<Vec<_>>());
        for on_disk in [&|_| false, &|_| true, &|first| first > 0] as [&dyn Fn(usize) -> bool; 3] {
            let vectors = make(on_disk);
            assert_eq!(vectors.count(), documents);
            assert_eq!((vectors.dim(), vectors.empty()), (dim, &[Doc(4), Doc(edge + 4)][..]));
            for docs in some.iter().chain([&all]) {
                let wanted =
                    docs.iter().flat_map(|doc| (0..dim).map(|at| value(doc.index() * dim + at)));
                let wanted: Vec<f32> = wanted.collect();
                assert_eq!(vectors.rows(docs, &mut vec![9.0; 9]).unwrap(), wanted, "{docs:?}");
            }
        }
        let vectors = make(&|_| true);
        std::fs::write(folder.path().join("0"), "cut").unwrap();
        let error = vectors.rows(&[Doc(1)], &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("cannot read"), "{error}");
    }
}
