//! The names that a pickle may hold: classes and functions of the allow-list, and numpy's data types.

use super::error::PickleErrorKind as Kind;

/// A name of the allow-list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Global {
    /// `numpy.core.multiarray.scalar`, since numpy 2 `numpy._core.multiarray.scalar`.
    Scalar,
    /// `numpy.dtype`.
    Dtype,
    /// `_codecs.encode`: how protocols 0 to 2 write bytes.
    Encode,
    /// `collections.OrderedDict`.
    OrderedDict,
}

/// The allow-list.
pub(super) fn lookup(module: &str, name: &str) -> Result<Global, Kind> {
    match (module, name) {
        ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Ok(Global::Scalar),
        ("numpy", "dtype") => Ok(Global::Dtype),
        ("_codecs", "encode") => Ok(Global::Encode),
        ("collections", "OrderedDict") => Ok(Global::OrderedDict),
        _ => Err(Kind::Global { module: module.to_owned(), name: name.to_owned() }),
    }
}

/// A numpy data type: a number, a truth value or a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dtype {
    /// numpy's letter: `f`, `i`, `u`, `b` or `U`.
    pub(super) kind: u8,
    /// Bytes of a value.
    pub(super) size: usize,
    pub(super) big_endian: bool,
}

impl Dtype {
    /// Reads a name like `f8`, with or without the byte order in front.
    pub(super) fn parse(name: &str) -> Result<Self, Kind> {
        let wrong = || Kind::Refused(format!("the numpy type `{}`", name.escape_debug()));
        let plain = name.trim_start_matches(['<', '>', '=', '|']);
        let kind = *plain.as_bytes().first().ok_or_else(wrong)?;
        let count: u16 = plain.get(1..).and_then(|digits| digits.parse().ok()).ok_or_else(wrong)?;
        let size = match (kind, count) {
            (b'f', 4 | 8) | (b'i' | b'u', 1 | 2 | 4 | 8) | (b'b', 1) => usize::from(count),
            (b'U', _) => 4 * usize::from(count),
            _ => return Err(wrong()),
        };
        Ok(Self { kind, size, big_endian: name.starts_with('>') })
    }
}
