//! The bytes of a pickle as a stream; no length in it is trusted.

use super::error::Fault;
use std::io::{BufRead, BufReader, Read};

/// A buffered reader that counts, and that never reserves more than has already come.
pub(super) struct Bytes<R> {
    inner: BufReader<R>,
    taken: u64,
}

impl<R: Read> Bytes<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner: BufReader::with_capacity(1 << 16, inner), taken: 0 }
    }

    /// How many bytes were taken.
    pub(super) fn offset(&self) -> u64 {
        self.taken
    }

    // Once or twice for every operation of a pickle that may have a hundred million of them.
    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Fault> {
        let Some(&byte) = self.inner.fill_buf()?.first() else { return Err(Fault::truncated()) };
        self.inner.consume(1);
        self.taken += 1;
        Ok(byte)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut array = [0; N];
        if let Some(whole) = self.inner.buffer().first_chunk() {
            array = *whole;
            self.inner.consume(N);
            self.taken += N as u64;
        } else {
            for byte in &mut array {
                *byte = self.byte()?;
            }
        }
        Ok(array)
    }

    /// The next `length` bytes, into `out`, which grows as they come: a length may claim anything.
    pub(super) fn take(&mut self, length: u64, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.clear();
        let came = self.inner.by_ref().take(length).read_to_end(out)? as u64;
        self.taken += came;
        if came == length { Ok(()) } else { Err(Fault::truncated()) }
    }

    /// The bytes up to the next line feed, appended to `out` without it.
    pub(super) fn line(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let came = self.inner.read_until(b'\n', out)? as u64;
        self.taken += came;
        if came > 0 && out.pop() == Some(b'\n') { Ok(()) } else { Err(Fault::truncated()) }
    }
}
