//! Texts before other texts, which tell a model what it reads.

/// The prompts of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// Before requests, and before pairs.
    pub query: String,
    /// Before documents.
    pub document: String,
    /// True if their tokens count in the vector of a text.
    pub are_counted: bool,
}

impl Default for Prompts {
    fn default() -> Self {
        Self::of("", "")
    }
}

impl Prompts {
    /// Prompts whose tokens count.
    pub fn of(query: &str, document: &str) -> Self {
        Self { query: query.to_owned(), document: document.to_owned(), are_counted: true }
    }

    /// The prompts in force, where there is one, for a description.
    pub(crate) fn describe(&self) -> String {
        if self.query.is_empty() && self.document.is_empty() {
            return String::new();
        }
        let of = |prompt: &str, texts: &str| match prompt {
            "" => format!(", no prompt before {texts}"),
            prompt => format!(", `{prompt}` before {texts}"),
        };
        of(&self.query, "requests") + &of(&self.document, "documents")
    }
}
