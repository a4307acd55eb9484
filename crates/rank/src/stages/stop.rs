//! Stage `stop`: puts silence first where conversation, need or scores say that enough was asked.
//! Where the documents have no silence, nothing is left in its place.

use crate::build::Build;
use crate::stage::{About, Batch, Stage};
use crate::stages::no_question::insert_at;
use clariq_core::{Doc, Explanation, Hit, Need, Ranking, Request, Result, Turn};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

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
    /// The best question is ahead of the next by less than this share of its score.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_margin: Option<f64>,
    /// The request's predicted need is at most this: it is clear enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    need: Option<Need>,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>> {
    build.require_need_model("need")?;
    Ok(Box::new(build.table.read::<Stop>()?))
}

/// What the explanation of a reason that is enough begins with.
pub const STOPS: &str = "stop: ";

/// A reason to stop: what is looked at, in words and as a figure, and whether it is enough.
struct Reason {
    what: String,
    figure: f64,
    due: bool,
}

impl Stop {
    /// Every reason that is given, whether or not it is enough.
    fn reasons(&self, request: &Request, ranking: &Ranking) -> Vec<Reason> {
        let reason = |figure: f64, due: bool, what: String| Reason { what, figure, due };
        let Some(best) = ranking.first() else {
            return vec![reason(0.0, true, "questions are left".to_owned())];
        };
        let mut reasons = Vec::new();
        if let Some(most) = self.turns {
            let turns = request.turns().count();
            let what = format!("questions asked, stops at {most}");
            reasons.push(reason(turns as f64, turns >= most, what));
        }
        if let Some(most) = self.refusals {
            let refusals = request.turns().rev().take_while(Turn::is_refused).count();
            let what = format!("in a row answered \"no\", stops at {most}");
            reasons.push(reason(refusals as f64, refusals >= most, what));
        }
        if let Some(least) = self.min_score {
            let what = format!("score of the best question, stops below {least}");
            reasons.push(reason(best.score, best.score < least, what));
        }
        if let Some(least) = self.min_margin {
            let lead = |next: &Hit| (best.score - next.score) / best.score.abs();
            let margin = ranking.get(1).map_or(f64::INFINITY, lead);
            let what = format!("its lead as a share of its score, stops below {least}");
            reasons.push(reason(margin, margin < least, what));
        }
        if let (Some(clear), Some(need)) = (self.need, request.need) {
            let what = format!("need of the request, stops up to {clear}");
            reasons.push(reason(f64::from(need.get()), need <= clear, what));
        }
        reasons
    }

    fn is_due(&self, request: &Request, ranking: &Ranking) -> bool {
        self.reasons(request, ranking).iter().any(|reason| reason.due)
    }
}

impl Stage for Stop {
    fn about(&self) -> About {
        About { sees_need: self.need.is_some(), ..About::new("stop", self) }
    }

    fn apply(&self, batch: &Batch, mut rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let silence = batch.context.documents.silence();
        for (request, ranking) in batch.requests.iter().zip(&mut rankings) {
            if self.is_due(request, ranking) {
                match silence {
                    Some(silence) => insert_at(ranking, silence, NonZeroUsize::MIN),
                    None => ranking.clear(),
                }
            }
        }
        Ok(rankings)
    }

    fn explain(&self, one: &Batch, _: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let Some(request) = one.requests.first() else { return Ok(None) };
        let reasons = self.reasons(request, before);
        let due = reasons.iter().any(|reason| reason.due);
        let part = |reason: Reason| {
            let sign = if reason.due { STOPS } else { "" };
            Explanation::value(reason.figure, format!("{sign}{}", reason.what))
        };
        let what = if due { "asks nothing more" } else { "no reason to stop" };
        let parts = reasons.into_iter().map(part).collect();
        Ok(Some(Explanation::of(f64::from(u8::from(due)), what, parts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Utterance;

    const NEVER: Stop =
        Stop { turns: None, refusals: None, min_score: None, min_margin: None, need: None };

    fn due(stop: &Stop, answers: &[&str], need: u8, scores: &[f64]) -> bool {
        let mut request = Request { need: Need::new(need), ..Request::new("1", "r") };
        for &answer in answers {
            request.said.extend([Utterance::system("q"), Utterance::user(answer)]);
        }
        let hit = |(doc, &score): (u32, &f64)| Hit { doc: Doc(doc), score };
        stop.is_due(&request, &(0..).zip(scores).map(hit).collect())
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
