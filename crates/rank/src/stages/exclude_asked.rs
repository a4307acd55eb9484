//! Stage `exclude_asked`: drops texts that the system used in the conversation so far.

use crate::stage::{About, Batch, Stage};
use clariq_core::{Doc, Explanation, Ranking, Request, Result};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SameQuestion {
    /// Identical texts, as in the published baseline.
    #[default]
    Text,
    /// Identical except for white space, as the released files differ from their bank.
    Words,
}

impl SameQuestion {
    fn same(self, text: &str, other: &str) -> bool {
        match self {
            Self::Text => text == other,
            Self::Words => text.split_whitespace().eq(other.split_whitespace()),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExcludeAsked {
    /// How questions are compared: by their `text`, or by their `words`, whatever the white space.
    #[serde(default)]
    by: SameQuestion,
}

impl ExcludeAsked {
    /// The first turn, counted from 1, in which the system used a text.
    fn asked(&self, request: &Request, text: &str) -> Option<usize> {
        let mut numbered = (1..).zip(request.turns());
        numbered.find(|(_, turn)| self.by.same(turn.system, text)).map(|(number, _)| number)
    }
}

impl Stage for ExcludeAsked {
    fn about(&self) -> About {
        About::new("exclude_asked", self)
    }

    fn apply(&self, batch: &Batch, mut rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        for (request, ranking) in batch.requests.iter().zip(&mut rankings) {
            // Before the first turn nothing was asked.
            if request.has_turns() {
                let mut kept = Ranking::with_capacity(ranking.len());
                for hit in ranking.drain(..) {
                    let text = batch.context.documents.text(hit.doc)?;
                    if self.asked(request, &text).is_none() {
                        kept.push(hit);
                    }
                }
                *ranking = kept;
            }
        }
        Ok(rankings)
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let Some(request) = one.requests.first() else { return Ok(None) };
        let text = one.context.documents.text(doc)?;
        let what = match self.asked(request, &text) {
            Some(turn) => format!("taken out: asked in turn {turn}"),
            None => "not asked so far".to_owned(),
        };
        Ok(Some(Explanation::value(0.0, what)))
    }
}
