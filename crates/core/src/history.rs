//! A conversation as the last utterance and its history, and the weights of their texts.

use crate::request::{Speaker, Utterance};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The last utterance of the user, and the utterances before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History<'a> {
    /// The last utterance of the user.
    pub now: &'a str,
    /// Earlier utterances of the user, the latest first.
    pub user: Vec<&'a str>,
    /// Earlier utterances of the system, the latest first.
    pub system: Vec<&'a str>,
}

/// Weights of earlier texts relative to the last utterance, whose weight is 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryWeights {
    /// Weight of the last utterance with its context ([`History::in_context`]).
    pub context: f64,
    /// Weight of the system's last utterance.
    pub system: f64,
    /// Factor of `system` per turn further back.
    pub decay: f64,
}

/// The role of a text in its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The first utterance of the user.
    Opening,
    /// An utterance of the system.
    Question {
        /// The turn, counted from 1.
        turn: usize,
        /// True if the user answered "no".
        refused: bool,
    },
    /// The user's reply in a turn, counted from 1.
    Answer(usize),
    /// The last utterance of the user.
    Last,
    /// The last utterance with its context ([`History::in_context`]).
    InContext,
    /// An utterance of the user before the last one.
    Earlier,
    /// An utterance of the system before the user's last one.
    Response,
    /// An utterance of the user, of which only the one nearest to a document counts.
    Nearest,
}

impl Role {
    /// True for texts of the system.
    pub fn is_system(self) -> bool {
        matches!(self, Self::Question { .. } | Self::Response)
    }
}

/// `answer 2`, for explanations.
impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opening => f.write_str("request"),
            Self::Question { turn, refused: false } => write!(f, "question {turn}"),
            Self::Question { turn, refused: true } => write!(f, "question {turn}, answered \"no\""),
            Self::Answer(turn) => write!(f, "answer {turn}"),
            Self::Last => f.write_str("last utterance"),
            Self::InContext => f.write_str("last utterance in its context"),
            Self::Earlier => f.write_str("earlier utterance"),
            Self::Response => f.write_str("response"),
            Self::Nearest => f.write_str("nearest utterance"),
        }
    }
}

/// A text of a conversation with its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedText<'a> {
    /// Its part in the conversation; explanations name it.
    pub role: Role,
    /// The words; a blank text does not count ([`WeightedText::counts`]).
    pub text: Cow<'a, str>,
    /// The weight relative to the last utterance or the request.
    pub weight: f64,
}

impl<'a> WeightedText<'a> {
    /// A text with its weight.
    pub fn new(role: Role, text: impl Into<Cow<'a, str>>, weight: f64) -> Self {
        Self { role, text: text.into(), weight }
    }

    /// Texts with their weights, the latest first: it has the given weight, and each earlier text
    /// `decay` times the weight of its successor.
    pub fn by_age(
        role: Role,
        texts: &[&'a str],
        weight: f64,
        decay: f64,
    ) -> impl Iterator<Item = Self> {
        texts.iter().zip(ages(decay)).map(move |(&text, age)| Self::new(role, text, weight * age))
    }

    /// True if the text is not blank and its weight is not 0.
    pub fn counts(&self) -> bool {
        self.weight != 0.0 && !self.text.trim().is_empty()
    }
}

impl<'a> History<'a> {
    /// The conversation up to the user's last utterance.
    pub fn of(utterances: &'a [Utterance]) -> Self {
        let last = utterances.iter().rposition(|utterance| utterance.speaker == Speaker::User);
        let (now, before) = match last {
            Some(last) => (utterances[last].text.as_str(), &utterances[..last]),
            None => ("", utterances),
        };
        let by = |speaker: Speaker| {
            let of_speaker = before.iter().rev().filter(|utterance| utterance.speaker == speaker);
            of_speaker.map(|utterance| utterance.text.as_str()).collect()
        };
        Self { now, user: by(Speaker::User), system: by(Speaker::System) }
    }

    /// The last utterance with its context: the user's utterance before, the last sentence of the
    /// response to it, and the last utterance, as one text.
    pub fn in_context(&self) -> String {
        let before = self.user.first().copied().unwrap_or_default();
        let response = self.system.first().copied().unwrap_or_default();
        let sentence = sentences(response).pop().unwrap_or_default();
        let texts = [before, sentence, self.now];
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The texts whose vectors are summed, without blank ones and those with a weight of 0.
    pub fn texts(&self, weights: &HistoryWeights) -> Vec<WeightedText<'a>> {
        let mut texts = vec![
            WeightedText::new(Role::Last, self.now, 1.0),
            WeightedText::new(Role::InContext, self.in_context(), weights.context),
        ];
        texts.extend(WeightedText::by_age(
            Role::Response,
            &self.system,
            weights.system,
            weights.decay,
        ));
        texts.retain(WeightedText::counts);
        texts
    }
}

/// 1, `decay`, `decay`², …
pub fn ages(decay: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(1.0), move |age| Some(age * decay))
}

/// The sentences of a text: each ends with a `.`, `!` or `?` before white space.
fn sentences(text: &str) -> Vec<&str> {
    let text = text.trim();
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut is_end = false;
    for (index, c) in text.char_indices() {
        if c.is_whitespace() && (is_end || start == index) {
            // More white space may follow the end of a sentence.
            if is_end {
                sentences.push(&text[start..index]);
            }
            start = index + c.len_utf8();
        }
        is_end = matches!(c, '.' | '!' | '?');
    }
    if start < text.len() {
        sentences.push(&text[start..]);
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utterances() -> Vec<Utterance> {
        let mut utterances = vec![Utterance::user("first")];
        for (system, user) in [("It is. So  it was!", "second"), ("A. B? C", "third")] {
            utterances.extend([Utterance::system(system), Utterance::user(user)]);
        }
        utterances
    }

    #[test]
    fn the_latest_come_first() {
        let utterances = utterances();
        let history = History::of(&utterances);
        assert_eq!(history.now, "third");
        assert_eq!(history.user, ["second", "first"]);
        assert_eq!(history.system, ["A. B? C", "It is. So  it was!"]);
        assert_eq!(history.in_context(), "second C third");
        assert_eq!(History::of(&utterances[..1]).in_context(), "first");
    }

    #[test]
    fn older_responses_count_less() {
        let utterances = utterances();
        let weights = HistoryWeights { context: 0.3, system: 0.4, decay: 0.5 };
        let texts = History::of(&utterances).texts(&weights);
        let weights: Vec<f64> = texts.iter().map(|text| text.weight).collect();
        assert_eq!(weights, [1.0, 0.3, 0.4, 0.2]);
    }

    #[test]
    fn sentences_end_before_white_space() {
        let cases: [(&str, &[&str]); 6] = [
            ("", &[]),
            (" One. ", &["One."]),
            ("One. Two", &["One.", "Two"]),
            ("One.  Two!\n Three? ", &["One.", "Two!", "Three?"]),
            ("Version 2.5 is out", &["Version 2.5 is out"]),
            ("Two  blanks here. End", &["Two  blanks here.", "End"]),
        ];
        for (text, expected) in cases {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }
}
