//! Lengths of documents as Lucene keeps them.

/// The length that Lucene reads back of a length that it wrote in one byte: exact up to 39, with
/// four significant bits above 24 (`SmallFloat.intToByte4` and `byte4ToInt`).
///
/// ```
/// use clariq_index::byte_length;
///
/// assert_eq!([7, 39, 40, 41, 57, 1000].map(byte_length), [7, 39, 40, 40, 56, 984]);
/// ```
pub fn byte_length(length: u32) -> u32 {
    let Some(rest) = length.checked_sub(24) else { return length };
    let dropped = (u32::BITS - rest.leading_zeros()).saturating_sub(4);
    24 + (rest >> dropped << dropped)
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
    fn document_lengths_are_rounded_as_in_lucene() {
        for length in (0..100_000).chain([i32::MAX as u32]) {
            assert_eq!(byte_length(length), through_a_byte(length), "{length}");
        }
        assert_eq!(byte_length(1000), 24 + 960);
    }
}
