//! Stage `candidates`: the ranking of a TREC run made elsewhere, for other stages to rerank.

use crate::build::Build;
use crate::stage::{About, Batch, Stage};
use clariq_core::{
    Checksum, Doc, Explanation, Hit, Problem, Ranking, Request, Result, best_first, positive,
    problem,
};
use clariq_files::{Run, RunLine, Source, parse_run, strictly};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Once;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CandidatesKeys {
    /// The path of the run, relative to the current folder.
    run: String,
    /// The maximum number of documents per request; the default is that of TREC runs.
    #[serde(default = "positive::<1000>")]
    depth: NonZeroUsize,
}

struct Candidates {
    keys: CandidatesKeys,
    /// The SHA-256 of the run's content, which its path does not determine.
    checksum: Checksum,
    /// The run's lines, by topic.
    lines: Vec<RunLine>,
    /// The parts of the run that are not read.
    ignored: Vec<String>,
    warned: Once,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>> {
    let keys: CandidatesKeys = build.table.read()?;
    let input = Source::new(&keys.run).read()?;
    let checksum = Checksum::of(&input.bytes);
    let Run { mut lines, ignored, .. } = strictly(|sink| parse_run(&input, sink))?;
    // A stable sort: the lines of one topic stay in the order of the file.
    lines.sort_by(|a, b| a.topic.cmp(&b.topic));
    let ignored = ignored.describe();
    Ok(Box::new(Candidates { keys, checksum, lines, ignored, warned: Once::new() }))
}

/// Ranks the documents that another engine found (ids and scores) for a request: the best `depth`
/// of its candidates, each once. `unknown` is called with the position and the id of a document
/// that is not in the collection, and returns the problem to report.
pub(super) fn rank_found<'f>(
    batch: &Batch,
    request: &Request,
    found: impl IntoIterator<Item = (&'f str, f64)>,
    depth: usize,
    unknown: impl Fn(usize, &str) -> Problem,
) -> Result<Ranking> {
    let mut ranking = Ranking::new();
    for (index, (id, score)) in found.into_iter().enumerate() {
        let doc = batch.context.documents.find(id).ok_or_else(|| unknown(index, id))?;
        let own = request.candidates.as_ref();
        if own.is_none_or(|own| own.binary_search(&doc).is_ok()) {
            ranking.push(Hit { doc, score });
        }
    }
    ranking.sort_by(best_first);
    let mut seen = HashSet::new();
    ranking.retain(|hit| seen.insert(hit.doc));
    ranking.truncate(request.depth(depth));
    Ok(ranking)
}

impl Candidates {
    fn rank(&self, batch: &Batch, request: &Request) -> Result<Ranking> {
        let id = request.id.as_str();
        let start = self.lines.partition_point(|line| line.topic.as_str() < id);
        let end = self.lines.partition_point(|line| line.topic.as_str() <= id);
        let lines = &self.lines[start..end];
        let found = lines.iter().map(|line| (line.document.as_str(), line.score));
        rank_found(batch, request, found, self.keys.depth.get(), |index, id| {
            let at = (self.keys.run.as_str(), lines[index].line);
            let hint = "the run must be made over the documents that are ranked here";
            problem!(at, "the id of a document of this collection", "`{id}`", hint)
        })
    }
}

impl Stage for Candidates {
    fn about(&self) -> About {
        let mut about = About::new("candidates", &self.keys);
        about.parameters["sha256"] = self.checksum.as_str().into();
        about
    }

    fn apply(&self, batch: &Batch, _: Vec<Ranking>) -> Result<Vec<Ranking>> {
        self.warned.call_once(|| {
            for ignored in &self.ignored {
                batch.context.observer.note(&format!("warning: {}: {ignored}", self.keys.run));
            }
        });
        batch.requests.iter().map(|request| self.rank(batch, request)).collect()
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let Some(request) = one.requests.first() else { return Ok(None) };
        let ranking = self.rank(one, request)?;
        let hit = ranking.iter().find(|hit| hit.doc == doc);
        Ok(hit.map(|hit| Explanation::value(hit.score, format!("its score in {}", self.keys.run))))
    }
}
