//! The model that a server really has.
//!
//! The name in a configuration may stand for any model: a server with one model often answers to
//! every name. Answers in the cache therefore belong to the name that the server itself gives.

use clariq_core::Checksum;
use std::sync::OnceLock;

/// The names of a model on a server.
#[derive(Debug)]
pub(super) struct Identity {
    /// The name in the configuration.
    declared: String,
    /// The name that the server gives; empty if it gives none.
    served: OnceLock<String>,
}

impl Identity {
    pub(super) fn new(declared: &str, served: Option<String>) -> Self {
        let served = served.map_or_else(OnceLock::new, OnceLock::from);
        Self { declared: declared.to_owned(), served }
    }

    /// The name that the server gives, once it is known.
    pub(super) fn served(&self) -> Option<&str> {
        self.served.get().map(String::as_str)
    }

    pub(super) fn set_served(&self, name: &str) {
        self.served.get_or_init(|| name.to_owned());
    }

    /// The key of that name in the file of answers.
    pub(super) fn journal_key(&self) -> String {
        format!("model-{}", Checksum::of(self.declared.as_bytes()))
    }
}

/// The key of an answer in the cache: that of its request, and the model that gave it.
pub(super) fn cache_key(request_key: &str, served: &str) -> String {
    if served.is_empty() {
        return request_key.to_owned();
    }
    Checksum::of(format!("{request_key} {served}").as_bytes()).to_string()
}
