//! The number of a phrase's content words, and a few signs of how specific it is.

use crate::phrase::RequestPhrase;
use crate::text::{is_function, tokens};

pub(super) const NAMES: [&str; 11] = [
    "content_1",
    "content_2",
    "content_3",
    "content_4plus",
    "content_words",
    "phrase_words",
    "question_mark",
    "looking",
    "acronym",
    "letters",
    "capitals",
];

/// The content words of a phrase.
pub(super) fn content_words(phrase: &str) -> Vec<String> {
    tokens(phrase).into_iter().filter(|token| !is_function(token)).collect()
}

/// The features of a request, in the order of [`NAMES`]. A phrase without a content word
/// counts as one with a single content word.
pub(super) fn features(
    request: &str,
    parsed: &RequestPhrase,
    content: &[String],
) -> [f64; NAMES.len()] {
    let count = content.len();
    let words = || parsed.phrase.split_whitespace();
    let flag = |holds: bool| f64::from(u8::from(holds));
    let short = count == 1 && content[0].len() <= 4;
    let letters: usize = content.iter().map(String::len).sum();
    [
        flag(count <= 1),
        flag(count == 2),
        flag(count == 3),
        flag(count >= 4),
        count as f64,
        tokens(&parsed.phrase).len() as f64,
        flag(request.contains('?')),
        flag(["looking", "interested"].iter().any(|word| parsed.lower.contains(word))),
        flag(short || words().any(|word| word.chars().nth(1).is_some() && is_upper(word))),
        if count == 0 { 0.0 } else { letters as f64 / count as f64 },
        words().filter(|word| word.chars().next().is_some_and(char::is_uppercase)).count() as f64,
    ]
}

/// True if a word has a letter in upper case and none in lower case.
fn is_upper(word: &str) -> bool {
    word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrase::parse;

    fn of(request: &str) -> [f64; NAMES.len()] {
        let parsed = parse(request);
        features(request, &parsed, &content_words(&parsed.phrase))
    }

    #[test]
    fn words_letters_and_capitals_are_counted() {
        let expected = [0.0, 1.0, 0.0, 0.0, 2.0, 4.0, 1.0, 1.0, 0.0, 6.0, 1.0];
        assert_eq!(of("I'm looking for tents in the Orkneys?"), expected);
    }

    #[test]
    fn acronyms_are_short_or_in_upper_case() {
        assert_eq!(of("tell me about NASA missions")[8], 1.0);
        assert_eq!(of("map")[8], 1.0);
        assert_eq!(of("a I b")[8], 1.0, "one short content word");
        assert_eq!(of("kayaks")[8], 0.0);
    }

    #[test]
    fn an_empty_text_counts_as_one_word() {
        assert_eq!(of(""), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
