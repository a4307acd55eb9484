//! JSON of which it is known how many values it has before any of them takes memory.

use serde::de::{DeserializeOwned, Error};

/// Parses JSON of at most so many values. In memory, each takes many times the bytes that it is
/// written in, such as `{}`.
pub fn parse_json<T: DeserializeOwned>(text: &[u8], most: usize) -> serde_json::Result<T> {
    if count_values(text) > most {
        return Err(Error::custom("more values than a file of this kind may have"));
    }
    serde_json::from_slice(text)
}

/// How many values a text has, were no list and no object empty: one behind every comma, one behind
/// every bracket that opens, and the whole.
fn count_values(text: &[u8]) -> usize {
    let (mut values, mut in_string, mut bytes) = (1, false, text.iter());
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            // In JSON it is in a string, where the next byte may be a quote.
            b'\\' => drop(bytes.next()),
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn values_are_counted_before_they_take_memory() {
        let text = br#"{"a,": [1, -2.5, "b\",[", null, true], "c": {"d": {"e": ""}}}"#;
        assert_eq!(parse_json::<Value>(text, 10).unwrap()["a,"][2], "b\",[");
        let error = parse_json::<Value>(text, 9).unwrap_err().to_string();
        assert!(error.contains("more values than"), "{error}");
        assert!(parse_json::<Value>(b"[{}, {}]", 3).is_err());
        assert!(parse_json::<Value>(b"[1", 9).is_err());
        assert!(parse_json::<Value>(b"[1] 2", 9).is_err());
    }
}
