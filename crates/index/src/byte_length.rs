//! Lengths as Lucene keeps them: in one byte, so that long ones are rounded down.

/// From here on, lengths are rounded.
const EXACT: u32 = 24;

/// The length that Lucene reads back of a length that it wrote: exact up to 39, with four
/// significant bits above 24 (`SmallFloat.intToByte4` and `byte4ToInt`).
///
/// ```
/// use clariq_index::byte_length;
///
/// assert_eq!([7, 39, 40, 41, 57, 1000].map(byte_length), [7, 39, 40, 40, 56, 984]);
/// ```
pub fn byte_length(length: u32) -> u32 {
    let Some(rest) = length.checked_sub(EXACT) else { return length };
    let bits = u32::BITS - rest.leading_zeros();
    let dropped = bits.saturating_sub(4);
    EXACT + (rest >> dropped << dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lucene's own arithmetic, by way of the byte.
    fn through_a_byte(length: u32) -> u32 {
        let encoded = if length < 24 {
            length
        } else {
            let rest = u64::from(length - 24);
            let bits = 64 - rest.leading_zeros();
            24 + if bits < 4 {
                rest as u32
            } else {
                let shift = bits - 4;
                ((rest >> shift) as u32 & 7) | ((shift + 1) << 3)
            }
        };
        assert!(encoded < 256);
        if encoded < 24 {
            return encoded;
        }
        let (bits, shift) = ((encoded - 24) & 7, (encoded - 24) >> 3);
        24 + if shift == 0 { bits } else { (bits | 8) << (shift - 1) }
    }

    #[test]
    fn the_byte_loses_what_lucenes_loses() {
        for length in (0..100_000).chain([i32::MAX as u32]) {
            assert_eq!(byte_length(length), through_a_byte(length), "{length}");
        }
        assert_eq!(byte_length(1000), 24 + 960);
    }
}
