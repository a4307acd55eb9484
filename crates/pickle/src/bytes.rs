//! The bytes of a pickle as a stream; no length in it is trusted.

use super::error::PickleErrorKind as Kind;
use std::io::{self, Read};

const BUFFER: usize = 1 << 16;

/// A buffered reader that counts, and that never reserves more than has already come.
pub(super) struct Bytes<R> {
    inner: R,
    buffer: Box<[u8]>,
    next: usize,
    end: usize,
    /// Bytes that went through the buffer before its present content.
    before: u64,
}

impl<R: Read> Bytes<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, buffer: vec![0; BUFFER].into_boxed_slice(), next: 0, end: 0, before: 0 }
    }

    /// How many bytes were taken.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.next as u64
    }

    /// What is in the buffer, refilled if that is nothing.
    fn chunk(&mut self) -> Result<&[u8], Kind> {
        if self.next == self.end {
            self.refill()?;
        }
        Ok(&self.buffer[self.next..self.end])
    }

    #[cold]
    fn refill(&mut self) -> Result<(), Kind> {
        self.before += self.end as u64;
        (self.next, self.end) = (0, 0);
        self.end = loop {
            match self.inner.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if self.end == 0 { Err(Kind::Truncated) } else { Ok(()) }
    }

    // Once or twice for every operation of a pickle that may have a hundred million of them.
    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Kind> {
        if self.next == self.end {
            self.refill()?;
        }
        let byte = self.buffer[self.next];
        self.next += 1;
        Ok(byte)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Kind> {
        let mut array = [0; N];
        if self.end - self.next >= N {
            array.copy_from_slice(&self.buffer[self.next..self.next + N]);
            self.next += N;
        } else {
            for byte in &mut array {
                *byte = self.byte()?;
            }
        }
        Ok(array)
    }

    /// The next `length` bytes, into `out`, which grows only as they come: a length may claim anything.
    pub(super) fn take(&mut self, length: u64, out: &mut Vec<u8>) -> Result<(), Kind> {
        out.clear();
        let mut left = length;
        while left > 0 {
            let chunk = self.chunk()?;
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
            out.extend_from_slice(&chunk[..count]);
            self.next += count;
            left -= count as u64;
        }
        Ok(())
    }

    /// The bytes up to the next line feed, appended to `out` without it.
    pub(super) fn line(&mut self, out: &mut Vec<u8>) -> Result<(), Kind> {
        loop {
            let chunk = self.chunk()?;
            let feed = chunk.iter().position(|&byte| byte == b'\n');
            let count = feed.unwrap_or(chunk.len());
            out.extend_from_slice(&chunk[..count]);
            self.next += count + usize::from(feed.is_some());
            if feed.is_some() {
                return Ok(());
            }
        }
    }
}
