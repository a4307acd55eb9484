//! `SentencePiece`'s compiled map of what a text's characters are replaced by.

use super::Checked;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// How many bytes `SentencePiece`'s compiled map makes of one at most. The map is a double-array trie
/// (Aoe, 1989) over the bytes of what is replaced, behind its size, and then the replacements, each
/// of which ends with a NUL.
pub(super) fn times(base64: &str) -> Checked<usize> {
    let wrong = || "a precompiled map that is not whole".to_owned();
    let bytes = BASE64_STANDARD.decode(base64).map_err(|_| wrong())?;
    let (size, rest) = bytes.split_first_chunk().ok_or_else(wrong)?;
    let size = u32::from_le_bytes(*size) as usize / 4 * 4;
    let (trie, texts) = rest.split_at_checked(size).ok_or_else(wrong)?;
    let units: Vec<usize> = trie
        .chunks_exact(4)
        .map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]) as usize)
        .collect();
    let texts = std::str::from_utf8(texts).map_err(|_| wrong())?;
    let offset = |unit: usize| (unit >> 10) << ((unit & (1 << 9)) >> 6);
    let mut times = 1;
    let mut seen = vec![false; units.len()];
    let mut open = vec![(offset(*units.first().ok_or_else(wrong)?), 1)];
    while let Some((base, depth)) = open.pop() {
        // Whatever byte a text has next, the library looks it up.
        if base | 0xff >= units.len() {
            return Err(wrong());
        }
        for byte in 1..=usize::from(u8::MAX) {
            let at = base ^ byte;
            let Some(&unit) = units.get(at).filter(|unit| **unit & ((1 << 31) | 0xff) == byte)
            else {
                continue;
            };
            if std::mem::replace(&mut seen[at], true) {
                return Err("a precompiled map that leads back into itself".to_owned());
            }
            let next = at ^ offset(unit);
            if (unit >> 8) & 1 == 1 {
                let start = units.get(next).ok_or_else(wrong)? & ((1 << 31) - 1);
                let text = texts.get(start..).ok_or_else(wrong)?;
                let length = text.find('\0').unwrap_or(text.len());
                times = times.max(length.div_ceil(depth));
            }
            open.push((next, depth + 1));
        }
    }
    Ok(times)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A compiled map that replaces `a` by a text: units of the root, of `a`, and of its value.
    pub(in super::super) fn map(text: &str) -> String {
        let mut units = vec![0_u32; 512];
        // The root's children lie at 256 and on, `a` among them, whose value is at 1.
        units[0] = 256 << 10;
        let at = 256 ^ u32::from(b'a');
        units[at as usize] = ((at ^ 1) << 10) | (1 << 8) | u32::from(b'a');
        units[1] = 1 << 31;
        let units: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let size = (units.len() as u32).to_le_bytes();
        BASE64_STANDARD.encode([&size, &*units, text.as_bytes(), b"\0"].concat())
    }

    #[test]
    fn a_precompiled_map_that_leads_back_into_itself_is_refused() {
        let mut bytes = BASE64_STANDARD.decode(map("b")).unwrap();
        // The children of `a` are those of the root.
        let at = 256 ^ usize::from(b'a');
        let unit = (((at as u32) ^ 256) << 10) | u32::from(b'a');
        bytes[4 + 4 * at..][..4].copy_from_slice(&unit.to_le_bytes());
        let found = times(&BASE64_STANDARD.encode(bytes)).unwrap_err();
        assert!(found.contains("leads back"), "{found}");
    }
}
