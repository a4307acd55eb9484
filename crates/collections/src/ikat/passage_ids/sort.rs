//! Sorting more ids than memory holds: sorted pieces on the disk, and a merge of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

/// Collects ids, and gives each of them back once, in byte order.
pub(super) struct Sorter {
    folder: PathBuf,
    memory: usize,
    /// The ids that wait, each with a line end behind it.
    text: Vec<u8>,
    starts: Vec<u32>,
    pieces: Vec<File>,
    count: u64,
}

impl Sorter {
    /// A sorter that keeps about `memory` bytes and puts the rest into `folder`, under no name.
    pub(super) fn new(folder: &Path, memory: usize) -> Self {
        let memory = memory.min(u32::MAX as usize);
        let (text, starts) = (Vec::new(), Vec::new());
        Self { folder: folder.to_owned(), memory, text, starts, pieces: Vec::new(), count: 0 }
    }

    /// How many ids were given.
    pub(super) fn len(&self) -> u64 {
        self.count
    }

    pub(super) fn push(&mut self, id: &str) -> io::Result<()> {
        let waiting = self.text.len() + self.starts.len() * size_of::<u32>();
        if waiting + id.len() > self.memory && !self.starts.is_empty() {
            self.put_piece()?;
        }
        self.count += 1;
        self.starts.push(self.text.len() as u32);
        self.text.extend_from_slice(id.as_bytes());
        self.text.push(b'\n');
        Ok(())
    }

    /// Gives every id to `each`, in byte order.
    pub(super) fn for_each_sorted(
        mut self,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.pieces.is_empty() {
            self.sort();
            let mut last: &[u8] = b"\n";
            for id in self.starts.iter().map(|&start| id_at(&self.text, start)) {
                if id != last {
                    each(id)?;
                    last = id;
                }
            }
            return Ok(());
        }
        self.put_piece()?;
        self.text = Vec::new();
        self.starts = Vec::new();
        merge(self.pieces, each)
    }

    fn sort(&mut self) {
        let text = &self.text;
        let in_order = self.starts.is_sorted_by_key(|&start| id_at(text, start));
        if !in_order {
            self.starts.sort_unstable_by_key(|&start| id_at(text, start));
        }
    }

    fn put_piece(&mut self) -> io::Result<()> {
        self.sort();
        std::fs::create_dir_all(&self.folder)?;
        let mut out = BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(&self.folder)?);
        for &start in &self.starts {
            out.write_all(id_at(&self.text, start))?;
            out.write_all(b"\n")?;
        }
        let mut piece = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        piece.rewind()?;
        self.pieces.push(piece);
        self.text.clear();
        self.starts.clear();
        Ok(())
    }
}

fn id_at(text: &[u8], start: u32) -> &[u8] {
    let rest = &text[start as usize..];
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    &rest[..end]
}

fn merge(pieces: Vec<File>, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut readers: Vec<_> =
        pieces.into_iter().map(|piece| BufReader::with_capacity(1 << 16, piece)).collect();
    let mut heap = BinaryHeap::with_capacity(readers.len());
    for (index, reader) in readers.iter_mut().enumerate() {
        let mut id = Vec::new();
        if next_id(reader, &mut id)? {
            heap.push(Reverse((id, index)));
        }
    }
    let mut last: Vec<u8> = b"\n".to_vec();
    while let Some(Reverse((mut id, index))) = heap.pop() {
        if id != last {
            each(&id)?;
            last.clone_from(&id);
        }
        if next_id(&mut readers[index], &mut id)? {
            heap.push(Reverse((id, index)));
        }
    }
    Ok(())
}

fn next_id(reader: &mut impl BufRead, id: &mut Vec<u8>) -> io::Result<bool> {
    id.clear();
    reader.read_until(b'\n', id)?;
    Ok(id.pop().is_some())
}
