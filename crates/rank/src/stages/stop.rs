//! Stage `stop`: puts the empty question first if the conversation, the need or the scores suggest
//! so. In a collection without an empty question, the ranking becomes empty.

use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use crate::stages::no_question::insert_at;
use clariq_core::{Doc, Explanation, Hit, Need, Ranking, Request, Result, Turn, one_or};
use clariq_index::Analyzer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Reasons to stop asking; all are optional.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stop {
    /// Stops after this many questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<usize>,
    /// Stops after this many questions in a row that were answered "no".
    #[serde(skip_serializing_if = "Option::is_none")]
    refusals: Option<usize>,
    /// Stops if the best question scores less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_score: Option<f64>,
    /// Stops if the best question is ahead of the next by less than this share of its score.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_margin: Option<f64>,
    /// Stops if the predicted need of the request is at most this.
    #[serde(skip_serializing_if = "Option::is_none")]
    need: Option<Need>,
    /// Stops if the best question has no word of the topic, in the tokens of this analyser.
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<Analyzer>,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>> {
    build.require_need_model("need")?;
    Ok(Box::new(build.table.read::<Stop>()?))
}

/// The prefix of the explanation of a sufficient reason.
pub const STOPS: &str = "stop: ";

/// A reason to stop: its value, and the sentence of a sufficient one or the rule that it follows.
struct Reason {
    what: String,
    value: f64,
    due: bool,
}

impl Reason {
    fn new(value: f64, due: bool, sentence: String, rule: String) -> Self {
        Self { what: if due { sentence } else { rule }, value, due }
    }
}

/// The topic words of a conversation. Of the opening, these are the words that an earlier question
/// contains, too, which excludes "tell" in "tell me about Saturn". Of the answers, they are the words
/// that are not much more common in the documents, which excludes "want" and "know": their idf,
/// log(N / df), is at least half of the smallest idf of the former.
fn topic(context: &Context, analyzer: Analyzer, request: &Request) -> Result<BTreeSet<String>> {
    let words = |text: &str| analyzer.tokens(text).into_iter().collect::<BTreeSet<_>>();
    let question_words: BTreeSet<String> =
        request.turns().flat_map(|turn| words(turn.system)).collect();
    let opening = words(request.opening());
    let mut topic = &opening & &question_words;
    if topic.is_empty() {
        return Ok(topic);
    }
    let index = context.index(analyzer)?;
    let mut commonest = 0;
    for word in &topic {
        commonest = commonest.max(index.documents_with(word)?);
    }
    let documents = index.documents() as u64;
    for word in request.turns().flat_map(|turn| words(turn.user)) {
        let frequency = index.documents_with(&word)?;
        if !opening.contains(&word) && frequency * frequency <= commonest * documents {
            topic.insert(word);
        }
    }
    Ok(topic)
}

impl Stop {
    /// All configured reasons, sufficient or not.
    fn reasons(
        &self,
        context: &Context,
        request: &Request,
        ranking: &Ranking,
    ) -> Result<Vec<Reason>> {
        let Some(best) = ranking.first() else {
            let none = "no question fits, or all that fit were asked".to_owned();
            return Ok(vec![Reason { what: none, value: 0.0, due: true }]);
        };
        let mut reasons = Vec::new();
        if let Some(most) = self.turns {
            let turns = request.turns().count();
            let sentence = format!(
                "{} asked, the most is {most}",
                one_or(turns, "1 question was", &format!("{turns} questions were"))
            );
            let rule = format!("questions asked, stops at {most}");
            reasons.push(Reason::new(turns as f64, turns >= most, sentence, rule));
        }
        if let Some(most) = self.refusals {
            let refusals = request.turns().rev().take_while(Turn::is_refused).count();
            let sentence = format!("{refusals} in a row were answered \"no\"");
            let rule = format!("in a row answered \"no\", stops at {most}");
            reasons.push(Reason::new(refusals as f64, refusals >= most, sentence, rule));
        }
        if let Some(least) = self.min_score {
            let sentence = format!("the best question scores {:.2}, below {least}", best.score);
            let rule = format!("score of the best question, stops below {least}");
            reasons.push(Reason::new(best.score, best.score < least, sentence, rule));
        }
        if let Some(least) = self.min_margin {
            let lead = |next: &Hit| (best.score - next.score) / best.score.abs();
            let margin = ranking.get(1).map_or(f64::INFINITY, lead);
            let sentence = format!("its lead is {margin:.2} of its score, below {least}");
            let rule = format!("its lead as a share of its score, stops below {least}");
            reasons.push(Reason::new(margin, margin < least, sentence, rule));
        }
        if let (Some(clear), Some(need)) = (self.need, request.need) {
            let sentence = format!("the request is clear (need {need} of 4)");
            let rule = format!("need of the request, stops up to {clear}");
            reasons.push(Reason::new(f64::from(need.get()), need <= clear, sentence, rule));
        }
        if let Some(analyzer) = self.topic {
            let topic = topic(context, analyzer, request)?;
            if !topic.is_empty() {
                let mut shared = analyzer.tokens(&context.documents.text(best.doc)?);
                shared.retain(|word| topic.contains(word));
                let words = topic.into_iter().collect::<Vec<_>>().join(", ");
                let sentence = format!("the best question has no word of the topic ({words})");
                let rule = format!("words of the topic in the best question, stops at 0: {words}");
                let value = shared.len() as f64;
                reasons.push(Reason::new(value, shared.is_empty(), sentence, rule));
            }
        }
        Ok(reasons)
    }
}

impl Stage for Stop {
    fn about(&self) -> About {
        About { sees_need: self.need.is_some(), ..About::new("stop", self) }
    }

    fn apply(&self, batch: &Batch, mut rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let empty_question = batch.context.documents.empty_question();
        for (request, ranking) in batch.requests.iter().zip(&mut rankings) {
            let reasons = self.reasons(batch.context, request, ranking)?;
            if reasons.iter().any(|reason| reason.due) {
                match empty_question {
                    Some(empty_question) => insert_at(ranking, empty_question, NonZeroUsize::MIN),
                    None => ranking.clear(),
                }
            }
        }
        Ok(rankings)
    }

    fn explain(&self, one: &Batch, _: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let Some(request) = one.requests.first() else { return Ok(None) };
        let reasons = self.reasons(one.context, request, before)?;
        let due = reasons.iter().any(|reason| reason.due);
        let mut parts = Vec::with_capacity(reasons.len());
        for Reason { what, value, due } in reasons {
            let sign = if due { STOPS } else { "" };
            parts.push(Explanation::value(value, format!("{sign}{what}")));
        }
        let what = if due { "asks nothing more" } else { "no reason to stop" };
        Ok(Some(Explanation::of(f64::from(u8::from(due)), what, parts)))
    }
}
