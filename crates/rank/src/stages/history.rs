//! Earlier turns of a conversation whose last utterance is what is asked now.

use crate::table::Table;
use clariq_core::Error;
use clariq_core::{History, Location, Problem, ProblemKind, ages};
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
    pub(super) fn weighed<'a>(&self, said: &History<'a>) -> Vec<(&'a str, f64)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::{Request, Utterance};

    fn request() -> Request {
        let mut request = Request::new("1_3", "first");
        for (system, user) in [("It is. So  it was!", "second"), ("A. B? C", "third")] {
            request.said.extend([Utterance::system(system), Utterance::user(user)]);
        }
        request
    }

    #[test]
    fn older_turns_count_less() {
        let history = TermHistory { user: 0.1, system: 0.06, decay: 0.5 };
        let request = request();
        let weighed = history.weighed(&History::of(&request.said));
        let weights: Vec<f64> = weighed.iter().map(|(_, weight)| *weight).collect();
        assert_eq!(weights, [1.0, 0.1, 0.05, 0.06, 0.03]);
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
