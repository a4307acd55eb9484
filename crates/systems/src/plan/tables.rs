//! The tables `[answer]` and `[ask]` of a system.

use super::HINT;
use super::summary::SummaryRule;
use clariq_collections::{SubmittedAnswer, SystemClass};
use clariq_core::{Hit, Location, Need, Request, Result, bail, number};
use clariq_index::Analyzer;
use clariq_rank::{About, Chat, ChatDefaults, ConfigSection, Pipeline, QUESTION};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// A response of 250 tokens has about 330 tokens of a language model, and as many around its sentences.
const ANSWER: ChatDefaults = ChatDefaults {
    prompt: "answer",
    variables: &["passages", "words", "form"],
    max_tokens: NonZeroU32::new(800).unwrap(),
};

/// The table `[answer]`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerConfig {
    /// The class of the system, which limits its input: `automatic`, `manual` or `only-response`.
    pub class: SystemClass,
    /// The number of passages in a submission per turn.
    #[serde(default = "number::<100, _>")]
    pub passages: usize,
    /// The choice of the statements that an answer uses; without it, none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statements: Option<StatementRule>,
    /// The number of responses per turn: the first is from the best `sources` passages, the second from the next ones,
    /// and so on.
    #[serde(default = "number::<1, _>")]
    pub responses: usize,
    /// The composition of the text; without it and the task `sentences`, the system only ranks.
    pub response: Option<ResponseRule>,
    /// The chat model that writes the text, and the task `sentences` is left out; without it, the text is an extract.
    #[serde(rename = "chat", skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub writer: Option<Chat>,
    /// The T5 that writes the text by summarising passages; without it, the text is an extract.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryRule>,
    /// Where no passage fits a first utterance, `ask` says so; without it, every passage fits. A run answers every turn
    /// all the same.
    pub fits: Option<FitRule>,
}

/// The share of the utterance's words that the best passage must have. A run answers every turn;
/// `clariq ask` reports that no passage fits.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FitRule {
    /// The analyser by which words are compared.
    pub analyzer: Analyzer,
    /// The minimum share of the words of the utterance, weighted by idf, without stop words.
    pub words: f64,
}

/// The rule that chooses statements: the best one, and others near to it.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StatementRule {
    /// The maximum number of statements; 0 for none.
    most: usize,
    /// The minimum score of a statement after the best.
    least: f64,
    /// The maximum difference to the score of the best.
    gap: f64,
    /// The score of the best below which none is chosen; by default, the best always is.
    none_below: Option<f64>,
}

/// The rule that composes a text of sentences of the best passages.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseRule {
    /// The number of passages whose sentences are used.
    pub sources: usize,
    /// The maximum number of tokens of an answer, which spaCy's count never exceeds.
    pub tokens: usize,
    /// The minimum number of words of an extracted sentence, if any sentence of a passage fits.
    #[serde(default)]
    pub fewest_words: usize,
    /// The maximum number of words of an extracted sentence.
    #[serde(default = "number::<ANY_LENGTH, _>")]
    pub most_words: usize,
}

/// More words than any sentence has.
const ANY_LENGTH: u16 = 1000;

/// The maximum number of responses per turn.
const MOST_RESPONSES: usize = 10;

/// The table `[ask]`: when a system asks a clarifying question in place of an answer. It asks if
/// one of the two conditions holds.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AskConfig {
    /// Ask if the predicted need is at least this.
    pub need: Option<Need>,
    /// Ask if the score of the best passage is below this.
    pub score_below: Option<f64>,
    /// The maximum number of questions in a conversation. Every earlier utterance of the system
    /// that ends in a question mark counts.
    #[serde(default = "number::<1, _>")]
    pub most: usize,
    /// The number of passages that the question offers.
    #[serde(default = "two_choices")]
    pub choices: usize,
    /// The chat model that writes the question; without it, the question offers extracts.
    #[serde(rename = "chat", skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub writer: Option<Chat>,
}

/// The maximum number of passages that a question offers.
const MOST_CHOICES: usize = 5;

fn two_choices() -> usize {
    2
}

