//! Ids of requests, facets and documents, and names that become parts of file names.
//!
//! Ids are text, never numbers: `ClariQ` writes topics as integers, TREC collections do not.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(CompactString);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(CompactString::new(text))
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

id!(
    /// The id of a request, as runs and qrels have it: `101`.
    RequestId
);
id!(
    /// The id of a facet, one information need behind a topic: `F0010`.
    FacetId
);
id!(
    /// The id of a document: `Q00697`.
    DocId
);

/// The longest name; file systems allow 255 bytes, and endings are added.
const LONGEST: usize = 100;

/// A name of letters, digits, `-`, `_` and `.` that does not begin with a dot, so that no file
/// named after it leaves its folder or is hidden there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(String);

impl Name {
    /// Validates a name.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        if (1..=LONGEST).contains(&text.len())
            && !text.starts_with(['.', '-'])
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        {
            return Ok(Self(text));
        }
        let found: String = text.chars().take(LONGEST).collect();
        Err(format!(
            "expected a name of at most {LONGEST} letters, digits, `-`, `_` and `.` that begins \
             with a letter, a digit or `_`, found {found:?}"
        ))
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
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
