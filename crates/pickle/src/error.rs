//! Errors in pickles, with their byte, and what Python calls the operations.

use std::fmt;
use std::io;

/// What is wrong with a pickle, and where.
#[derive(Debug, Default)]
pub struct PickleError {
    /// Where the operation that failed begins, in bytes of the unpacked file.
    pub offset: u64,
    /// The operation's code; `None` where the file ends before it.
    pub opcode: Option<u8>,
    /// What was found.
    pub message: String,
    /// Whether that is a class or function outside the allow-list, which was not looked up.
    pub is_global: bool,
    /// The answer of the operating system, where the bytes could not be read.
    pub source: Option<io::Error>,
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

/// Why an operation cannot be carried out, wherever it is: one pointer, since every operation could
/// return one.
#[derive(Debug)]
pub(super) struct Fault(Box<PickleError>);

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        let message = error.to_string();
        Self(Box::new(PickleError { message, source: Some(error), ..PickleError::default() }))
    }
}

impl Fault {
    #[cold]
    pub(super) fn found(message: impl Into<String>) -> Self {
        Self(Box::new(PickleError { message: message.into(), ..PickleError::default() }))
    }

    /// The error of the operation that begins at that byte.
    pub(super) fn at(self, offset: u64, opcode: Option<u8>) -> PickleError {
        PickleError { offset, opcode, ..*self.0 }
    }

    /// An operation on the wrong kind of value.
    #[cold]
    pub(super) fn wrong(wanted: &str, found: &str) -> Self {
        Self::found(format!("{found} in place of {wanted}"))
    }

    /// A class or function outside the allow-list.
    pub(super) fn global(module: &str, name: &str) -> Self {
        let mut fault = Self::found(format!("a reference to `{module}.{name}`"));
        fault.0.is_global = true;
        fault
    }

    #[cold]
    pub(super) fn truncated() -> Self {
        Self::found("the end of the file")
    }

    /// A code that is not of plain data: instances, persistent ids, extensions, sets, buffers.
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

/// The names of the printable codes, each behind its code.
const PRINTABLE: &str = "IINT JBININT KBININT1 MBININT2 LLONG SSTRING TBINSTRING USHORT_BINSTRING BBINBYTES \
    CSHORT_BINBYTES NNONE VUNICODE XBINUNICODE FFLOAT GBINFLOAT ]EMPTY_LIST aAPPEND eAPPENDS \
    lLIST )EMPTY_TUPLE tTUPLE }EMPTY_DICT dDICT sSETITEM uSETITEMS 0POP 2DUP (MARK 1POP_MARK \
    gGET hBINGET jLONG_BINGET pPUT qBINPUT rLONG_BINPUT cGLOBAL RREDUCE bBUILD iINST oOBJ \
    .STOP PPERSID QBINPERSID";

/// The names of the codes from 0x80 on, in their order.
const FROM_0X80: &str = "PROTO NEWOBJ EXT1 EXT2 EXT4 TUPLE1 TUPLE2 TUPLE3 NEWTRUE NEWFALSE LONG1 LONG4 \
    SHORT_BINUNICODE BINUNICODE8 BINBYTES8 EMPTY_SET ADDITEMS FROZENSET NEWOBJ_EX \
    STACK_GLOBAL MEMOIZE FRAME BYTEARRAY8 NEXT_BUFFER READONLY_BUFFER";

/// What Python calls a code; `None` where it has no meaning.
fn name(code: u8) -> Option<&'static str> {
    match code.checked_sub(0x80) {
        Some(index) => FROM_0X80.split(' ').nth(index.into()),
        None => PRINTABLE.split(' ').find_map(|name| name.strip_prefix(char::from(code))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_word() {
        assert_eq!(size_of::<Result<(), Fault>>(), size_of::<usize>());
    }
}
