//! The classes and functions that a pickle may name, numpy's data types, and their meaning here.
//!
//! Nothing is ever imported or called. The four names are what Python needs to write numpy
//! numbers and ordered dictionaries; for each of them this module computes the value that Python
//! would have got. Every other name is an error before anything is done with it.

use super::error::Fault;
use super::value::{Dtype, Global, Tuple, Value};
use std::cell::Cell;
use std::rc::Rc;

/// The allow-list.
pub(super) fn lookup(module: &str, name: &str) -> Result<Global, Fault> {
    match (module, name) {
        ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Ok(Global::Scalar),
        ("numpy", "dtype") => Ok(Global::Dtype),
        ("_codecs", "encode") => Ok(Global::Encode),
        ("collections", "OrderedDict") => Ok(Global::OrderedDict),
        _ => Err(Fault::global(module, name)),
    }
}

/// What calling `global` with `arguments` gives in Python.
pub(super) fn call<D: Default>(global: Global, arguments: &Tuple<D>) -> Result<Value<D>, Fault> {
    match (global, arguments.items()) {
        (Global::Scalar, [Value::Dtype(dtype), bytes]) => dtype.get().decode(&raw(bytes)?),
        (Global::Dtype, [Value::Text(name), ..]) => {
            Ok(Value::Dtype(Rc::new(Cell::new(Dtype::parse(name.as_str())?))))
        }
        (Global::Encode, [Value::Text(text), Value::Text(codec)])
            if matches!(codec.as_str(), "latin1" | "latin-1" | "iso-8859-1") =>
        {
            Ok(Value::bytes(&latin1(text.as_str())?))
        }
        (Global::OrderedDict, []) => Ok(Value::Dict(Rc::default())),
        (Global::Scalar, _) => Err(arguments_of("a numpy number's type and bytes")),
        (Global::Dtype, _) => Err(arguments_of("the name of a numpy type")),
        (Global::Encode, _) => Err(arguments_of("text to be encoded as latin1")),
        (Global::OrderedDict, _) => Err(arguments_of("an empty ordered dictionary")),
    }
}

fn arguments_of(wanted: &str) -> Fault {
    Fault::wrong(wanted, "other arguments")
}

fn latin1(text: &str) -> Result<Vec<u8>, Fault> {
    text.chars().map(|c| u8::try_from(c).map_err(|_| Fault::text("Latin-1"))).collect()
}

/// The bytes of a number: `bytes`, or the `str` of Python 2.
fn raw<D>(value: &Value<D>) -> Result<Vec<u8>, Fault> {
    match value {
        Value::Bytes(bytes) => Ok(bytes.as_slice().to_vec()),
        Value::Text(text) => latin1(text.as_str()),
        other => Err(Fault::wrong("the bytes of a number", other.kind())),
    }
}

impl Dtype {
    /// Reads a name like `f8`, with or without the byte order in front.
    pub(super) fn parse(name: &str) -> Result<Self, Fault> {
        let wrong = || Fault::found(format!("the numpy type `{}`", name.escape_debug()));
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

    /// The type with the state that Python restores after making it: a version, the byte order, and
    /// more that only structured types use.
    pub(super) fn with_state<D>(self, state: &Value<D>) -> Result<Self, Fault> {
        let order = match state {
            Value::Tuple(state) => state.items().get(1).and_then(Value::as_text),
            _ => None,
        };
        match order {
            Some("<" | "=" | "|") => Ok(Self { big_endian: false, ..self }),
            Some(">") => Ok(Self { big_endian: true, ..self }),
            _ => Err(Fault::wrong("the byte order of a numpy type", state.kind())),
        }
    }

    fn decode<D>(self, bytes: &[u8]) -> Result<Value<D>, Fault> {
        if bytes.len() != self.size {
            return Err(Fault::length(bytes.len()));
        }
        if self.kind == b'U' {
            return self.decode_text(bytes);
        }
        let mut low = [0; 8];
        low[..bytes.len()].copy_from_slice(bytes);
        if self.big_endian {
            low[..bytes.len()].reverse();
        }
        let word = u64::from_le_bytes(low);
        let unused = 64 - 8 * self.size as u32;
        Ok(match (self.kind, self.size) {
            (b'f', 8) => Value::Float(f64::from_bits(word)),
            (b'f', _) => Value::Float(f32::from_bits(word as u32).into()),
            (b'i', _) => Value::Int((word << unused).cast_signed() >> unused),
            (b'b', _) => Value::Bool(word != 0),
            _ => Value::Int(i64::try_from(word).map_err(|_| Fault::number(word))?),
        })
    }

    /// numpy keeps strings as 32-bit code points and fills up with zeros.
    fn decode_text<D>(self, bytes: &[u8]) -> Result<Value<D>, Fault> {
        let read = if self.big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        let points = bytes.chunks_exact(4).map(|four| read([four[0], four[1], four[2], four[3]]));
        let text: Option<String> = points.map(char::from_u32).collect();
        Ok(Value::text(text.ok_or_else(|| Fault::text("Unicode"))?.trim_end_matches('\0')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(name: &str, bytes: &[u8]) -> String {
        match Dtype::parse(name).and_then(|dtype| dtype.decode::<()>(bytes)) {
            Ok(value) => format!("{value:?}"),
            Err(fault) => fault.at(0, None).message,
        }
    }

    #[test]
    fn numpy_numbers_of_all_sizes_are_decoded() {
        assert_eq!(decode("f8", &0.1_f64.to_le_bytes()), "Float(0.1)");
        assert_eq!(decode(">f8", &0.1_f64.to_be_bytes()), "Float(0.1)");
        assert_eq!(decode("f4", &0.5_f32.to_le_bytes()), "Float(0.5)");
        assert_eq!(decode("<i2", &(-3_i16).to_le_bytes()), "Int(-3)");
        assert_eq!(decode(">i4", &(-3_i32).to_be_bytes()), "Int(-3)");
        assert_eq!(decode("i8", &i64::MIN.to_le_bytes()), format!("Int({})", i64::MIN));
        assert_eq!(decode("u1", &[200]), "Int(200)");
        assert_eq!(decode("b1", &[1]), "Bool(true)");
        assert_eq!(
            decode("u8", &[0xff; 8]),
            "`18446744073709551615` in place of a number of at most 64 bits"
        );
        assert_eq!(decode("f8", &[0; 7]), "a length of 7");
        assert_eq!(decode("O8", &[0; 8]), "the numpy type `O8`");
        assert!(decode("U3", b"F\0\0\0\x30\0\0\0\0\0\0\0").contains("\"F0\""));
    }
}
