//! Utterances that were rewritten elsewhere, by a model or by people, so that each can be understood
//! alone. They replace what the user said, as resolved utterances do for manual systems of iKAT.

use crate::run::Input;
use clariq_collections::{Collection, texts_in};
use clariq_core::{Error, Observer, Request, Speaker, bail, printable, sha256_hex};
use clariq_files::{MOST_OF_A_TABLE, Source};
use clariq_rank::Uses;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// Characters of an id that a message shows.
const SHOWN: usize = 200;

/// Rewritten utterances by the ids of the requests whose last one they are.
#[derive(Debug)]
pub struct Rewrites {
    /// The file as it was named, for messages.
    name: String,
    /// Its name without the folder.
    file: String,
    sha256: String,
    by: Uses,
    texts: HashMap<String, String>,
}

impl Rewrites {
    /// Reads JSON lines or a table of ids and texts. `by` is [`Uses::RewritesByModel`] or
    /// [`Uses::RewritesByPeople`].
    ///
    /// # Errors
    ///
    /// A line that is neither, an empty text, and an id that occurs twice.
    pub fn read(source: &Source, by: Uses) -> Result<Self, Error> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        let (sha256, texts) = (sha256_hex(&input.bytes), texts_in(&input)?);
        let file = input.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        Ok(Self { name: input.name, file, sha256, by, texts })
    }

    /// Who wrote them, as a system declares it.
    pub fn by(&self) -> Uses {
        self.by
    }

    /// The name of the file up to the first dot.
    pub(crate) fn stem(&self) -> &str {
        self.file.split('.').next().unwrap_or_default()
    }

    /// The SHA-256 of the file's content.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// What tells them from others, for a record.
    pub(crate) fn describe(&self) -> Value {
        json!({ "file": self.file, "sha256": self.sha256 })
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

    /// Reports how many requests have no rewrite, and how many ids are of no request.
    ///
    /// # Errors
    ///
    /// All are of other requests.
    pub fn check(&self, input: &dyn Input, observer: &dyn Observer) -> Result<(), Error> {
        let (mut all, mut known) = (0, 0);
        let mut others: HashSet<&str> = self.texts.keys().map(String::as_str).collect();
        let mut example = String::new();
        input.read(0, &mut |query| {
            all += 1;
            known += usize::from(self.texts.contains_key(query.request.id.as_str()));
            others.remove(query.request.id.as_str());
            example = query.request.id.to_string();
            ControlFlow::Continue(())
        })?;
        let (name, location) = (&self.name, input.location());
        let (unknown, other) = (others.len(), others.into_iter().min().unwrap_or_default());
        let other = printable(other, SHOWN);
        if known == 0 && all > 0 {
            let hint = format!("ids there are like `{example}`; --split names another split");
            bail!(&**name, "rewrites of requests of {location}", "`{other}` and the like", hint);
        }
        if known < all {
            let without = all - known;
            observer.note(&format!(
                "warning: {name}: {without} of {all} requests have no rewrite, and stay as they are"
            ));
        }
        if unknown > 0 {
            observer.note(&format!(
                "warning: {name}: {unknown} ids are of no request of {location}, such as `{other}`"
            ));
        }
        Ok(())
    }
}
