//! Values that files write in several forms: as texts or as numbers, as one text or several.

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::fmt;

/// A value that JSON may have as a text or as a number.
pub enum TextOrNumber {
    Text(String),
    Whole(i64),
    /// A number above `i64::MAX`.
    Large(u64),
    Float(f64),
}

impl TextOrNumber {
    /// Reads a value and converts it. A value that cannot be converted is an error, which shows
    /// `expected`.
    pub fn convert<'de, D: Deserializer<'de>, T>(
        deserializer: D,
        expected: &'static str,
        convert: fn(&Self) -> Option<T>,
    ) -> Result<T, D::Error> {
        let value = Self::read(deserializer, expected)?;
        convert(&value).ok_or_else(|| value.refuse(expected))
    }

    /// Reads a value. A value of another type is an error, which shows `expected`.
    fn read<'de, D: Deserializer<'de>>(
        deserializer: D,
        expected: &'static str,
    ) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrNumberVisitor(expected))
    }

    /// The error of a value that is not `expected`.
    fn refuse<E: Error>(&self, expected: &'static str) -> E {
        let found = match self {
            Self::Text(text) => Unexpected::Str(text),
            Self::Whole(number) => Unexpected::Signed(*number),
            Self::Large(number) => Unexpected::Unsigned(*number),
            Self::Float(number) => Unexpected::Float(*number),
        };
        E::invalid_value(found, &expected)
    }
}

struct TextOrNumberVisitor(&'static str);

impl Visitor<'_> for TextOrNumberVisitor {
    type Value = TextOrNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TextOrNumber, E> {
        Ok(TextOrNumber::Text(text.to_owned()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<TextOrNumber, E> {
        Ok(TextOrNumber::Whole(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<TextOrNumber, E> {
        Ok(i64::try_from(number).map_or(TextOrNumber::Large(number), TextOrNumber::Whole))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<TextOrNumber, E> {
        Ok(TextOrNumber::Float(number))
    }
}

impl<'de> Deserialize<'de> for TextOrNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer, "a text or a number")
    }
}

/// Reads a text or a list of texts; a missing value is an empty list.
pub fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Option::deserialize(deserializer)? {
        None => Vec::new(),
        Some(OneOrMany::One(text)) => vec![text],
        Some(OneOrMany::Many(texts)) => texts,
    })
}

/// An id, which JSON may have as a text or as a whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdOrNumber {
    Id(String),
    Number(i64),
}

impl IdOrNumber {
    /// The id; a number in decimal.
    pub fn into_text(self) -> String {
        match self {
            Self::Id(id) => id,
            Self::Number(number) => number.to_string(),
        }
    }
}

impl<'de> Deserialize<'de> for IdOrNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a text or a whole number";
        match TextOrNumber::read(deserializer, EXPECTED)? {
            TextOrNumber::Text(id) => Ok(Self::Id(id)),
            TextOrNumber::Whole(number) => Ok(Self::Number(number)),
            TextOrNumber::Large(number) => Ok(Self::Id(number.to_string())),
            float @ TextOrNumber::Float(_) => Err(float.refuse(EXPECTED)),
        }
    }
}
