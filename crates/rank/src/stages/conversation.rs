//! The weights of the texts of a conversation, for `bm25` and `dense`.
//!
//! In the table `weights`, the opening has a weight of 1, questions and answers have the weights of the
//! table, and that of a question answered "no" may be negative. In the table `history`, the last
//! utterance has a weight of 1, and earlier texts are added to it. In both, older turns count less.

use crate::table::Table;
use clariq_core::{
    Explanation, History, HistoryWeights, Location, Request, Result, Role, WeightedText, ages, bail,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The weights of the texts of a conversation; `H` is the table `history` of the stage.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ConversationWeights<H> {
    Weights(TextWeights),
    History(H),
}

impl<H: HistoryTable> ConversationWeights<H> {
    /// Takes the key `weights` or `history` out of a stage's table, if one of them is there.
    pub(super) fn take(table: &mut Table) -> Result<Option<Self>> {
        let weights_at = table.at("weights");
        let history_at = table.at("history");
        let weights = table.take_table("weights")?.map(Table::read::<TextWeights>).transpose()?;
        let history = table.take_table("history")?.map(Table::read::<H>).transpose()?;
        match (weights, history) {
            (Some(_), Some(_)) => {
                let hint = "`weights` begins with the first utterance, `history` with the last: \
                            choose one";
                bail!(history_at, "either `weights` or `history`", "both", hint)
            }
            (Some(weights), None) => {
                weights.check(weights_at)?;
                Ok(Some(Self::Weights(weights)))
            }
            (None, Some(history)) => {
                check_history(&history.numbers(), history_at)?;
                Ok(Some(Self::History(history)))
            }
            (None, None) => Ok(None),
        }
    }

    /// The texts of a conversation with their weights.
    pub(super) fn texts<'a>(&self, request: &'a Request) -> Vec<WeightedText<'a>> {
        match self {
            Self::Weights(weights) => weights.texts(request),
            Self::History(history) => history.texts(&History::of(&request.said)),
        }
    }
}

/// Explains what a text adds to a score: its weight times the sum of `parts`.
pub(super) fn explain(weighted: &WeightedText, parts: Vec<Explanation>) -> Explanation {
    let WeightedText { role, text, weight } = weighted;
    let sum: f64 = parts.iter().map(|part| part.value).sum();
    Explanation::of(weight * sum, format!("{role}: {weight:.3} × {sum:.6} {text:?}"), parts)
}

/// The table `weights`: the weights of texts, relative to 1 for the opening.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextWeights {
    /// A question that was not answered "no".
    question: f64,
    /// The answer to such a question.
    answer: f64,
    /// A question that was answered "no": usually below 0.
    refused_question: f64,
    /// An answer that begins with "no": its rest often names the wanted topic.
    refused_answer: f64,
    /// The factor of all of these for each later turn.
    decay: f64,
}

impl TextWeights {
    fn check(&self, at: Location) -> Result<()> {
        let all =
            [self.question, self.answer, self.refused_question, self.refused_answer, self.decay];
        if all.iter().all(|weight| weight.is_finite()) && self.decay >= 0.0 {
            return Ok(());
        }
        let hint = "a text with the weight 0 is ignored, one with a weight below 0 counts against a \
                    document";
        bail!(at, "numbers, with a decay of at least 0", "{all:?}", hint)
    }

    /// The texts of the conversation, in order.
    fn texts<'a>(&self, request: &'a Request) -> Vec<WeightedText<'a>> {
        let turns = request.turns().count();
        let mut texts = Vec::with_capacity(1 + 2 * turns);
        texts.push(WeightedText::new(Role::Opening, request.opening(), 1.0));
        let mut ages: Vec<f64> = ages(self.decay).take(turns).collect();
        ages.reverse();
        for ((turn, spoken), age) in (1..).zip(request.turns()).zip(ages) {
            let refused = spoken.is_refused();
            let (question, answer) = if refused {
                (self.refused_question, self.refused_answer)
            } else {
                (self.question, self.answer)
            };
            texts.push(WeightedText::new(
                Role::Question { turn, refused },
                spoken.system,
                age * question,
            ));
            texts.push(WeightedText::new(Role::Answer(turn), spoken.user, age * answer));
        }
        texts
    }
}

/// The table `history` of a stage.
pub(super) trait HistoryTable: DeserializeOwned {
    /// Its numbers, the decay last.
    fn numbers(&self) -> Vec<f64>;

    /// The texts that count, the last utterance first.
    fn texts<'a>(&self, history: &History<'a>) -> Vec<WeightedText<'a>>;
}

/// The table `history` of `bm25`: the weights of earlier terms, relative to 1 for those of the last
/// utterance.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TermHistory {
    /// A term of the user's previous utterance.
    user: f64,
    /// A term of the system's previous utterance.
    system: f64,
    /// The factor of both for each later turn.
    decay: f64,
}

