//! Names that become parts of file names.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;

/// The longest name; file systems allow 255 bytes, and endings are added.
const LONGEST: usize = 100;

/// A name of letters, digits, `-`, `_` and `.` that does not begin with a dot, so that no file
/// named after it leaves its folder or is hidden there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(String);

/// A text that is no [`Name`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a name of at most {LONGEST} letters, digits, `-`, `_` and `.` that begins with none, found {0:?}"
)]
pub struct BadName(String);

impl Name {
    /// Validates a name.
    pub fn new(text: impl Into<String>) -> Result<Self, BadName> {
        let text = text.into();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let sound = (1..=LONGEST).contains(&text.len())
            && !text.starts_with(['.', '-'])
            && text.chars().all(plain);
        if sound { Ok(Self(text)) } else { Err(BadName(text.chars().take(LONGEST).collect())) }
    }
}

impl TryFrom<String> for Name {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        Self::new(text)
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_folder() {
        for name in ["encoder", "bm25-tuned", "a_b.c", "7"] {
            assert_eq!(&*Name::new(name).unwrap(), name);
        }
        let long = "x".repeat(LONGEST + 1);
        for name in ["", ".", "..", ".hidden", "-x", "a/b", "../../../X", "a\\b", "a b", "ä", &long]
        {
            assert!(Name::new(name).is_err(), "{name}");
        }
    }
}
