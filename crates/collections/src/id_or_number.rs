//! Ids that files write as texts or as whole numbers.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::fmt;

/// An id as a text. JSON may have it as a text or as a whole number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IdOrNumber(pub(crate) String);

impl<'de> Deserialize<'de> for IdOrNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyId)
    }
}

struct AnyId;

impl Visitor<'_> for AnyId {
    type Value = IdOrNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a whole number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<IdOrNumber, E> {
        Ok(IdOrNumber(text.to_owned()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<IdOrNumber, E> {
        Ok(IdOrNumber(number.to_string()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<IdOrNumber, E> {
        Ok(IdOrNumber(number.to_string()))
    }
}
