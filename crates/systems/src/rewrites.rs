//! A file of utterances that a model or people rewrote so that each can be understood alone. They
//! replace the utterances of the user, as resolved utterances do for manual systems of iKAT.

use clariq_collections::Collection;
use clariq_collections::requests::texts_in;
use clariq_core::{Observer, Request, Result, Speaker, sha256_hex};
use clariq_files::{MOST_OF_A_TABLE, Source};
use clariq_rank::Uses;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Rewritten utterances, each by the id of the request whose last utterance it replaces.
#[derive(Debug)]
pub struct Rewrites {
    /// The name of the file, for messages.
    name: String,
    file: RewritesFile,
    /// The author, as a system declares it.
    by: Uses,
    texts: HashMap<String, String>,
}

/// The description of a file of rewrites in the record.
#[derive(Debug, Serialize)]
struct RewritesFile {
    file: String,
    sha256: String,
}

impl Rewrites {
    /// Reads JSON lines or a table of ids and texts. `by` is [`Uses::RewritesByModel`] or
    /// [`Uses::RewritesByPeople`].
    ///
    /// # Errors
    ///
    /// A line of another form, an empty text, and a repeated id.
    pub fn read(source: &Source, by: Uses) -> Result<Self> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        let sha256 = sha256_hex(&input.bytes);
        let texts = texts_in(&input)?;
        let file = input.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        Ok(Self { name: input.name, file: RewritesFile { file, sha256 }, by, texts })
    }

    /// The name of the file, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the file up to its first dot, without its folder.
    pub(crate) fn stem(&self) -> &str {
        self.file.file.split('.').next().unwrap_or_default()
    }

    /// The SHA-256 of the file.
    pub(crate) fn checksum(&self) -> &str {
        &self.file.sha256
    }

    /// The author, as a system declares it.
    pub(crate) fn by(&self) -> Uses {
        self.by
    }

    /// The ids of all rewrites, in no order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// Describes the file in the record of a run.
    pub fn describe(&self) -> Value {
        json!(self.file)
    }

    /// True if the last utterance of a request has a rewrite.
    pub fn has(&self, request: &Request) -> bool {
        self.texts.contains_key(request.id.as_str())
    }

    /// Warns about the number of requests without a rewrite.
    pub fn report_missing(&self, missing: u64, all: u64, observer: &dyn Observer) {
        if missing > 0 {
            let name = &self.name;
            observer.note(&format!(
                "warning: {name}: {missing} of {all} requests have no rewrite and stay unchanged"
            ));
        }
    }

    /// Replaces the utterances of the user in a request, earlier ones included. Utterances without a
    /// rewrite stay.
    pub(crate) fn apply(&self, collection: &dyn Collection, request: &mut Request) {
        let utterances = request.said.iter_mut().rev().filter(|said| said.speaker == Speaker::User);
        for (back, utterance) in utterances.enumerate() {
            let id = match back {
                0 => Some(request.id.to_string()),
                _ => collection.turn_before(request.id.as_str(), back),
            };
            let Some(id) = id else { break };
            if let Some(text) = self.texts.get(&id) {
                utterance.text.clone_from(text);
            }
        }
    }
}
