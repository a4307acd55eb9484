//! Stage `stop`: when has enough been asked? Puts the empty question first where the conversation, the need of its request or
//! the scores say so.

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::no_question::{empty_question, place_first};
use crate::stages::{Build, no_need_model};
use clariq_collections::clariq::Topic;
use clariq_collections::clariq::conversation::{Conversation, Turn};
use clariq_core::Need;
use clariq_index::Explanation;
use serde::{Deserialize, Serialize};

/// Reasons to ask nothing more; each is left out where it is not given.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stop {
    /// So many questions were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<usize>,
    /// So many questions in a row were answered "no".
    #[serde(skip_serializing_if = "Option::is_none")]
    refusals: Option<usize>,
    /// The best question scores less.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_score: Option<f64>,
    /// The best question is ahead of the next by less than this share of its score, so that it is as good as drawn by lot.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_margin: Option<f64>,
    /// The request's predicted need is at most this: it is clear enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    need: Option<Need>,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>, Error> {
    let (at, predicted) = (build.table.at("need"), build.predicts_need());
    let stage: Stop = build.table.read()?;
    if stage.need.is_some() && !predicted {
        return Err(no_need_model(at, "need"));
    }
    Ok(Box::new(stage))
}

/// A reason to stop: what is looked at, in words and as a figure, and whether it is enough.
struct Reason {
    what: String,
    figure: f64,
    due: bool,
}

impl Stop {
    /// Every reason that is given, whether or not it is enough.
    fn reasons(&self, turns: &[Turn], need: Option<Need>, ranking: &Ranking) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let mut add =
            |figure: f64, due: bool, what: String| reasons.push(Reason { what, figure, due });
        let Some(best) = ranking.first() else {
            add(0.0, true, "questions are left".to_owned());
            return reasons;
        };
        let refusals = turns.iter().rev().take_while(|turn| turn.is_refused()).count();
        let margin = ranking
            .get(1)
            .map_or(f64::INFINITY, |next| (best.score - next.score) / best.score.abs());
        if let Some(most) = self.turns {
            add(
                turns.len() as f64,
                turns.len() >= most,
                format!("questions asked, stops at {most}"),
            );
        }
        if let Some(most) = self.refusals {
            add(
                refusals as f64,
                refusals >= most,
                format!("in a row answered \"no\", stops at {most}"),
            );
        }
        if let Some(least) = self.min_score {
            add(
                best.score,
                best.score < least,
                format!("score of the best question, stops below {least}"),
            );
        }
        if let Some(least) = self.min_margin {
            add(
                margin,
                margin < least,
                format!("its lead as a share of its score, stops below {least}"),
            );
        }
        if let (Some(clear), Some(need)) = (self.need, need) {
            add(
                f64::from(need.get()),
                need <= clear,
                format!("need of the request, stops up to {clear}"),
            );
        }
        reasons
    }

    fn is_due(&self, turns: &[Turn], need: Option<Need>, ranking: &Ranking) -> bool {
        self.reasons(turns, need, ranking).iter().any(|reason| reason.due)
    }

    fn tell(&self, turns: &[Turn], need: Option<Need>, ranking: &Ranking) -> Explanation {
        let reasons = self.reasons(turns, need, ranking);
        let due = reasons.iter().any(|reason| reason.due);
        let part = |reason: Reason| {
            let sign = if reason.due { "stop: " } else { "" };
            Explanation::value(reason.figure, format!("{sign}{}", reason.what))
        };
        let what = if due { "asks nothing more" } else { "no reason to stop" };
        Explanation::of(f64::from(u8::from(due)), what, reasons.into_iter().map(part).collect())
    }
}

impl Stage for Stop {
    fn name(&self) -> &'static str {
        "stop"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn apply(
        &self,
        context: &Context,
        topics: &[Topic],
        mut rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let empty = empty_question(context, self.name())?;
        for (topic, ranking) in topics.iter().zip(&mut rankings) {
            if self.is_due(&[], topic.need, ranking) {
                place_first(ranking, empty);
            }
        }
        progress(topics.len() as u64);
        Ok(rankings)
    }

    fn looks_at_need(&self) -> bool {
        self.need.is_some()
    }

    fn apply_to_conversations(
        &self,
        context: &Context,
        conversations: &[Conversation],
        mut rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let empty = empty_question(context, self.name())?;
        for (conversation, ranking) in conversations.iter().zip(&mut rankings) {
            if self.is_due(&conversation.turns, conversation.need, ranking) {
                place_first(ranking, empty);
            }
        }
        progress(conversations.len() as u64);
        Ok(rankings)
    }

    fn explain_ranked(
        &self,
        _context: &Context,
        topic: &Topic,
        _question: u32,
        before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        Ok(Some(self.tell(&[], topic.need, before)))
    }

    fn explain_conversation(
        &self,
        _context: &Context,
        conversation: &Conversation,
        _question: u32,
        before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        Ok(Some(self.tell(&conversation.turns, conversation.need, before)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_index::Hit;

    const NEVER: Stop =
        Stop { turns: None, refusals: None, min_score: None, min_margin: None, need: None };

    fn due(stop: &Stop, answers: &[&str], need: u8, scores: &[f64]) -> bool {
        let turn = |answer: &&str| Turn { question: "q".to_owned(), answer: (*answer).to_owned() };
        let turns: Vec<Turn> = answers.iter().map(turn).collect();
        let ranking = (0..).zip(scores).map(|(question, &score)| Hit { question, score }).collect();
        stop.is_due(&turns, Need::new(need), &ranking)
    }

    #[test]
    fn every_reason_is_enough_and_none_is_needed() {
        assert!(!due(&NEVER, &["no", "no", "no"], 1, &[0.1, 0.1]));
        assert!(due(&NEVER, &[], 4, &[]), "nothing is left to ask");
        let turns = Stop { turns: Some(2), ..NEVER };
        assert!(!due(&turns, &["yes"], 4, &[1.0]) && due(&turns, &["yes", "yes"], 4, &[1.0]));
        let refusals = Stop { refusals: Some(2), ..NEVER };
        assert!(
            !due(&refusals, &["no", "no", "yes"], 4, &[1.0])
                && due(&refusals, &["No.", "no thanks"], 4, &[1.0])
        );
        let score = Stop { min_score: Some(2.0), ..NEVER };
        assert!(!due(&score, &[], 4, &[2.0]) && due(&score, &[], 4, &[1.9]));
        let margin = Stop { min_margin: Some(0.1), ..NEVER };
        assert!(!due(&margin, &[], 4, &[10.0, 8.0]) && due(&margin, &[], 4, &[10.0, 9.5]));
        let need = Stop { need: Need::new(1), ..NEVER };
        assert!(!due(&need, &[], 2, &[1.0]) && due(&need, &[], 1, &[1.0]));
    }
}
