//! Earlier turns of a conversation whose last utterance is what is asked now.

use crate::error::Error;
use crate::table::Table;
use clariq_core::{Location, Problem, ProblemKind, Request, Speaker};
use serde::{Deserialize, Serialize};

/// What a term of an earlier turn counts where one of the last utterance counts 1.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TermHistory {
    /// A term that the user said one turn ago, however often.
    user: f64,
    /// A term that the system said one turn ago, however often.
    system: f64,
    /// What both are multiplied by for each turn that has come since.
    decay: f64,
}

impl TermHistory {
    /// Takes the key `history` out of a stage's table, if it is there.
    pub(super) fn take(table: &mut Table) -> Result<Option<Self>, Error> {
        let at = table.at("history");
        let Some(history) = table.take_table("history")? else { return Ok(None) };
        let history: Self = history.read()?;
        check_weights(&[history.user, history.system, history.decay], at)?;
        Ok(Some(history))
    }

    /// What was said, the last utterance first, each text with what a term of it counts.
    pub(super) fn weighed<'a>(&self, said: &Said<'a>) -> Vec<(&'a str, f64)> {
        let mut weighed = vec![(said.now, 1.0)];
        for (texts, weight) in [(&said.user, self.user), (&said.system, self.system)] {
            weighed.extend(
                texts.iter().zip(ages(self.decay)).map(|(text, age)| (*text, weight * age)),
            );
        }
        weighed.retain(|(_, weight)| *weight != 0.0);
        weighed
    }
}

/// Refuses weights of which no order comes, and those that grow with age.
pub(super) fn check_weights(all: &[f64], at: Location) -> Result<(), Problem> {
    let is_sound = |weight: &f64| weight.is_finite() && *weight >= 0.0;
    let decays = all.last().is_none_or(|decay| *decay <= 1.0);
    if all.iter().all(is_sound) && decays {
        return Ok(());
    }
    let expected = "weights of at least 0, with a decay from 0 to 1";
    Err(Problem::new(at, ProblemKind::Configuration, expected, format!("{all:?}"))
        .hint("what counts nothing has the weight 0; configs/ikat-automatic.toml is an example"))
}

/// 1, `decay`, `decay`², …
pub(super) fn ages(decay: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(1.0), move |age| Some(age * decay))
}

/// The last utterance of the user, and what was said before it.
#[derive(Debug, PartialEq)]
pub(super) struct Said<'a> {
    /// What the user says now.
    pub(super) now: &'a str,
    /// What the user said before, the latest first.
    pub(super) user: Vec<&'a str>,
    /// What the system said before, the latest first.
    pub(super) system: Vec<&'a str>,
}

impl<'a> Said<'a> {
    pub(super) fn of(request: &'a Request) -> Self {
        let last = request.said.iter().rposition(|utterance| utterance.speaker == Speaker::User);
        let (now, before) = match last {
            Some(last) => (request.said[last].text.as_str(), &request.said[..last]),
            None => ("", &request.said[..]),
        };
        let by = |speaker: Speaker| {
            let of_speaker = before.iter().rev().filter(move |said| said.speaker == speaker);
            of_speaker.map(|said| said.text.as_str()).collect()
        };
        Self { now, user: by(Speaker::User), system: by(Speaker::System) }
    }

    /// The last utterance behind what led to it: the utterance before, the last sentence of the
    /// response to that, and the utterance itself, as one text.
    pub(super) fn in_context(&self) -> String {
        let before = self.user.first().copied().unwrap_or_default();
        let response = self.system.first().copied().unwrap_or_default();
        let texts = [before, last_sentence(response), self.now];
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// The last sentence of a text: what follows the last `.`, `!` or `?` that has white space behind
/// it.
fn last_sentence(text: &str) -> &str {
    let text = text.trim();
    let mut start = 0;
    let mut is_end = false;
    for (index, c) in text.char_indices() {
        if c.is_whitespace() && is_end {
            start = index;
        }
        // White space goes on where a sentence has ended.
        is_end = matches!(c, '.' | '!' | '?') || is_end && c.is_whitespace();
    }
    text[start..].trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Utterance;

    fn request() -> Request {
        let mut request = Request::new("1_3", "first");
        for (system, user) in [("It is. So  it was!", "second"), ("A. B? C", "third")] {
            request.said.extend([Utterance::system(system), Utterance::user(user)]);
        }
        request
    }

    #[test]
    fn the_latest_come_first() {
        let request = request();
        let said = Said::of(&request);
        assert_eq!(said.now, "third");
        assert_eq!(said.user, ["second", "first"]);
        assert_eq!(said.system, ["A. B? C", "It is. So  it was!"]);
        assert_eq!(said.in_context(), "second C third");
        let single = Request::new("1", "alone");
        assert_eq!(Said::of(&single).in_context(), "alone");
    }

    #[test]
    fn older_turns_count_less() {
        let history = TermHistory { user: 0.1, system: 0.06, decay: 0.5 };
        let request = request();
        let weighed = history.weighed(&Said::of(&request));
        let weights: Vec<f64> = weighed.iter().map(|(_, weight)| *weight).collect();
        assert_eq!(weights, [1.0, 0.1, 0.05, 0.06, 0.03]);
    }

    #[test]
    fn sentences_end_before_white_space() {
        for (text, expected) in [
            ("", ""),
            ("One.", "One."),
            ("One. Two", "Two"),
            ("One.  Two!\n Three? ", "Three?"),
            ("Version 2.5 is out", "Version 2.5 is out"),
        ] {
            assert_eq!(last_sentence(text), expected, "{text}");
        }
    }

    #[test]
    fn weights_that_grow_or_are_no_numbers_are_refused() {
        let at = || Location::file("x");
        assert!(check_weights(&[0.1, 1.0], at()).is_ok());
        for bad in [[0.1, 1.5], [f64::NAN, 1.0], [-0.1, 1.0]] {
            assert!(check_weights(&bad, at()).is_err(), "{bad:?}");
        }
    }
}
