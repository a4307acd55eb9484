//! What each part of a conversation counts. The opening counts 1; questions and answers count what
//! a configuration says, older turns less, and what the user said "no" to possibly against a
//! document.

use crate::table::Table;
use clariq_core::Error;
use clariq_core::{Location, Problem, ProblemKind, Request, Turn};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a part counts where the opening counts 1.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Weights {
    /// A question that was not answered "no".
    question: f64,
    /// Such an answer.
    answer: f64,
    /// A question that was answered "no": usually below 0.
    refused_question: f64,
    /// An answer that begins with "no": what follows often says what is wanted instead.
    refused_answer: f64,
    /// What all of these are multiplied by for each turn that has come since.
    decay: f64,
}

/// Which part of a conversation a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Opening,
    Question,
    Answer,
}

/// A text of a conversation with its weight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) text: &'a str,
    pub(super) part: Part,
    /// The turn, from 1; 0 for the opening.
    pub(super) turn: usize,
    /// Whether the turn's question was answered "no".
    pub(super) refused: bool,
    pub(super) weight: f64,
}

/// `answer 2`, and whether it was a "no".
impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (turn, no) = (self.turn, if self.refused { ", answered \"no\"" } else { "" });
        match self.part {
            Part::Opening => write!(f, "request"),
            Part::Question => write!(f, "question {turn}{no}"),
            Part::Answer => write!(f, "answer {turn}"),
        }
    }
}

impl Weights {
    /// Takes the key `weights` out of a stage's table, if it is there.
    pub(super) fn take(table: &mut Table) -> Result<Option<Self>, Error> {
        let at = table.at("weights");
        let Some(weights) = table.take_table("weights")? else { return Ok(None) };
        let weights: Self = weights.read()?;
        weights.check(at)?;
        Ok(Some(weights))
    }

    /// Refuses weights that no order comes of.
    fn check(&self, at: Location) -> Result<(), Problem> {
        let all =
            [self.question, self.answer, self.refused_question, self.refused_answer, self.decay];
        if all.iter().all(|weight| weight.is_finite()) && self.decay >= 0.0 {
            return Ok(());
        }
        let expected = "numbers, with a decay of at least 0";
        Err(Problem::new(at, ProblemKind::Configuration, expected, format!("{all:?}")).hint(
            "a part that counts nothing has the weight 0, one that counts against a question less",
        ))
    }

    /// Everything that was said, in its order.
    pub(super) fn said<'a>(&self, request: &'a Request) -> Vec<Said<'a>> {
        let turns = request.turns().count();
        let mut said = Vec::with_capacity(1 + 2 * turns);
        let (text, part) = (request.opening(), Part::Opening);
        said.push(Said { text, part, turn: 0, refused: false, weight: 1.0 });
        let ages = std::iter::successors(Some(1.0), |age| Some(age * self.decay));
        let mut ages: Vec<f64> = ages.take(turns).collect();
        ages.reverse();
        for ((turn, spoken), age) in (1..).zip(request.turns()).zip(ages) {
            said.extend(self.of_turn(turn, spoken, age));
        }
        said
    }

    fn of_turn<'a>(&self, turn: usize, spoken: Turn<'a>, age: f64) -> [Said<'a>; 2] {
        let refused = spoken.is_refused();
        let (question, answer) = if refused {
            (self.refused_question, self.refused_answer)
        } else {
            (self.question, self.answer)
        };
        let said = |text, part, weight| Said { text, part, turn, refused, weight: age * weight };
        [said(spoken.system, Part::Question, question), said(spoken.user, Part::Answer, answer)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Utterance;

    #[test]
    fn older_turns_count_less_and_a_no_counts_in_its_own_way() {
        let weights = Weights {
            question: 0.4,
            answer: 0.8,
            refused_question: -0.2,
            refused_answer: 0.6,
            decay: 0.5,
        };
        let mut request = Request::new("1", "saturn");
        for (question, answer) in [("the car", "No, the planet"), ("its rings", "yes")] {
            request.said.extend([Utterance::system(question), Utterance::user(answer)]);
        }
        let said = weights.said(&request);
        assert_eq!(
            said.iter().map(|said| said.weight).collect::<Vec<_>>(),
            [1.0, -0.1, 0.3, 0.4, 0.8]
        );
        let names: Vec<String> = said.iter().map(ToString::to_string).collect();
        assert_eq!(
            names,
            ["request", "question 1, answered \"no\"", "answer 1", "question 2", "answer 2"]
        );
        assert!(weights.check(Location::file("x")).is_ok());
        assert!(Weights { decay: -1.0, ..weights }.check(Location::file("x")).is_err());
        assert!(Weights { answer: f64::NAN, ..weights }.check(Location::file("x")).is_err());
    }
}
