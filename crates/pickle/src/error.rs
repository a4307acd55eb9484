//! Errors in pickles, with their byte, and what Python calls the operations.

use std::borrow::Cow;
use std::fmt;
use std::io;

/// What is wrong with a pickle, and where.
#[derive(Debug)]
pub struct PickleError {
    /// Where the operation that failed begins, in bytes of the unpacked file.
    pub offset: u64,
    /// The operation's code; `None` where the file ends before it.
    pub opcode: Option<u8>,
    /// What was found.
    pub message: String,
    /// Whether that is a class or function outside the allow-list. It was neither looked up nor
    /// called.
    pub is_global: bool,
    /// The answer of the operating system, where the bytes could not be read.
    pub source: Option<io::Error>,
}

impl PickleError {
    pub(super) fn new(offset: u64, opcode: Option<u8>, fault: Fault) -> Self {
        let (message, is_global, source) = match *fault.0 {
            Cause::Found(message) => (message.into_owned(), false, None),
            Cause::Global(message) => (message, true, None),
            Cause::Io(error) => (error.to_string(), false, Some(error)),
        };
        Self { offset, opcode, message, is_global, source }
    }
}

impl fmt::Display for PickleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.offset)?;
        match self.opcode.map(|code| (code, name(code))) {
            Some((_, Some(name))) => write!(f, " ({name})"),
            Some((code, None)) => write!(f, " (0x{code:02x})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PickleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}

/// What an operation cannot be carried out for. It is one pointer, because every operation could
/// return one.
#[derive(Debug)]
pub(super) struct Fault(Box<Cause>);

#[derive(Debug)]
enum Cause {
    Found(Cow<'static, str>),
    Global(String),
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self(Box::new(Cause::Io(error)))
    }
}

impl Fault {
    #[cold]
    pub(super) fn found(message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Cause::Found(message.into())))
    }

    /// An operation on the wrong kind of value.
    #[cold]
    pub(super) fn wrong(wanted: &str, found: &str) -> Self {
        Self::found(format!("{found} in place of {wanted}"))
    }

    /// A class or function outside the allow-list.
    pub(super) fn global(module: &str, name: &str) -> Self {
        Self(Box::new(Cause::Global(format!("a reference to `{module}.{name}`"))))
    }

    #[cold]
    pub(super) fn truncated() -> Self {
        Self::found("the end of the file")
    }

    /// A code that is not part of plain data: instances, persistent ids, extensions, sets, shared
    /// buffers.
    pub(super) fn opcode(code: u8) -> Self {
        Self::found(match name(code) {
            Some(name) => format!("the operation {name}, which makes more than plain data,"),
            None => format!("0x{code:02x}, which is no pickle operation,"),
        })
    }

    /// An operation that takes more from the stack than there is.
    #[cold]
    pub(super) fn underflow() -> Self {
        Self::found("an operation without operands")
    }

    /// Text that is not what its operation says.
    pub(super) fn text(wanted: &str) -> Self {
        Self::found(format!("text that is not {wanted}"))
    }

    /// Digits that are no number, or one that 64 bits cannot hold.
    pub(super) fn number(shown: impl fmt::Display) -> Self {
        Self::found(format!("`{shown}` in place of a number of at most 64 bits"))
    }

    /// A length that cannot be.
    pub(super) fn length(length: impl fmt::Display) -> Self {
        Self::found(format!("a length of {length}"))
    }
}

/// The names of the codes, in the order of `pickletools.opcodes`.
const NAMES: &[(u8, &str)] = &[
    (b'I', "INT"),
    (b'J', "BININT"),
    (b'K', "BININT1"),
    (b'M', "BININT2"),
    (b'L', "LONG"),
    (0x8a, "LONG1"),
    (0x8b, "LONG4"),
    (b'S', "STRING"),
    (b'T', "BINSTRING"),
    (b'U', "SHORT_BINSTRING"),
    (b'B', "BINBYTES"),
    (b'C', "SHORT_BINBYTES"),
    (0x8e, "BINBYTES8"),
    (0x96, "BYTEARRAY8"),
    (0x97, "NEXT_BUFFER"),
    (0x98, "READONLY_BUFFER"),
    (b'N', "NONE"),
    (0x88, "NEWTRUE"),
    (0x89, "NEWFALSE"),
    (b'V', "UNICODE"),
    (0x8c, "SHORT_BINUNICODE"),
    (b'X', "BINUNICODE"),
    (0x8d, "BINUNICODE8"),
    (b'F', "FLOAT"),
    (b'G', "BINFLOAT"),
    (b']', "EMPTY_LIST"),
    (b'a', "APPEND"),
    (b'e', "APPENDS"),
    (b'l', "LIST"),
    (b')', "EMPTY_TUPLE"),
    (b't', "TUPLE"),
    (0x85, "TUPLE1"),
    (0x86, "TUPLE2"),
    (0x87, "TUPLE3"),
    (b'}', "EMPTY_DICT"),
    (b'd', "DICT"),
    (b's', "SETITEM"),
    (b'u', "SETITEMS"),
    (0x8f, "EMPTY_SET"),
    (0x90, "ADDITEMS"),
    (0x91, "FROZENSET"),
    (b'0', "POP"),
    (b'2', "DUP"),
    (b'(', "MARK"),
    (b'1', "POP_MARK"),
    (b'g', "GET"),
    (b'h', "BINGET"),
    (b'j', "LONG_BINGET"),
    (b'p', "PUT"),
    (b'q', "BINPUT"),
    (b'r', "LONG_BINPUT"),
    (0x94, "MEMOIZE"),
    (0x82, "EXT1"),
    (0x83, "EXT2"),
    (0x84, "EXT4"),
    (b'c', "GLOBAL"),
    (0x93, "STACK_GLOBAL"),
    (b'R', "REDUCE"),
    (b'b', "BUILD"),
    (b'i', "INST"),
    (b'o', "OBJ"),
    (0x81, "NEWOBJ"),
    (0x92, "NEWOBJ_EX"),
    (0x80, "PROTO"),
    (b'.', "STOP"),
    (0x95, "FRAME"),
    (b'P', "PERSID"),
    (b'Q', "BINPERSID"),
];

/// What Python calls a code; `None` where it has no meaning.
fn name(code: u8) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_word() {
        assert_eq!(size_of::<Result<(), Fault>>(), size_of::<usize>());
    }
}
