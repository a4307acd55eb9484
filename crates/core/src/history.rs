//! A conversation as what is said now and what came before, and its vector by an encoder of texts.

use crate::model::Embeddings;
use crate::request::{Speaker, Utterance};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The last utterance of the user, and what was said before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History<'a> {
    /// What the user says now.
    pub now: &'a str,
    /// What the user said before, the latest first.
    pub user: Vec<&'a str>,
    /// What the system said before, the latest first.
    pub system: Vec<&'a str>,
}

/// What is added to the vector of the last utterance, which counts 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryWeights {
    /// The last utterance behind what led to it, as [`History::in_context`] has it.
    pub context: f64,
    /// What the system said one turn ago.
    pub system: f64,
    /// What `system` is multiplied by for each turn that has come since.
    pub decay: f64,
}

/// A text of a conversation, and what its vector counts.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPart<'a> {
    /// What the text is, for explanations.
    pub what: &'static str,
    /// The text.
    pub text: Cow<'a, str>,
    /// Its weight.
    pub weight: f64,
}

impl<'a> History<'a> {
    /// What was said up to the last utterance of the user.
    pub fn of(said: &'a [Utterance]) -> Self {
        let last = said.iter().rposition(|utterance| utterance.speaker == Speaker::User);
        let (now, before) = match last {
            Some(last) => (said[last].text.as_str(), &said[..last]),
            None => ("", said),
        };
        let by = |speaker: Speaker| {
            let of_speaker = before.iter().rev().filter(move |said| said.speaker == speaker);
            of_speaker.map(|said| said.text.as_str()).collect()
        };
        Self { now, user: by(Speaker::User), system: by(Speaker::System) }
    }

    /// The last utterance behind what led to it: the utterance before, the last sentence of the
    /// response to that, and the utterance itself, as one text.
    pub fn in_context(&self) -> String {
        let before = self.user.first().copied().unwrap_or_default();
        let response = self.system.first().copied().unwrap_or_default();
        let sentence = sentences(response).pop().unwrap_or_default();
        let texts = [before, sentence, self.now];
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The texts whose vectors are summed; none that is empty or counts nothing.
    pub fn parts(&self, weights: &HistoryWeights) -> Vec<HistoryPart<'a>> {
        let part = |what, text, weight| HistoryPart { what, text, weight };
        let mut parts = vec![
            part("last utterance", Cow::Borrowed(self.now), 1.0),
            part("last utterance in its context", Cow::Owned(self.in_context()), weights.context),
        ];
        for (text, age) in self.system.iter().zip(ages(weights.decay)) {
            parts.push(part("response", Cow::Borrowed(*text), weights.system * age));
        }
        parts.retain(|part| part.weight != 0.0 && !part.text.trim().is_empty());
        parts
    }
}

/// The sum of vectors by their weights, of length 1; zeros where nothing is summed.
pub fn weighted_sum<'v>(
    dim: usize,
    vectors: impl IntoIterator<Item = (&'v [f32], f64)>,
) -> Vec<f32> {
    let mut sum = vec![0.0_f32; dim];
    for (vector, weight) in vectors {
        let weight = weight as f32;
        for (sum, value) in sum.iter_mut().zip(vector) {
            *sum += weight * value;
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in &mut sum {
            *value /= length;
        }
    }
    sum
}

/// The vector of each conversation by an encoder that knows nothing of conversations: the weighted
/// sum of the vectors of its texts. `encode` is called once, with all texts.
pub fn untrained_vectors<E>(
    conversations: &[History],
    weights: &HistoryWeights,
    encode: impl FnOnce(&[&str]) -> Result<Embeddings, E>,
) -> Result<Embeddings, E> {
    let parts: Vec<Vec<HistoryPart>> =
        conversations.iter().map(|history| history.parts(weights)).collect();
    let texts: Vec<&str> = parts.iter().flatten().map(|part| part.text.as_ref()).collect();
    let encoded = encode(&texts)?;
    let mut rows = encoded.rows();
    let mut values = Vec::with_capacity(conversations.len() * encoded.dim);
    for parts in &parts {
        let weights = parts.iter().map(|part| part.weight);
        // The weights come first, so that no row is taken when they are at an end.
        let weighted = weights.zip(rows.by_ref()).map(|(weight, row)| (row, weight));
        values.extend(weighted_sum(encoded.dim, weighted));
    }
    Ok(Embeddings { dim: encoded.dim, values })
}

/// 1, `decay`, `decay`², …
pub fn ages(decay: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(1.0), move |age| Some(age * decay))
}

/// The sentences of a text: each ends with a `.`, `!` or `?` that has white space behind it.
pub fn sentences(text: &str) -> Vec<&str> {
    let text = text.trim();
    let (mut sentences, mut start, mut is_end) = (Vec::new(), 0, false);
    for (index, c) in text.char_indices() {
        if c.is_whitespace() && (is_end || start == index) {
            // White space may go on behind the end of a sentence.
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

    fn said() -> Vec<Utterance> {
        let mut said = vec![Utterance::user("first")];
        for (system, user) in [("It is. So  it was!", "second"), ("A. B? C", "third")] {
            said.extend([Utterance::system(system), Utterance::user(user)]);
        }
        said
    }

    #[test]
    fn the_latest_come_first() {
        let said = said();
        let history = History::of(&said);
        assert_eq!(history.now, "third");
        assert_eq!(history.user, ["second", "first"]);
        assert_eq!(history.system, ["A. B? C", "It is. So  it was!"]);
        assert_eq!(history.in_context(), "second C third");
        assert_eq!(History::of(&said[..1]).in_context(), "first");
    }

    #[test]
    fn older_responses_count_less() {
        let said = said();
        let weights = HistoryWeights { context: 0.3, system: 0.4, decay: 0.5 };
        let parts = History::of(&said).parts(&weights);
        let weights: Vec<f64> = parts.iter().map(|part| part.weight).collect();
        assert_eq!(weights, [1.0, 0.3, 0.4, 0.2]);
    }

    #[test]
    fn a_vector_is_the_sum_of_its_texts_by_weight() {
        let said = said();
        let histories = [History::of(&said[..1]), History::of(&said)];
        let weights = HistoryWeights { context: 0.0, system: 0.5, decay: 0.0 };
        let encode = |texts: &[&str]| {
            assert_eq!(texts, ["first", "third", "A. B? C"]);
            Ok::<_, ()>(Embeddings { dim: 2, values: vec![1.0, 0.0, 0.0, 2.0, 2.0, 0.0] })
        };
        let vectors = untrained_vectors(&histories, &weights, encode).unwrap();
        assert_eq!(vectors.row(0), [1.0, 0.0]);
        let length = 5.0_f32.sqrt();
        assert_eq!(vectors.row(1), [1.0 / length, 2.0 / length]);
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
