//! Ids that files write as texts or as whole numbers.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::fmt;

/// An id, which JSON may have as a text or as a whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IdOrNumber {
    Id(String),
    Number(i64),
}

impl IdOrNumber {
    /// The id; a number in decimal.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Id(id) => id,
            Self::Number(number) => number.to_string(),
        }
    }
}

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
        Ok(IdOrNumber::Id(text.to_owned()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<IdOrNumber, E> {
        Ok(IdOrNumber::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<IdOrNumber, E> {
        match i64::try_from(number) {
            Ok(number) => Ok(IdOrNumber::Number(number)),
            Err(_) => Ok(IdOrNumber::Id(number.to_string())),
        }
    }
}
