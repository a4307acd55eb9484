//! Stage `exclude_asked`: what was asked once is not asked again. Drops the questions of the conversation so far.

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::Build;
use clariq_collections::clariq::Topic;
use clariq_collections::clariq::conversation::Conversation;
use clariq_index::Explanation;
use serde::{Deserialize, Serialize};

/// When two questions are the same.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Same {
    /// To the letter, as the published baseline compares them.
    #[default]
    Text,
    /// Where they differ in nothing but blanks, as the released files do from their bank.
    Words,
}

impl Same {
    fn same(self, one: &str, other: &str) -> bool {
        match self {
            Self::Text => one == other,
            Self::Words => one.split_whitespace().eq(other.split_whitespace()),
        }
    }
}

/// Drops questions.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExcludeAsked {
    #[serde(default)]
    by: Same,
}

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
                let asked = |text: &str| {
                    conversation.turns.iter().any(|turn| self.by.same(&turn.question, text))
                };
                ranking.retain(|hit| !asked(context.bank.text(hit.question)));
            }
        }
        progress(conversations.len() as u64);
        Ok(rankings)
    }

    fn explain_conversation(
        &self,
        context: &Context,
        conversation: &Conversation,
        question: u32,
        _before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        let text = context.bank.text(question);
        let asked =
            (1..).zip(&conversation.turns).find(|(_, turn)| self.by.same(&turn.question, text));
        let what = asked.map_or_else(
            || "not asked so far".to_owned(),
            |(turn, _)| format!("taken out: asked in turn {turn}"),
        );
        Ok(Some(Explanation::value(0.0, what)))
    }
}