impl AskConfig {
    pub(crate) fn read(mut section: ConfigSection) -> Result<Self> {
        let at = section.at.clone();
        let writer = Chat::take_from(&mut section, QUESTION)?;
        let config = Self { writer, ..section.read()? };
        if config.score_below.is_some_and(|score| !score.is_finite()) {
            bail!(at, "score_below as a finite number", "another", HINT);
        }
        if !(1..=MOST_CHOICES).contains(&config.choices) {
            let found = config.choices.to_string();
            bail!(at, "choices from 1 to {MOST_CHOICES}", found, HINT);
        }
        if config.writer.is_some() && config.choices != two_choices() {
            let hint = "a chat model is given the conversation, and no passages to choose from";
            bail!(at, "no key `choices` beside `chat`", (config.choices.to_string()), hint);
        }
        Ok(config)
    }

    /// Refuses a table without a condition, and questions made of extracts in a system without any.
    pub(super) fn check_beside_answers(&self, at: &Location, has_extracts: bool) -> Result<()> {
        if self.need.is_none() && self.score_below.is_none() {
            bail!(at, "a key `need` or `score_below`", "neither", HINT);
        }
        if !has_extracts && self.writer.is_none() {
            let expected = "a key `chat` in [ask], as in [answer]";
            bail!(at, expected, "questions made of extracts", HINT);
        }
        Ok(())
    }

    /// The chat model that writes questions.
    pub(super) fn about(&self) -> Option<About> {
        self.writer.as_ref().map(|writer| writer.about("ask", self))
    }

    /// The pipeline of a system that does not answer: its requests are the questions that a chat
    /// model writes.
    pub(super) fn write_questions(self, at: &Location, pipeline: Pipeline) -> Result<Pipeline> {
        if self.need.is_some() || self.score_below.is_some() {
            bail!(at, "a table [answer] beside [ask], which has conditions", "none", HINT);
        }
        if self.most != 1 {
            let expected = "a table [answer] beside [ask] with a key `most`";
            bail!(at, expected, "none", "the stage `stop` limits the questions of a conversation");
        }
        let Some(writer) = self.writer else {
            bail!(at, "a table [answer] beside [ask], or a key `chat`", "neither", HINT);
        };
        let Some(pipeline) = pipeline.with_questions(writer) else {
            let hint = "the question would be written for the rewritten utterance; leave one out";
            bail!(at, "either `rewrite` or [ask]", "both", hint);
        };
        Ok(pipeline)
    }

    /// The reason to ask in place of an answer, if there is one.
    pub fn reason(&self, request: &Request, passages: &[Hit]) -> Option<String> {
        let asked = request.turns().filter(|turn| turn.system.trim_end().ends_with('?'));
        if asked.count() >= self.most {
            return None;
        }
        let Some(best) = passages.first() else {
            // Extracts of passages make no question without any.
            let can_ask = self.score_below.is_some() && self.writer.is_some();
            return can_ask.then(|| "no passage was found".to_owned());
        };
        if let (Some(least), Some(need)) = (self.need, request.need)
            && need >= least
        {
            return Some(format!(
                "the predicted need is {need}, and the system asks from {least} on"
            ));
        }
        let least = self.score_below.filter(|least| best.score < *least)?;
        Some(format!("the best passage scores {}, and the system asks below {least}", best.score))
    }
}

impl AnswerConfig {
    pub(crate) fn read(mut section: ConfigSection) -> Result<Self> {
        let at = section.at.clone();
        let writer = Chat::take_from(&mut section, ANSWER)?;
        let config = Self { writer, ..section.read()? };
        config.check(&at)?;
        Ok(config)
    }

    /// True if responses are extracts of passages.
    pub(super) fn extracts(&self) -> bool {
        self.response.is_some() && self.writer.is_none() && self.summary.is_none()
    }

    /// The model that writes responses.
    pub(super) fn about(&self) -> Option<About> {
        if let Some(summary) = &self.summary {
            let models = vec![summary.model_name()];
            return Some(About { models, ..About::new("answer", self) });
        }
        self.writer.as_ref().map(|writer| writer.about("answer", self))
    }

