//! Ids of requests, topics, facets and questions.
//!
//! Ids are text, never numbers: `ClariQ` writes topics as integers, TREC collections do not.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;

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
    /// A request: what runs call it.
    RequestId
);
id!(
    /// A topic: one request of the collection, `101`.
    TopicId
);
id!(
    /// A facet: one information need behind a topic, `F0010`.
    FacetId
);
id!(
    /// A question of the bank, `Q00697`.
    QuestionId
);
