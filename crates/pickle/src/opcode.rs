//! The operations of a pickle and their operands.
//!
//! All codes of protocols 0 to 5, as Python's `pickletools` lists them, become one of a few
//! [`Op`]s: the machine does not care whether a number came as text or as bytes.

use super::batch::{Batch, Miss};
use super::bytes::Bytes;
use super::error::{Fault, PickleError};
use super::text;
use std::io::Read;

/// One operation. The operand of those that say so is the reader's [`payload`](Opcodes::payload).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Op {
    /// Nothing to do: a protocol or frame header. Frames only help a reader to fetch ahead.
    Header,
    Mark,
    Stop,
    Pop,
    PopMark,
    Dup,
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// UTF-8 in the payload.
    Text,
    /// Bytes in the payload.
    Bytes,
    /// A tuple of everything above the mark.
    Tuple,
    /// A tuple of the topmost values.
    TupleOf(u8),
    EmptyList,
    List,
    Append,
    Appends,
    EmptyDict,
    Dict,
    SetItem,
    SetItems,
    Get(u32),
    Put(u32),
    Memoize,
    /// `module\nname` in the payload.
    Global,
    StackGlobal,
    Reduce,
    Build,
}

/// Reads operations one by one.
pub(super) struct Opcodes<R> {
    bytes: Bytes<R>,
    payload: Vec<u8>,
    line: Vec<u8>,
    start: u64,
    code: Option<u8>,
}

