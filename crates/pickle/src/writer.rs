//! Plain data written as a pickle that Python reads.

use std::collections::HashMap;
use std::io::{self, Write};

/// Items between a mark and its `SETITEMS`, as in Python's pickler: a reader holds them unfinished.
const BATCH: usize = 1000;

/// Writes a pickle of protocol 4, value by value, each string once.
///
/// ```
/// use clariq_pickle::PickleWriter;
///
/// let mut bytes = Vec::new();
/// let mut writer = PickleWriter::new(&mut bytes)?;
/// writer.dict([("a", 0.5), ("b", 1.0)], |writer, (key, value)| {
///     writer.text(key)?;
///     writer.float(value)
/// })?;
/// writer.finish()?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct PickleWriter<W> {
    out: W,
    memo: HashMap<Box<str>, u32>,
}

impl<W: Write> PickleWriter<W> {
    /// Begins a pickle.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(b"\x80\x04")?;
        Ok(Self { out, memo: HashMap::new() })
    }

    /// `str`.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        if let Some(&slot) = self.memo.get(text) {
            return match u8::try_from(slot) {
                Ok(slot) => self.out.write_all(&[b'h', slot]),
                Err(_) => self.coded(b'j', &slot.to_le_bytes()),
            };
        }
        match u8::try_from(text.len()) {
            Ok(length) => self.out.write_all(&[0x8c, length])?,
            Err(_) => self.coded(0x8d, &(text.len() as u64).to_le_bytes())?,
        }
        self.out.write_all(text.as_bytes())?;
        let slot = u32::try_from(self.memo.len())
            .map_err(|_| io::Error::other("more than 2^32 different strings"))?;
        self.memo.insert(text.into(), slot);
        self.out.write_all(b"\x94")
    }

    /// `int`.
    pub fn int(&mut self, value: i64) -> io::Result<()> {
        if let Ok(byte) = u8::try_from(value) {
            self.out.write_all(&[b'K', byte])
        } else if let Ok(word) = i32::try_from(value) {
            self.coded(b'J', &word.to_le_bytes())
        } else {
            self.out.write_all(b"\x8a\x08")?;
            self.out.write_all(&value.to_le_bytes())
        }
    }

    /// `float`.
    pub fn float(&mut self, value: f64) -> io::Result<()> {
        self.coded(b'G', &value.to_be_bytes())
    }

    /// `dict`: `item` writes a key and a value.
    pub fn dict<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        item: impl FnMut(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.container(*b"}u", items, item)
    }

    /// `list`: `item` writes an item.
    pub fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        item: impl FnMut(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.container(*b"]e", items, item)
    }

    /// Makes an empty container by one code, and fills it by the other.
    fn container<T>(
        &mut self,
        [empty, fill]: [u8; 2],
        items: impl IntoIterator<Item = T>,
        mut item: impl FnMut(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.out.write_all(&[empty])?;
        let mut items = items.into_iter().peekable();
        while items.peek().is_some() {
            self.out.write_all(b"(")?;
            for next in items.by_ref().take(BATCH) {
                item(self, next)?;
            }
            self.out.write_all(&[fill])?;
        }
        Ok(())
    }

    /// Ends the pickle.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b".")?;
        Ok(self.out)
    }

    fn coded(&mut self, code: u8, operand: &[u8]) -> io::Result<()> {
        self.out.write_all(&[code])?;
        self.out.write_all(operand)
    }
}
