//! Documents that a TREC run made elsewhere gives to requests: they are ranked in place of all.

use clariq_core::{Doc, Documents, Error, Location, Request, bail, sha256_hex};
use clariq_files::table::strictly;
use clariq_files::{Run, Source, parse_run};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// A run whose documents are candidates, whatever their scores.
pub struct Given {
    run: Run,
    sha256: String,
}

impl Given {
    /// Reads a run.
    pub fn read(source: &Source) -> Result<Self, Error> {
        let input = source.read()?;
        let sha256 = sha256_hex(&input.bytes);
        Ok(Self { run: strictly(|sink| parse_run(&input, sink))?, sha256 })
    }

    /// The ids of all documents that it names.
    pub fn ids(&self) -> HashSet<&str> {
        self.run.lines.iter().map(|line| line.question.as_str()).collect()
    }

    /// What tells it from other runs, for a record.
    pub(super) fn describe(&self) -> Value {
        let file = self.run.name.rsplit(['/', '\\']).next();
        json!({ "file": file, "sha256": self.sha256 })
    }

    /// The candidates of each request.
    ///
    /// # Errors
    ///
    /// A document that is none of `documents`.
    pub(super) fn candidates(&self, documents: &dyn Documents) -> Result<Candidates, Error> {
        let mut candidates: HashMap<String, Vec<Doc>> = HashMap::new();
        for line in &self.run.lines {
            let Some(doc) = documents.find(line.question.as_str()) else {
                let at = Location::line(&self.run.name, line.line);
                let (expected, id) = ("a document whose text is known", &line.question);
                let hint = "--passages names a file with the texts of the documents of that run";
                bail!(at, expected, "`{id}`", hint);
            };
            candidates.entry(line.topic.to_string()).or_default().push(doc);
        }
        for docs in candidates.values_mut() {
            docs.sort_unstable();
            docs.dedup();
        }
        Ok(Candidates(candidates))
    }
}

/// The documents that are ranked for each request.
pub(super) struct Candidates(HashMap<String, Vec<Doc>>);

impl Candidates {
    /// Gives a request its documents; none, where the run has none for it.
    pub(super) fn give(&self, request: &mut Request) {
        request.candidates = Some(self.0.get(request.id.as_str()).cloned().unwrap_or_default());
    }
}
