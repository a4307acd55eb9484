//! Utterances that were rewritten elsewhere, by a model or by people, so that each can be understood
//! alone. They replace what the user said, as resolved utterances do for manual systems of iKAT.

use clariq_collections::Collection;
use clariq_collections::requests::texts_in;
use clariq_core::{Observer, Request, Result, Speaker, sha256_hex};
use clariq_files::{MOST_OF_A_TABLE, Source};
use clariq_rank::Uses;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Rewritten utterances by the ids of the requests whose last one they are.
#[derive(Debug)]
pub struct Rewrites {
    /// The file as it was named, for messages.
    pub(crate) name: String,
    pub(crate) read: RewritesFile,
    /// Who wrote them, as a system declares it.
    pub(crate) by: Uses,
    pub(crate) texts: HashMap<String, String>,
}

/// What tells rewrites from others: a file's name without the folder, and its content.
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
    /// A line that is neither, an empty text, and an id that occurs twice.
    pub fn read(source: &Source, by: Uses) -> Result<Self> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        let (sha256, texts) = (sha256_hex(&input.bytes), texts_in(&input)?);
        let file = input.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        Ok(Self { name: input.name, read: RewritesFile { file, sha256 }, by, texts })
    }

    /// Whether the last utterance of a request has a rewrite.
    pub fn has(&self, request: &Request) -> bool {
        self.texts.contains_key(request.id.as_str())
    }

    /// Reports how many of `all` requests have no rewrite.
    pub fn report_missing(&self, missing: u64, all: u64, observer: &dyn Observer) {
        if missing > 0 {
            let name = &self.name;
            observer.note(&format!(
                "warning: {name}: {missing} of {all} requests have no rewrite, and stay as they are"
            ));
        }
    }

    /// Replaces what the user said in a request, in earlier turns as well. What has no rewrite stays.
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