impl HistoryTable for TermHistory {
    fn numbers(&self) -> Vec<f64> {
        vec![self.user, self.system, self.decay]
    }

    fn texts<'a>(&self, history: &History<'a>) -> Vec<WeightedText<'a>> {
        let mut texts = vec![WeightedText::new(Role::Last, history.now, 1.0)];
        texts.extend(WeightedText::by_age(Role::Earlier, &history.user, self.user, self.decay));
        texts.extend(WeightedText::by_age(
            Role::Response,
            &history.system,
            self.system,
            self.decay,
        ));
        texts.retain(WeightedText::counts);
        texts
    }
}

/// The number of last utterances that `nearest` looks at.
const NEAREST_OF: usize = 4;

/// The table `history` of `dense`: weights of similarities that are added to that of the last utterance.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VectorHistory {
    /// The last utterance with its context: the user's utterance before, the last sentence of the
    /// response to it, and the last utterance, as one text.
    #[serde(default)]
    context: f64,
    /// The nearest of the last four utterances of the user.
    #[serde(default)]
    nearest: f64,
    /// The response one turn ago.
    #[serde(default)]
    system: f64,
    /// The factor of `system` for each earlier response; 0 only uses the last response.
    #[serde(default)]
    decay: f64,
}

impl HistoryTable for VectorHistory {
    fn numbers(&self) -> Vec<f64> {
        vec![self.context, self.nearest, self.system, self.decay]
    }

    fn texts<'a>(&self, history: &History<'a>) -> Vec<WeightedText<'a>> {
        let Self { context, system, decay, .. } = *self;
        let mut texts = history.texts(&HistoryWeights { context, system, decay });
        let latest = [history.now].into_iter().chain(history.user.iter().copied());
        let nearest = latest
            .take(NEAREST_OF)
            .map(|text| WeightedText::new(Role::Nearest, text, self.nearest));
        texts.extend(nearest.filter(WeightedText::counts));
        texts
    }
}

/// Refuses weights that are negative or not finite, and those that grow with age.
fn check_history(all: &[f64], at: Location) -> Result<()> {
    if all.iter().all(|weight| weight.is_finite() && *weight >= 0.0)
        && all.last().is_none_or(|decay| *decay <= 1.0)
    {
        return Ok(());
    }
    let hint = "a text with the weight 0 is ignored; `ikat-automatic` has an example";
    bail!(at, "weights of at least 0, with a decay from 0 to 1", "{all:?}", hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Utterance;

    fn request(utterances: [&str; 5]) -> Request {
        let mut request = Request::new("1", utterances[0]);
        for turn in utterances[1..].chunks(2) {
            request.said.extend([Utterance::system(turn[0]), Utterance::user(turn[1])]);
        }
        request
    }

    fn weights(texts: &[WeightedText]) -> Vec<f64> {
        texts.iter().map(|weighted| weighted.weight).collect()
    }

    #[test]
    fn older_turns_count_less_and_refused_questions_have_weights_of_their_own() {
        let table = TextWeights {
            question: 0.4,
            answer: 0.8,
            refused_question: -0.2,
            refused_answer: 0.6,
            decay: 0.5,
        };
        let request = request(["saturn", "the car", "No, the planet", "its rings", "yes"]);
        let texts = table.texts(&request);
        assert_eq!(weights(&texts), [1.0, -0.1, 0.3, 0.4, 0.8]);
        let names: Vec<String> = texts.iter().map(|weighted| weighted.role.to_string()).collect();
        assert_eq!(
            names,
            ["request", "question 1, answered \"no\"", "answer 1", "question 2", "answer 2"]
        );
        assert!(table.check(Location::file("x")).is_ok());
        assert!(TextWeights { decay: -1.0, ..table }.check(Location::file("x")).is_err());
        assert!(TextWeights { answer: f64::NAN, ..table }.check(Location::file("x")).is_err());
    }

    #[test]
    fn the_last_utterance_counts_most() {
        let request = request(["first", "It is. So  it was!", "second", "A. B? C", "third"]);
        let history = History::of(&request.said);
        let terms = TermHistory { user: 0.1, system: 0.06, decay: 0.5 };
        assert_eq!(weights(&terms.texts(&history)), [1.0, 0.1, 0.05, 0.06, 0.03]);
        let vectors = VectorHistory { context: 0.5, nearest: 0.4, system: 0.2, decay: 0.0 };
        assert_eq!(weights(&vectors.texts(&history)), [1.0, 0.5, 0.2, 0.4, 0.4, 0.4]);
    }

    #[test]
    fn growing_negative_and_nan_weights_are_refused() {
        let at = || Location::file("x");
        assert!(check_history(&[0.1, 1.0], at()).is_ok());
        for bad in [[0.1, 1.5], [f64::NAN, 1.0], [-0.1, 1.0]] {
            assert!(check_history(&bad, at()).is_err(), "{bad:?}");
        }
    }
}