    fn check(&self, at: &Location) -> Result<()> {
        let mut ranges = vec![
            ("passages", self.passages, 1..=SubmittedAnswer::MOST_PASSAGES),
            ("responses", self.responses, 1..=MOST_RESPONSES),
        ];
        if let Some(statements) = &self.statements {
            ranges.push(("statements.most", statements.most, 0..=SubmittedAnswer::MOST_PASSAGES));
        }
        if let Some(response) = &self.response {
            // The limit of a split is checked where the split is known.
            let tokens = SubmittedAnswer::MOST_TOKENS;
            ranges.push(("response.sources", response.sources, 1..=SubmittedAnswer::MOST_PASSAGES));
            ranges.push(("response.tokens", response.tokens, 1..=tokens));
        }
        for (key, value, range) in ranges {
            if !range.contains(&value) {
                let (from, to) = range.into_inner();
                bail!(at, "{key} from {from} to {to}", "{value}", HINT);
            }
        }
        if let Some(summary) = &self.summary {
            summary.check(at)?;
        }
        let writes = match (&self.writer, &self.summary) {
            (None, None) => None,
            (Some(_), None) => Some("chat"),
            (None, Some(_)) => Some("summary"),
            (Some(_), Some(_)) => bail!(at, "`chat` or `summary`", "both", HINT),
        };
        if let (Some(key), None) = (writes, &self.response) {
            bail!(at, "a key `response` beside `{key}`", "none", HINT);
        }
        if let (Some(key), Some(response)) = (writes, &self.response)
            && (response.fewest_words != 0 || response.most_words != usize::from(ANY_LENGTH))
        {
            let expected =
                format!("no keys `response.fewest_words` and `response.most_words` beside `{key}`");
            let hint = "they choose the sentences of an extract";
            bail!(at, expected, "one of them", hint);
        }
        if let Some(StatementRule { least, gap, none_below, .. }) = &self.statements {
            if !least.is_finite() || gap.is_nan() || *gap < 0.0 {
                let expected = "statements.gap of at least 0, and a number as least";
                bail!(at, expected, "least {least} and gap {gap}", HINT);
            }
            if let Some(score) = none_below.filter(|score| !score.is_finite()) {
                bail!(at, "a number as statements.none_below", "{score}", HINT);
            }
        }
        if let Some(fits) = self.fits.filter(|fits| !(0.0..=1.0).contains(&fits.words)) {
            let found = fits.words.to_string();
            bail!(at, "fits.words from 0 to 1", found, HINT);
        }
        if let Some(ResponseRule { fewest_words, most_words, .. }) = &self.response
            && fewest_words > most_words
        {
            let expected = "response.fewest_words below response.most_words";
            bail!(at, expected, "{fewest_words} to {most_words}", HINT);
        }
        Ok(())
    }
}

impl StatementRule {
    /// The number of the best statements that are chosen.
    pub fn count(&self, ranking: &[Hit]) -> usize {
        let Some(best) = ranking.first().filter(|_| self.most > 0) else { return 0 };
        if self.none_below.is_some_and(|least| best.score < least) {
            return 0;
        }
        let others = ranking[1..].iter().take(self.most - 1);
        let near =
            others.take_while(|hit| hit.score >= self.least && best.score - hit.score <= self.gap);
        1 + near.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Doc;

    #[test]
    fn the_best_statement_is_chosen_and_others_only_if_near() {
        let rule = StatementRule { most: 3, least: 0.3, gap: 0.2, none_below: None };
        let count_by = |rule: StatementRule, scores: &[f64]| {
            let hits: Vec<Hit> = scores.iter().map(|&score| Hit { doc: Doc(0), score }).collect();
            rule.count(&hits)
        };
        let count = |scores: &[f64]| count_by(rule, scores);
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[0.1]), 1);
        assert_eq!(count(&[0.6, 0.5, 0.45, 0.44]), 3);
        assert_eq!(count(&[0.6, 0.3]), 1);
        assert_eq!(count(&[0.35, 0.29]), 1);
        let may_leave_none = StatementRule { none_below: Some(0.4), ..rule };
        assert_eq!(count_by(may_leave_none, &[0.39, 0.38]), 0);
        assert_eq!(count_by(may_leave_none, &[0.4, 0.38]), 2);
        assert_eq!(count_by(StatementRule { most: 0, ..rule }, &[0.9]), 0);
    }
}
