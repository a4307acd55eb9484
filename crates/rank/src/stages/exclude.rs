//! Stage `exclude`: takes documents out that were judged relevant for other requests.
//!
//! Every question of `ClariQ`'s bank was written for one topic; only 7 are relevant both to a topic
//! of train and to one of dev. A question that the labelled splits before this one list for
//! their topics is therefore no candidate here. The empty question has no topic and is kept.

use crate::context::Context;
use crate::stage::{About, Batch, Stage, Uses};
use clariq_core::{Doc, Explanation, JudgedSplit, Ranking, Request, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exclude {}

fn judged<'c>(context: &'c Context) -> Result<&'c [JudgedSplit]> {
    Ok(match context.surroundings.as_deref() {
        Some(surroundings) => surroundings.judged_before()?,
        None => &[],
    })
}

/// Refuses requests that were judged themselves, unless they are also in this split: excluding the
/// documents of all other requests would leave their own relevant ones, as their labels tell.
fn refuse_judged(context: &Context, requests: &[Request]) -> Result<()> {
    let Some(surroundings) = context.surroundings.as_deref() else { return Ok(()) };
    for judged in surroundings.judged_before()? {
        let known: HashSet<&str> = judged.requests.iter().map(String::as_str).collect();
        let mut judged_too =
            requests.iter().filter(|request| known.contains(request.opening())).peekable();
        if judged_too.peek().is_none() {
            continue;
        }
        let own: HashSet<&str> = surroundings.own_requests()?.iter().map(String::as_str).collect();
        if let Some(request) = judged_too.find(|request| !own.contains(request.opening())) {
            let expected =
                format!("conversations about other requests than those of {}", judged.source);
            let found = format!("context {} about {:?}", request.id, request.opening());
            let hint = "leave the stage `exclude` out of the system, or take conversations about \
                        dev or test";
            bail!("stage `exclude`", expected, found, hint)
        }
    }
    Ok(())
}

impl Stage for Exclude {
    /// Requests of test use the judgements of train and dev, all others those of train.
    fn about(&self) -> About {
        About { uses: vec![Uses::TrainLabels, Uses::DevLabels], ..About::new("exclude", self) }
    }

    fn apply(&self, batch: &Batch, mut rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        refuse_judged(batch.context, batch.requests)?;
        let relevant = judged(batch.context)?.iter().flat_map(|judged| &judged.relevant);
        let excluded: HashSet<Doc> = relevant.map(|&(doc, _)| doc).collect();
        for ranking in &mut rankings {
            ranking.retain(|hit| !excluded.contains(&hit.doc));
        }
        Ok(rankings)
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        for judged in judged(one.context)? {
            if let Some((_, request)) = judged.relevant.iter().find(|(known, _)| *known == doc) {
                let what = format!("taken out: it was written for {:?}", judged.requests[*request]);
                return Ok(Some(Explanation::value(0.0, what)));
            }
        }
        Ok(None)
    }
}
