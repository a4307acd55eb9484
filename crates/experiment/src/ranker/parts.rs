//! Rankings in a task whose documents are those of several tasks: each request is ranked over its own
//! part, with the statistics of that part.

use super::{RankedPart, Ranker, run};
use clariq_collections::DocumentPart;
use clariq_core::{Doc, Progress, Ranking, Request, Result};
use clariq_rank::Pipeline;

impl Ranker<'_> {
    /// Runs a pipeline over the documents of each request.
    pub(super) fn run_in_parts(
        &self,
        pipeline: &Pipeline,
        part: RankedPart,
        requests: &[Request],
        progress: Progress,
    ) -> Result<Vec<Ranking>> {
        let task = self.task(part)?;
        let collection = self.session().collection;
        let of = |request: &Request| collection.part_of(task, request.id.as_str());
        let parts: Vec<Option<DocumentPart>> = requests.iter().map(of).collect();
        if parts.iter().all(Option::is_none) {
            return run(pipeline, self.context(part)?, requests, progress);
        }
        let mut rankings = vec![Ranking::new(); requests.len()];
        let mut ranked = vec![false; requests.len()];
        for (start, own) in parts.iter().enumerate() {
            if ranked[start] {
                continue;
            }
            let places: Vec<usize> =
                (start..parts.len()).filter(|place| parts[*place] == *own).collect();
            let context = match own {
                Some(own) => self.contexts.of(own.task)?,
                None => self.context(part)?,
            };
            let first = own.map_or(0, |own| own.first);
            let count = context.documents.len() as u32;
            let among: Vec<Request> =
                places.iter().map(|place| within(&requests[*place], first, count)).collect();
            for (place, ranking) in places.iter().zip(run(pipeline, context, &among, progress)?) {
                ranked[*place] = true;
                rankings[*place] = ranking;
                for hit in &mut rankings[*place] {
                    hit.doc.0 += first;
                }
            }
        }
        Ok(rankings)
    }
}

/// A request whose candidates have their numbers in a part of the documents.
pub(super) fn within(request: &Request, first: u32, count: u32) -> Request {
    let mut request = request.clone();
    if let Some(candidates) = &mut request.candidates {
        candidates.retain(|doc| (first..first + count).contains(&doc.0));
        for doc in candidates {
            *doc = Doc(doc.0 - first);
        }
    }
    request
}
