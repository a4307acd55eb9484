//! The bytes of a pickle as a stream; no length in it is trusted.

use super::error::Fault;
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
    fn chunk(&mut self) -> Result<&[u8], Fault> {
        if self.next == self.end {
            self.refill()?;
        }
        Ok(&self.buffer[self.next..self.end])
    }

    #[cold]
    fn refill(&mut self) -> Result<(), Fault> {
        self.before += self.end as u64;
        (self.next, self.end) = (0, 0);
        self.end = self.read()?;
        if self.end == 0 { Err(Fault::truncated()) } else { Ok(()) }
    }

    /// Reads into the buffer, behind its content.
    fn read(&mut self) -> io::Result<usize> {
        loop {
            match self.inner.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    // Once or twice for every operation of a pickle that may have a hundred million of them.
    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Fault> {
        if self.next == self.end {
            self.refill()?;
        }
        let byte = self.buffer[self.next];
        self.next += 1;
        Ok(byte)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
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

    /// What is in the buffer and not yet taken.
    pub(super) fn ahead(&self) -> &[u8] {
        &self.buffer[self.next..self.end]
    }

    /// Puts more into the buffer behind what is there; false where there is no room, or no more.
    pub(super) fn fetch(&mut self) -> Result<bool, Fault> {
        self.buffer.copy_within(self.next..self.end, 0);
        self.before += self.next as u64;
        (self.next, self.end) = (0, self.end - self.next);
        let came = self.read()?;
        self.end += came;
        Ok(came > 0)
    }

    /// Takes bytes that are in the buffer.
    pub(super) fn skip(&mut self, count: usize) {
        self.next = (self.next + count).min(self.end);
    }

    /// The next `length` bytes, into `out`, which grows as they come: a length may claim anything.
    pub(super) fn take(&mut self, length: u64, out: &mut Vec<u8>) -> Result<(), Fault> {
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
    pub(super) fn line(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
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
