//! Errors in pickles, with their byte.

use super::names::name;
use std::fmt;
use std::io;

/// What is wrong with a pickle, and where.
#[derive(Debug)]
pub struct PickleError {
    /// Where the operation that failed begins, in bytes of the unpacked file.
    pub offset: u64,
    /// The operation's code; `None` where the file ends before it.
    pub opcode: Option<u8>,
    /// What is wrong.
    pub kind: PickleErrorKind,
}

impl fmt::Display for PickleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)?;
        match self.opcode.map(|code| (code, name(code))) {
            Some((_, Some(name))) => write!(f, " ({name})"),
            Some((code, None)) => write!(f, " (0x{code:02x})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PickleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            PickleErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// The ways in which a pickle can be unreadable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PickleErrorKind {
    /// The bytes did not come.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file ends inside the pickle.
    #[error("the end of the file")]
    Truncated,
    /// A byte that no protocol gives a meaning.
    #[error("0x{0:02x}, which is no pickle operation,")]
    UnknownOpcode(u8),
    /// An operation that plain data never needs: instances, persistent ids, extensions, sets,
    /// shared buffers.
    #[error("the operation {0}, which makes more than plain data,")]
    Unsupported(&'static str),
    /// A protocol newer than 5.
    #[error("pickle protocol {0}")]
    Protocol(u8),
    /// A class or function outside the allow-list. It was neither looked up nor called.
    #[error("a reference to `{module}.{name}`")]
    Global {
        /// The Python module.
        module: String,
        /// The name in it.
        name: String,
    },
    /// An operation that takes more from the stack than there is.
    #[error("an operation without operands")]
    Underflow,
    /// An operation that takes everything above a mark, without one.
    #[error("an operation without a mark")]
    NoMark,
    /// A memo slot that nothing was put in.
    #[error("a use of memo slot {0}, which is empty,")]
    NoMemo(u32),
    /// Text that is not what its operation says.
    #[error("text that is not {0}")]
    Text(&'static str),
    /// Digits that are no number, or one that 64 bits cannot hold.
    #[error("`{0}` in place of a number of at most 64 bits")]
    Number(String),
    /// A length that cannot be.
    #[error("a length of {0}")]
    Length(i128),
    /// Containers inside containers beyond any table's need.
    #[error("a nesting deeper than {0}")]
    TooDeep(u16),
    /// More values at once than any writer leaves open.
    #[error("more than {0} unfinished values")]
    TooMany(usize),
    /// An operation on the wrong kind of value.
    #[error("{found} in place of {wanted}")]
    Type {
        /// What the operation works on.
        wanted: &'static str,
        /// What it was given.
        found: &'static str,
    },
    /// A key that Python could not hash.
    #[error("{0} as a key")]
    Unhashable(&'static str),
    /// A container that changes after it went into another one: it holds itself, or the writer was
    /// no pickler.
    #[error("a change of a container that is already part of another")]
    Changed,
    /// Plain data that is not what the reader is after.
    #[error("{0}")]
    Refused(String),
}
