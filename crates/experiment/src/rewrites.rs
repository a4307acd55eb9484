//! A file of utterances that a model or people rewrote so that each can be understood alone. They
//! replace the utterances of the user, as resolved utterances do for manual systems of iKAT.

use crate::run::RunInput;
use crate::systems::{SystemConfig, suffix};
use clariq_collections::Collection;
use clariq_collections::requests::texts_in;
use clariq_core::{Observer, Request, Result, Speaker, bail, printable, sha256_hex};
use clariq_files::{MOST_OF_A_TABLE, Source};
use clariq_rank::{REWRITE, Uses};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The maximum number of characters of an id in a message.
const SHOWN: usize = 200;

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    fn apply(&self, collection: &dyn Collection, request: &mut Request) {
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

    /// Warns about requests without a rewrite and ids without a request.
    ///
    /// # Errors
    ///
    /// No id is that of a request.
    fn check(&self, input: &dyn RunInput, observer: &dyn Observer) -> Result<()> {
        let mut unmatched: HashSet<&str> = self.texts.keys().map(String::as_str).collect();
        let mut example = String::new();
        let mut all = 0;
        let mut matched = 0;
        input.read(&mut |query| {
            let request = &query.request;
            all += 1;
            matched += u64::from(self.has(request));
            unmatched.remove(request.id.as_str());
            example = request.id.to_string();
            ControlFlow::Continue(())
        })?;
        let name = &self.name;
        let location = input.location();
        let unknown = unmatched.len();
        let other = printable(unmatched.into_iter().min().unwrap_or_default(), SHOWN);
        if matched == 0 && all > 0 {
            let hint = format!("its ids look like `{example}`; --split names another split");
            bail!(&**name, "rewrites of requests of {location}", "`{other}` and others", hint);
        }
        self.report_missing(all - matched, all, observer);
        if unknown > 0 {
            observer.note(&format!(
                "warning: {name}: {unknown} ids belong to no request of {location}, such as \
                 `{other}`"
            ));
        }
        Ok(())
    }
}

impl SystemConfig {
    /// Adds rewrites, which the system declares and the names of its runs contain.
    ///
    /// # Errors
    ///
    /// A system whose own model rewrites utterances.
    pub fn with_rewrites(mut self, rewrites: Option<&Arc<Rewrites>>) -> Result<Self> {
        let Some(rewrites) = rewrites else { return Ok(self) };
        if self.plan.stages().any(|stage| stage.name == REWRITE) {
            let found = format!("`{}`, which has a key `rewrite`", self.name);
            let hint = "the rewrites would be rewritten; leave one of the two out";
            bail!("--rewrites", "a system without a model that rewrites", found, hint);
        }
        let RewritesFile { file, sha256 } = &rewrites.file;
        let stem = file.split('.').next().unwrap_or_default();
        self.variant += &suffix(&format!("-rewrites-{stem}"), sha256);
        self.uses.push(rewrites.by);
        self.rewrites = Some(Arc::clone(rewrites));
        Ok(self)
    }

    /// Refuses an input that does not fit the system. Warns about requests without a rewrite.
    pub fn check_input(&self, input: &dyn RunInput, observer: &dyn Observer) -> Result<()> {
        if let Some(rewrites) = &self.rewrites {
            rewrites.check(input, observer)?;
        }
        input.check(self)
    }

    /// Replaces the utterances of requests by their rewrites, if there are any.
    pub(crate) fn apply_rewrites(&self, collection: &dyn Collection, requests: &mut [Request]) {
        if let Some(rewrites) = &self.rewrites {
            for request in requests {
                rewrites.apply(collection, request);
            }
        }
    }

    /// Describes the rewrites in the record of a run.
    pub(crate) fn record_rewrites(&self, record: &mut Value) {
        if let Some(rewrites) = &self.rewrites {
            record["rewrites"] = json!(rewrites.file);
        }
    }
}
