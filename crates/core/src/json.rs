//! JSON of which it is known how many values it has before any of them takes memory.

use serde::de::{
    DeserializeOwned, DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::fmt;

/// Parses JSON of at most so many values. In memory, each takes many times the bytes that it is
/// written in, such as `{}`.
pub fn parse_json<T: DeserializeOwned>(text: &[u8], most: usize) -> serde_json::Result<T> {
    let mut left = most;
    Count(&mut left).deserialize(&mut serde_json::Deserializer::from_slice(text))?;
    serde_json::from_slice(text)
}

struct Count<'c>(&'c mut usize);

impl<'de> DeserializeSeed<'de> for Count<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, values: D) -> Result<(), D::Error> {
        let Some(left) = self.0.checked_sub(1) else {
            return Err(D::Error::custom("more values than a file of this kind may have"));
        };
        *self.0 = left;
        values.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Count<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Count(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while fields.next_key::<IgnoredAny>()?.is_some() {
            fields.next_value_seed(Count(self.0))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn values_are_counted_before_they_take_memory() {
        let text = br#"{"a": [1, -2.5, "b", null, true], "c": {"d": {}}}"#;
        assert_eq!(parse_json::<Value>(text, 9).unwrap()["a"][2], "b");
        let error = parse_json::<Value>(text, 8).unwrap_err().to_string();
        assert!(error.contains("more values than"), "{error}");
        assert!(parse_json::<Value>(b"[1", 9).is_err());
        assert!(parse_json::<Value>(b"[1] 2", 9).is_err());
    }
}
