//! Stage `exclude`: which questions belong to somebody else? Those that were judged relevant for another request.
//!
//! Every question of the bank was written for one topic; of all of them, 7 are relevant to a topic of train and to one of
//! dev. A question that the labelled splits before this one list for their topics is therefore no candidate here. The empty
//! question is no question and stays.

use crate::config::Uses;
use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::Build;
use clariq_collections::clariq::conversation::Conversation;
use clariq_collections::clariq::{NO_QUESTION, Topic};
use clariq_core::{Location, Problem, ProblemKind};
use clariq_index::Explanation;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Takes questions out that were judged relevant for topics of earlier splits: train for dev, train and dev for test.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exclude {}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(build.table.read::<Exclude>()?))
}

/// The questions that were judged before, with the request that each was judged for.
fn judged(context: &Context) -> Result<HashMap<u32, String>, Error> {
    let mut judged = HashMap::new();
    for labelled in context.judged_before()? {
        for row in labelled.rows.iter().filter(|row| row.question.as_str() != NO_QUESTION) {
            if let Some(question) = context.bank.find(row.question.as_str()) {
                let topic = &labelled.topics[labelled.facets[row.facet].topic];
                judged.entry(question).or_insert_with(|| topic.request.clone());
            }
        }
    }
    Ok(judged)
}

impl Stage for Exclude {
    fn name(&self) -> &'static str {
        "exclude"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn uses(&self) -> Vec<Uses> {
        vec![Uses::TrainLabels]
    }

    fn apply(
        &self,
        context: &Context,
        topics: &[Topic],
        mut rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let judged = judged(context)?;
        for ranking in &mut rankings {
            ranking.retain(|hit| !judged.contains_key(&hit.question));
        }
        progress(topics.len() as u64);
        Ok(rankings)
    }

    /// Where a conversation is about a request that was judged itself, leaving out what was judged for the others would
    /// leave its own questions: the labels would choose.
    fn apply_to_conversations(
        &self,
        context: &Context,
        conversations: &[Conversation],
        rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        for labelled in context.judged_before()? {
            let requests: HashSet<&str> =
                labelled.topics.iter().map(|topic| topic.request.as_str()).collect();
            if let Some(known) =
                conversations.iter().find(|one| requests.contains(one.request.as_str()))
            {
                let expected =
                    format!("conversations about other requests than those of {}", labelled.name);
                let found = format!("context {} about {:?}", known.id, known.request);
                let at = Location::file("stage `exclude`");
                return Err(Problem::new(at, ProblemKind::Argument, expected, found)
                    .hint("leave the stage `exclude` out of the system, or take conversations about dev or test")
                    .into());
            }
        }
        let topics: Vec<Topic> = conversations.iter().map(Conversation::as_topic).collect();
        self.apply(context, &topics, rankings, progress)
    }

    fn explain(
        &self,
        context: &Context,
        _topic: &Topic,
        question: u32,
    ) -> Result<Option<Explanation>, Error> {
        let judged = judged(context)?;
        let request = judged.get(&question);
        Ok(request.map(|request| {
            Explanation::value(0.0, format!("taken out: it was written for \"{request}\""))
        }))
    }
}
