//! Batches of rows, `key: {name: float, …}`, recognised in the bytes of a pickle.
//!
//! Tables of figures are made of little else, and a pickler writes each row in the same few bytes:
//! a key that it has written before, an empty dictionary, names that it has written before with a
//! float behind each, and the operation that puts them in. Taking such bytes as a whole is several
//! times faster than running their operations one by one.

use super::value::{Text, Value};

/// The rows between a mark and its `SETITEMS`, by the memo slots of keys and names.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) rows: Vec<Row>,
    /// The figures of all rows behind each other, with the slots of their names.
    pub(super) figures: Vec<(u32, f64)>,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    /// The slot of its key.
    pub(super) key: u32,
    /// How its dictionary is memoised.
    pub(super) memo: Memo,
    /// Where its figures end.
    pub(super) end: usize,
}

/// How a value is memoised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Memo {
    /// Not at all.
    Not,
    /// In the next slot.
    Next,
    /// In that slot.
    Slot(u32),
}

/// Why bytes are no batch.
#[derive(Debug, PartialEq)]
pub(super) enum Miss {
    /// They are something else.
    Other,
    /// They end too soon to tell.
    CutOff,
}

impl Batch {
    /// Takes the batch at the start of `bytes`, behind its mark; gives its length with the
    /// `SETITEMS` at its end.
    #[inline]
    pub(super) fn parse(&mut self, bytes: &[u8]) -> Result<usize, Miss> {
        self.rows.clear();
        self.figures.clear();
        let mut rest = Bytes(bytes);
        loop {
            let key = rest.slot()?;
            let memo = rest.empty_dict()?;
            self.figures(&mut rest)?;
            self.rows.push(Row { key, memo, end: self.figures.len() });
            if rest.skip_if(b'u')? {
                return Ok(bytes.len() - rest.0.len());
            }
        }
    }

    /// A single figure with its `SETITEM`, or a mark, figures and their `SETITEMS`.
    fn figures(&mut self, rest: &mut Bytes) -> Result<(), Miss> {
        let many = rest.skip_if(b'(')?;
        loop {
            let name = rest.slot()?;
            rest.expect(b'G')?;
            self.figures.push((name, f64::from_be_bytes(rest.array()?)));
            if !many {
                return rest.expect(b's');
            }
            if rest.skip_if(b'u')? {
                return Ok(());
            }
        }
    }
}

/// Items `key: {name: figure, …}` of a dictionary, none of whose values the pickle refers to again.
pub struct Rows<'a, D> {
    /// What the machine remembers; the keys and names of the batch are positions in it.
    memo: &'a [Option<Value<D>>],
    batch: &'a Batch,
}

impl<'a, D> Rows<'a, D> {
    /// Puts positions in place of a batch's slots; `None` where a slot holds something other than
    /// text. `place` is where the memo keeps a slot.
    pub(super) fn new(
        memo: &'a [Option<Value<D>>],
        place: impl Fn(u32) -> Option<usize>,
        batch: &'a mut Batch,
    ) -> Option<Self> {
        let position = |slot: u32| {
            let position = place(slot)?;
            matches!(memo[position], Some(Value::Text(_))).then_some(position as u32)
        };
        for row in &mut batch.rows {
            row.key = position(row.key)?;
        }
        // Row after row has the same few names.
        let mut known = [None; 8];
        for (name, _) in &mut batch.figures {
            let known = &mut known[*name as usize % 8];
            *name = match *known {
                Some((slot, position)) if slot == *name => position,
                _ => {
                    let found = position(*name)?;
                    *known = Some((*name, found));
                    found
                }
            };
        }
        Some(Self { memo, batch })
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.batch.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items in order, each with its figures, of which there is at least one.
    pub fn iter(&self) -> impl Iterator<Item = (&'a Text, impl Iterator<Item = (&'a Text, f64)>)> {
        let (memo, batch) = (self.memo, self.batch);
        let text = move |position: u32| match &memo[position as usize] {
            Some(Value::Text(text)) => Some(&**text),
            _ => None,
        };
        let mut start = 0;
        batch.rows.iter().filter_map(move |&Row { key, end, .. }| {
            let figures = batch.figures[start..end].iter();
            start = end;
            Some((text(key)?, figures.filter_map(move |&(name, value)| Some((text(name)?, value)))))
        })
    }
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Miss> {
        let (array, rest) = self.0.split_first_chunk().ok_or(Miss::CutOff)?;
        self.0 = rest;
        Ok(*array)
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, Miss> {
        self.array().map(|[byte]| byte)
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), Miss> {
        if self.byte()? == byte { Ok(()) } else { Err(Miss::Other) }
    }

    #[inline]
    fn skip_if(&mut self, byte: u8) -> Result<bool, Miss> {
        let is_it = *self.0.first().ok_or(Miss::CutOff)? == byte;
        self.0 = &self.0[usize::from(is_it)..];
        Ok(is_it)
    }

    /// The operand of `BINGET` or `LONG_BINGET`.
    #[inline]
    fn slot(&mut self) -> Result<u32, Miss> {
        match self.byte()? {
            b'h' => self.byte().map(u32::from),
            b'j' => self.array().map(u32::from_le_bytes),
            _ => Err(Miss::Other),
        }
    }

    /// `EMPTY_DICT` and what memoises it.
    #[inline]
    fn empty_dict(&mut self) -> Result<Memo, Miss> {
        self.expect(b'}')?;
        let memo = match *self.0.first().ok_or(Miss::CutOff)? {
            0x94 => Memo::Next,
            b'q' | b'r' => return self.put(),
            _ => return Ok(Memo::Not),
        };
        self.0 = &self.0[1..];
        Ok(memo)
    }

    /// The operand of `BINPUT` or `LONG_BINPUT`.
    fn put(&mut self) -> Result<Memo, Miss> {
        match self.byte()? {
            b'q' => self.byte().map(u32::from).map(Memo::Slot),
            _ => self.array().map(u32::from_le_bytes).map(Memo::Slot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_figure_and_of_many_are_taken() {
        let mut bytes = b"h\x01}\x94(h\x02G\x3f\xe0\0\0\0\0\0\0h\x03G\x40\0\0\0\0\0\0\0u".to_vec();
        bytes.extend(
            b"j\0\x01\0\0}r\x05\0\0\0h\x02G\x3f\xf0\0\0\0\0\0\0sh\x04}h\x02G\0\0\0\0\0\0\0\0su",
        );
        let mut batch = Batch::default();
        let whole = bytes.len();
        bytes.extend(b"and more");
        assert_eq!(batch.parse(&bytes), Ok(whole));
        assert_eq!(batch.figures, [(2, 0.5), (3, 2.0), (2, 1.0), (2, 0.0)]);
        let rows = [
            Row { key: 1, memo: Memo::Next, end: 2 },
            Row { key: 256, memo: Memo::Slot(5), end: 3 },
            Row { key: 4, memo: Memo::Not, end: 4 },
        ];
        assert_eq!(batch.rows, rows);
        for cut in 0..whole {
            assert_eq!(batch.parse(&bytes[..cut]), Err(Miss::CutOff), "{cut}");
        }
    }

    #[test]
    fn whatever_else_is_left_alone() {
        let texts: [&[u8]; 6] =
            [b"u", b"h\x01]", b"h\x01}u", b"h\x01}\x94(u", b"h\x01}(h\x02N", b"h\x01}h\x02}"];
        for text in texts {
            assert_eq!(Batch::default().parse(text), Err(Miss::Other), "{}", text.escape_ascii());
        }
    }
}
