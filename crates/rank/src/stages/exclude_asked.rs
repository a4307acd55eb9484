//! Stage `exclude_asked`: what was asked once is not asked again. Drops the questions of the conversation so far, by text.

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::Build;
use clariq_corpus::Topic;
use clariq_corpus::conversation::Conversation;
use serde::{Deserialize, Serialize};

/// Takes no parameters.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExcludeAsked {}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(build.table.read::<ExcludeAsked>()?))
}

impl Stage for ExcludeAsked {
    fn name(&self) -> &'static str {
        "exclude_asked"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Before the first turn nothing was asked.
    fn apply(
        &self,
        _context: &Context,
        topics: &[Topic],
        rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        progress(topics.len() as u64);
        Ok(rankings)
    }

    fn apply_to_conversations(
        &self,
        context: &Context,
        conversations: &[Conversation],
        mut rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        for (conversation, ranking) in conversations.iter().zip(&mut rankings) {
            if !conversation.turns.is_empty() {
                ranking.retain(|hit| !conversation.asked(context.bank.text(hit.question)));
            }
        }
        progress(conversations.len() as u64);
        Ok(rankings)
    }
}