impl<R: Read> Opcodes<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            bytes: Bytes::new(reader),
            payload: Vec::new(),
            line: Vec::new(),
            start: 0,
            code: None,
        }
    }

    /// The operand of the last operation, where it is text, bytes or a name.
    pub(super) fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Where the last operation begins.
    pub(super) fn offset(&self) -> u64 {
        self.start
    }

    /// Looks for a batch behind the mark that was the last operation; gives its length, or 0 where
    /// there is none. It stays where it is until it is [taken](Self::take_batch).
    pub(super) fn find_batch(&mut self, batch: &mut Batch) -> Result<usize, PickleError> {
        match batch.parse(self.bytes.ahead()) {
            Err(Miss::CutOff) if self.bytes.fetch().map_err(|fault| self.fail(fault))? => {
                Ok(batch.parse(self.bytes.ahead()).unwrap_or(0))
            }
            found => Ok(found.unwrap_or(0)),
        }
    }

    /// Goes to the end of a batch of that length, to the `SETITEMS` that ends it.
    pub(super) fn take_batch(&mut self, length: usize) {
        self.bytes.skip(length);
    }

    /// An error of the last operation.
    pub(super) fn fail(&self, fault: Fault) -> PickleError {
        fault.at(self.start, self.code)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<Op, PickleError> {
        self.start = self.bytes.offset();
        self.code = None;
        self.decode().map_err(|fault| self.fail(fault))
    }

    #[inline]
    fn decode(&mut self) -> Result<Op, Fault> {
        let code = self.bytes.byte()?;
        self.code = Some(code);
        match code {
            b'I' | b'L' | b'F' | b'J' | b'K' | b'M' | b'G' | 0x8a | 0x8b => self.number(code),
            b'S' | b'V' | b'T' | b'U' | b'X' | 0x8c | 0x8d => self.text(code),
            b'B' | b'C' | 0x8e => {
                let length = self.length(code)?;
                self.bytes.take(length, &mut self.payload)?;
                Ok(Op::Bytes)
            }
            b'g' | b'h' | b'j' => self.slot(code).map(Op::Get),
            b'p' | b'q' | b'r' => self.slot(code).map(Op::Put),
            b'c' => self.global(),
            0x80 => match self.bytes.byte()? {
                0..=5 => Ok(Op::Header),
                newer => Err(Fault::found(format!("pickle protocol {newer}"))),
            },
            0x95 => self.bytes.array::<8>().map(|_| Op::Header),
            _ => bare(code),
        }
    }

    fn number(&mut self, code: u8) -> Result<Op, Fault> {
        Ok(match code {
            b'I' => match self.line()?.trim_ascii() {
                b"00" => Op::Bool(false),
                b"01" => Op::Bool(true),
                digits => Op::Int(text::parse(digits)?),
            },
            b'L' => Op::Int(text::long(self.line()?)?),
            b'F' => Op::Float(text::parse(self.line()?)?),
            b'J' => Op::Int(i32::from_le_bytes(self.bytes.array()?).into()),
            b'K' => Op::Int(self.bytes.byte()?.into()),
            b'M' => Op::Int(u16::from_le_bytes(self.bytes.array()?).into()),
            b'G' => Op::Float(f64::from_be_bytes(self.bytes.array()?)),
            _ => {
                let length = self.length(code)?;
                self.bytes.take(length, &mut self.payload)?;
                Op::Int(text::little_endian(&self.payload)?)
            }
        })
    }

    fn text(&mut self, code: u8) -> Result<Op, Fault> {
        match code {
            b'S' | b'V' => {
                let read = if code == b'S' { text::python2_string } else { text::raw_unicode };
                self.line()?;
                self.payload.clear();
                read(&self.line, &mut self.payload)?;
            }
            b'T' | b'U' => {
                // Python 2's `str`: see `text::python2_string` for the choice of Latin-1.
                let length = self.length(code)?;
                self.bytes.take(length, &mut self.line)?;
                self.payload.clear();
                text::push_latin1(&self.line, &mut self.payload);
            }
            _ => {
                let length = self.length(code)?;
                self.bytes.take(length, &mut self.payload)?;
                str::from_utf8(&self.payload).map_err(|_| Fault::text("UTF-8"))?;
            }
        }
        Ok(Op::Text)
    }

    /// The length in front of bytes or text, of one, four or eight bytes.
    fn length(&mut self, code: u8) -> Result<u64, Fault> {
        Ok(match code {
            b'U' | b'C' | 0x8c | 0x8a => self.bytes.byte()?.into(),
            b'X' | b'B' => u32::from_le_bytes(self.bytes.array()?).into(),
            b'T' | 0x8b => {
                let length = i32::from_le_bytes(self.bytes.array()?);
                u64::try_from(length).map_err(|_| Fault::length(length))?
            }
            _ => {
                let length = u64::from_le_bytes(self.bytes.array()?);
                // Python's own limit is that of a signed size.
                i64::try_from(length).map_err(|_| Fault::length(length))?;
                length
            }
        })
    }

    fn slot(&mut self, code: u8) -> Result<u32, Fault> {
        match code {
            b'g' | b'p' => text::parse(self.line()?),
            b'h' | b'q' => self.bytes.byte().map(u32::from),
            _ => self.bytes.array().map(u32::from_le_bytes),
        }
    }

    fn global(&mut self) -> Result<Op, Fault> {
        self.payload.clear();
        self.bytes.line(&mut self.payload)?;
        self.payload.push(b'\n');
        self.bytes.line(&mut self.payload)?;
        str::from_utf8(&self.payload).map_err(|_| Fault::text("UTF-8"))?;
        Ok(Op::Global)
    }

    fn line(&mut self) -> Result<&[u8], Fault> {
        self.line.clear();
        self.bytes.line(&mut self.line)?;
        Ok(&self.line)
    }
}

/// The operations without an operand.
#[inline]
fn bare(code: u8) -> Result<Op, Fault> {
    Ok(match code {
        b'(' => Op::Mark,
        b'.' => Op::Stop,
        b'0' => Op::Pop,
        b'1' => Op::PopMark,
        b'2' => Op::Dup,
        b'N' => Op::None,
        0x88 => Op::Bool(true),
        0x89 => Op::Bool(false),
        b')' => Op::TupleOf(0),
        b't' => Op::Tuple,
        0x85 => Op::TupleOf(1),
        0x86 => Op::TupleOf(2),
        0x87 => Op::TupleOf(3),
        b']' => Op::EmptyList,
        b'l' => Op::List,
        b'a' => Op::Append,
        b'e' => Op::Appends,
        b'}' => Op::EmptyDict,
        b'd' => Op::Dict,
        b's' => Op::SetItem,
        b'u' => Op::SetItems,
        0x94 => Op::Memoize,
        0x93 => Op::StackGlobal,
        b'R' => Op::Reduce,
        b'b' => Op::Build,
        _ => return Err(Fault::opcode(code)),
    })
}
