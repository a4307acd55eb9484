//! A stream on the disk: what can be read once is copied to a nameless file and read again and
//! again.

use clariq_core::{Error, Result, bail};
use std::fs::File;
use std::io::{self, Read, Write};

/// Bytes that a stream may have. The largest file that was released has a tenth of it.
const MOST: u64 = 1 << 30;

/// A copy of a stream. Its file has no name: it is gone when the process ends, however it ends.
#[derive(Debug)]
pub struct Spool {
    file: File,
    size: u64,
}

impl PartialEq for Spool {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Spool {}

impl Spool {
    /// Copies a stream to the end; `name` is for messages.
    pub(crate) fn of(name: &str, stream: impl Read) -> Result<Self> {
        Self::of_at_most(name, stream, MOST)
    }

    fn of_at_most(name: &str, stream: impl Read, most: u64) -> Result<Self> {
        let folder = std::env::temp_dir();
        let unwritable = Error::io("write in", &folder);
        let mut file = tempfile::tempfile_in(&folder).map_err(&unwritable)?;
        let (mut stream, mut buffer, mut size) = (stream.take(most + 1), vec![0; 1 << 16], 0);
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    size += count as u64;
                    file.write_all(&buffer[..count]).map_err(&unwritable)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", name)(error)),
            }
        }
        if size > most {
            let hint = "is this the right file? if it is, name it in place of `-`";
            bail!(name, (format!("at most {} MiB", most >> 20)), "more", hint);
        }
        Ok(Self { file, size })
    }

    /// How many bytes there are.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// A reader from the beginning. Readers do not disturb each other.
    pub(crate) fn open(&self) -> impl Read + '_ {
        Reader { file: &self.file, offset: 0 }
    }
}

struct Reader<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = read_at(self.file, buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_do_not_disturb_each_other() {
        let spool = Spool::of("x", &b"abcdef"[..]).unwrap();
        let (mut first, mut second) = (spool.open(), spool.open());
        let (mut head, mut all) = ([0; 3], Vec::new());
        first.read_exact(&mut head).unwrap();
        second.read_to_end(&mut all).unwrap();
        assert_eq!((&head, &*all, spool.size()), (b"abc", &b"abcdef"[..], 6));
        all.clear();
        first.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"def");
    }

    #[test]
    fn an_endless_stream_is_refused() {
        let error = Spool::of_at_most("<stdin>", io::repeat(0), 5 << 20).unwrap_err().to_string();
        assert_eq!(error, "<stdin>: expected at most 5 MiB, found more");
    }
}
