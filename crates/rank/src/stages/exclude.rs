//! Stage `exclude`: takes documents out that were judged relevant for other requests.
//!
//! Every question of `ClariQ`'s bank was written for one topic; of all of them, 7 are relevant to a
//! topic of train and to one of dev. A question that the labelled splits before this one list for
//! their topics is therefore no candidate here. Silence belongs to nobody and stays.

use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage, Uses};
use clariq_core::Error;
use clariq_core::{Doc, Explanation, Judged, Location, Problem, ProblemKind, Ranking, Request};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exclude {}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(build.table.read::<Exclude>()?))
}

fn judged<'c>(context: &'c Context) -> Result<&'c [Judged], Error> {
    Ok(match context.surroundings.as_deref() {
        Some(surroundings) => surroundings.judged_before()?,
        None => &[],
    })
}

/// Refuses requests that were judged themselves, unless they are of this split as well: without
/// what was judged for the others, their own documents would be left, and the labels would choose.
fn refuse_judged(context: &Context, requests: &[Request]) -> Result<(), Error> {
    let mut own: Option<HashSet<&str>> = None;
    for judged in judged(context)? {
        let known: HashSet<&str> = judged.requests.iter().map(String::as_str).collect();
        for request in requests.iter().filter(|request| known.contains(request.opening())) {
            let own = match (&mut own, context.surroundings.as_deref()) {
                (Some(own), _) => own,
                (own, Some(surroundings)) => {
                    let requests = surroundings.own_requests()?;
                    own.insert(requests.iter().map(String::as_str).collect())
                }
                (own, None) => own.insert(HashSet::new()),
            };
            if !own.contains(request.opening()) {
                return Err(judged_itself(&judged.source, request).into());
            }
        }
    }
    Ok(())
}

fn judged_itself(source: &str, request: &Request) -> Problem {
    let expected = format!("conversations about other requests than those of {source}");
    let found = format!("context {} about {:?}", request.id, request.opening());
    let hint =
        "leave the stage `exclude` out of the system, or take conversations about dev or test";
    Problem::new(Location::file("stage `exclude`"), ProblemKind::Argument, expected, found)
        .hint(hint)
}

impl Stage for Exclude {
    /// Requests of test see what was judged for train and dev, all others what was judged for
    /// train.
    fn about(&self) -> About {
        About { uses: vec![Uses::TrainLabels, Uses::DevLabels], ..About::new("exclude", self) }
    }

    fn apply(&self, batch: &Batch, mut rankings: Vec<Ranking>) -> Result<Vec<Ranking>, Error> {
        refuse_judged(batch.context, batch.requests)?;
        let relevant = judged(batch.context)?.iter().flat_map(|judged| &judged.relevant);
        let taken: HashSet<Doc> = relevant.map(|&(doc, _)| doc).collect();
        for ranking in &mut rankings {
            ranking.retain(|hit| !taken.contains(&hit.doc));
        }
        batch.finish();
        Ok(rankings)
    }

    fn explain(
        &self,
        one: &Batch,
        doc: Doc,
        _before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        for judged in judged(one.context)? {
            if let Some((_, request)) = judged.relevant.iter().find(|(known, _)| *known == doc) {
                let what = format!("taken out: it was written for {:?}", judged.requests[*request]);
                return Ok(Some(Explanation::value(0.0, what)));
            }
        }
        Ok(None)
    }
}
