//! Rankings in a task whose documents are those of several tasks: each request is ranked over its own
//! part, with the statistics of that part.

use super::{RankedPart, Ranker, run};
use clariq_collections::DocumentPart;
use clariq_core::{Doc, Progress, Ranking, Request, Result};
use clariq_rank::{Context, Pipeline};

impl<'a> Ranker<'a> {
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
            let own = self.own_documents(part, *own)?;
            let among: Vec<Request> =
                places.iter().map(|place| own.request(&requests[*place])).collect();
            let found = run(pipeline, own.context, &among, progress)?;
            for (place, ranking) in places.iter().zip(found) {
                ranked[*place] = true;
                rankings[*place] = ranking;
                for hit in &mut rankings[*place] {
                    hit.doc.0 += own.first;
                }
            }
        }
        Ok(rankings)
    }

    /// The documents that a request is ranked over: its own among those of a part, or all of them.
    pub(super) fn own_documents(
        &self,
        part: RankedPart,
        own: Option<DocumentPart>,
    ) -> Result<OwnDocuments<'_, 'a>> {
        Ok(match own {
            Some(own) => OwnDocuments { context: self.contexts.of(own.task)?, first: own.first },
            None => OwnDocuments { context: self.context(part)?, first: 0 },
        })
    }
}

/// Documents with a context of their own, which stand one after the other among those of a task.
pub(super) struct OwnDocuments<'c, 'a> {
    pub(super) context: &'c Context<'a>,
    /// The place of the first among those of the task.
    first: u32,
}

impl OwnDocuments<'_, '_> {
    /// The number that a document of the task has among these.
    pub(super) fn find(&self, doc: Doc) -> Option<Doc> {
        let number = doc.0.checked_sub(self.first)?;
        (number < self.context.documents.len() as u32).then_some(Doc(number))
    }

    /// A request whose candidates are among these.
    pub(super) fn request(&self, request: &Request) -> Request {
        let mut request = request.clone();
        if let Some(candidates) = &mut request.candidates {
            *candidates = candidates.iter().filter_map(|doc| self.find(*doc)).collect();
        }
        request
    }
}
