//! A run whose documents are candidates.

use clariq_core::{Checksum, Doc, Documents, Location, Observer, Request, RequestId, Result, bail};
use clariq_files::{Run, RunLine, Source, parse_run, strictly};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// A run whose documents are the candidates of requests. Its scores are ignored.
pub struct CandidateRun {
    run: Run,
    sha256: Checksum,
}

impl CandidateRun {
    /// Reads a run.
    pub fn read(source: &Source) -> Result<Self> {
        let input = source.read()?;
        let sha256 = Checksum::of(&input.bytes);
        Ok(Self { run: strictly(|sink| parse_run(&input, sink))?, sha256 })
    }

    /// The ids of all its documents.
    pub fn ids(&self) -> HashSet<&str> {
        self.run.lines.iter().map(|line| line.document.as_str()).collect()
    }

    /// Describes the run for a record.
    pub(super) fn describe(&self) -> Value {
        let file = self.run.name.rsplit(['/', '\\']).next();
        json!({ "file": file, "sha256": self.sha256 })
    }

    /// The candidates of each request that are in `documents`. Warns about missing documents and about
    /// requests without candidates.
    ///
    /// # Errors
    ///
    /// No request or no document of the run is known.
    pub(super) fn candidates<'i>(
        &self,
        documents: &dyn Documents,
        requests: impl Iterator<Item = &'i RequestId>,
        observer: &dyn Observer,
    ) -> Result<CandidateDocs> {
        let mut candidates = CandidateDocs::default();
        let mut unknown: Vec<&RunLine> = Vec::new();
        for line in &self.run.lines {
            match documents.find(line.document.as_str()) {
                Some(doc) => candidates.0.entry(line.topic.to_string()).or_default().push(doc),
                None => unknown.push(line),
            }
        }
        let name = &self.run.name;
        if let Some(line) = unknown.first().filter(|_| candidates.0.is_empty()) {
            let at = Location::line(name, line.line);
            let found = format!("`{}`, and none of the others either", line.document);
            let hint = "--passages names files with the texts of the documents of that run";
            bail!(at, "documents whose texts are known", found, hint);
        }
        for docs in candidates.0.values_mut() {
            docs.sort_unstable();
            docs.dedup();
        }
        candidates.check_requests(name, requests, observer)?;
        for ignored in self.run.ignored.describe() {
            observer.note(&format!("warning: {name}: {ignored}"));
        }
        if let Some(line) = unknown.first() {
            let count = unknown.len();
            let all = self.run.lines.len();
            let id = &line.document;
            observer.note(&format!(
                "warning: {name}: {count} of {all} lines name documents without a text, such as \
                 `{id}`, which are left out"
            ));
        }
        Ok(candidates)
    }
}

/// Candidate documents by the ids of requests.
#[derive(Default)]
pub(super) struct CandidateDocs(HashMap<String, Vec<Doc>>);

impl CandidateDocs {
    /// Sets the candidates of a request; an empty list if the run has none for it.
    pub(super) fn set(&self, request: &mut Request) {
        request.candidates = Some(self.0.get(request.id.as_str()).cloned().unwrap_or_default());
    }

    /// Warns about requests without candidates. It is an error if no request has any.
    fn check_requests<'i>(
        &self,
        name: &str,
        requests: impl Iterator<Item = &'i RequestId>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut all = 0;
        let mut without = 0;
        for request in requests {
            all += 1;
            without += usize::from(!self.0.contains_key(request.as_str()));
        }
        if all > 0 && without == all {
            let topic = self.0.keys().min().map_or("", String::as_str);
            let found = format!("only for others, such as `{topic}`");
            let hint = "--split names the split that the run ranks for";
            bail!(name, "candidates for requests of the split", found, hint);
        }
        if without > 0 {
            observer
                .note(&format!("warning: {name}: no candidates for {without} of {all} requests"));
        }
        Ok(())
    }
}
