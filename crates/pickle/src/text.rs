//! Numbers and strings as the text protocols spell them.

use super::error::Fault;

/// Appends bytes whose values are code points, as UTF-8.
pub(super) fn push_latin1(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.is_ascii() {
        out.extend_from_slice(bytes);
    } else {
        for &byte in bytes {
            push_char(char::from(byte), out);
        }
    }
}

fn push_char(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// The operand of `LONG`: digits and an `L`.
pub(super) fn long(line: &[u8]) -> Result<i64, Fault> {
    let line = line.trim_ascii();
    parse(line.strip_suffix(b"L").unwrap_or(line))
}

/// A whole line that is a number.
pub(super) fn parse<T: std::str::FromStr>(line: &[u8]) -> Result<T, Fault> {
    let text = str::from_utf8(line.trim_ascii()).ok();
    text.and_then(|text| text.parse().ok()).ok_or_else(|| Fault::number(shown(line)))
}

/// At most a screen line of the text found.
fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned()
}

/// A little-endian two's complement number of any length.
pub(super) fn little_endian(bytes: &[u8]) -> Result<i64, Fault> {
    let negative = bytes.last().is_some_and(|&last| last >= 0x80);
    let filler = if negative { 0xff } else { 0 };
    let (low, rest) = bytes.split_at(bytes.len().min(8));
    let mut array = [filler; 8];
    array[..low.len()].copy_from_slice(low);
    let value = i64::from_le_bytes(array);
    if rest.iter().all(|&byte| byte == filler) && (value < 0) == negative {
        Ok(value)
    } else {
        Err(Fault::number(format_args!("an integer of {} bytes", bytes.len())))
    }
}

/// The operand of `STRING`: what Python 2's `repr` makes of its `str`. The bytes are taken as
/// Latin-1, as numpy asks for (`pickle.load(…, encoding="latin1")`).
pub(super) fn python2_string(line: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let wrong = || Fault::text("a quoted string");
    let line = line.trim_ascii();
    let quoted =
        line.len() >= 2 && matches!(line[0], b'\'' | b'"') && line[line.len() - 1] == line[0];
    if !quoted {
        return Err(wrong());
    }
    let mut rest = &line[1..line.len() - 1];
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'\\' {
            let (value, used) = escape(rest).ok_or_else(wrong)?;
            if let Some(byte) = value {
                push_char(char::from(byte), out);
            }
            rest = &rest[used..];
        } else {
            push_char(char::from(byte), out);
        }
    }
    Ok(())
}

/// An escape after a backslash: the byte it means, if any, and how many bytes were used.
fn escape(rest: &[u8]) -> Option<(Option<u8>, usize)> {
    let plain = |byte| Some((Some(byte), 1));
    match *rest.first()? {
        byte @ (b'\\' | b'\'' | b'"') => plain(byte),
        b'\n' => Some((None, 1)),
        b'n' => plain(b'\n'),
        b't' => plain(b'\t'),
        b'r' => plain(b'\r'),
        b'a' => plain(7),
        b'b' => plain(8),
        b'v' => plain(11),
        b'f' => plain(12),
        b'x' => Some((Some(u8::try_from(digits(rest.get(1..3)?, 16)?).ok()?), 3)),
        b'0'..=b'7' => {
            let used = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            Some((Some(u8::try_from(digits(&rest[..used], 8)?).ok()?), used))
        }
        _ => None,
    }
}

fn digits(bytes: &[u8], radix: u32) -> Option<u32> {
    bytes.iter().try_fold(0_u32, |sum, &byte| {
        sum.checked_mul(radix)?.checked_add(char::from(byte).to_digit(radix)?)
    })
}

/// The operand of `UNICODE`: Latin-1 with `\uXXXX` and `\UXXXXXXXX`, Python's `raw-unicode-escape`.
pub(super) fn raw_unicode(line: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut rest = line;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let length = match (byte, tail.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            (b'\\', Some(&other)) => {
                // A backslash takes the next character with it, so that `\\u0041` stays as it is.
                push_latin1(&[byte, other], out);
                rest = &tail[1..];
                continue;
            }
            _ => {
                push_char(char::from(byte), out);
                continue;
            }
        };
        let code = tail.get(1..=length).and_then(|hex| digits(hex, 16));
        let c = code.and_then(char::from_u32).ok_or_else(|| Fault::text("Unicode"))?;
        push_char(c, out);
        rest = &tail[1 + length..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(parse: fn(&[u8], &mut Vec<u8>) -> Result<(), Fault>, line: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        parse(line, &mut out).ok()?;
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn escapes_are_read_as_python_does() {
        assert_eq!(
            text(raw_unicode, br"a\u005cb\U0001f600\\u0041\x").unwrap(),
            "a\\b😀\\\\u0041\\x"
        );
        assert_eq!(text(raw_unicode, b"\xe9").unwrap(), "é");
        assert!(text(raw_unicode, br"\ud800").is_none());
        assert!(text(raw_unicode, br"\u12").is_none());
        assert_eq!(text(python2_string, br"'it\'s \x41\102\0\n\xe9'").unwrap(), "it's AB\0\né");
        for wrong in [&b"'"[..], b"abc", b"'a\"", br"'\x4'", br"'\", br"'\777'", br"'\q'"] {
            assert!(text(python2_string, wrong).is_none(), "{}", wrong.escape_ascii());
        }
    }

    #[test]
    fn long_integers_keep_their_sign() {
        assert_eq!(little_endian(b"").unwrap(), 0);
        assert_eq!(little_endian(b"\xff").unwrap(), -1);
        assert_eq!(little_endian(b"\xff\x00").unwrap(), 255);
        assert_eq!(little_endian(&[0xff; 20]).unwrap(), -1);
        assert_eq!(little_endian(b"\0\0\0\0\0\0\0\x80").unwrap(), i64::MIN);
        assert!(little_endian(b"\0\0\0\0\0\0\0\x80\0").is_err());
        assert!(little_endian(b"\0\0\0\0\0\0\0\0\x01").is_err());
    }
}
