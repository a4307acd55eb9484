//! Utterances that a model or people rewrote so that each can be understood alone. They replace the
//! utterances of the user, as resolved utterances do for manual systems of iKAT.

use clariq_collections::Collection;
use clariq_collections::requests::texts_in;
use clariq_core::{Observer, Request, Result, Speaker, sha256_hex};
use clariq_files::{MOST_OF_A_TABLE, Source};
use clariq_rank::Uses;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Rewritten utterances, each by the id of the request whose last utterance it replaces.
#[derive(Debug)]
pub struct Rewrites {
    /// The name of the file, for messages.
    pub(crate) name: String,
    pub(crate) read: RewritesFile,
    /// Their author, as a system declares it.
    pub(crate) by: Uses,
    pub(crate) texts: HashMap<String, String>,
}

/// The description of a file of rewrites in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RewritesFile {
    pub(crate) file: String,
    pub(crate) sha256: String,
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
        Ok(Self { name: input.name, read: RewritesFile { file, sha256 }, by, texts })
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
                "warning: {name}: {missing} of {all} requests have no rewrite, and stay as they are"
            ));
        }
    }

    /// Replaces the utterances of the user in a request, earlier ones included. Utterances without a
    /// rewrite stay.
    pub(crate) fn apply(&self, collection: &dyn Collection, request: &mut Request) {
        let of_user = request.said.iter_mut().rev().filter(|said| said.speaker == Speaker::User);
        for (back, said) in of_user.enumerate() {
            let id = match back {
                0 => Some(request.id.to_string()),
                _ => collection.turn_before(request.id.as_str(), back),
            };
            let Some(id) = id else { break };
            if let Some(text) = self.texts.get(&id) {
                said.text.clone_from(text);
            }
        }
    }
}
