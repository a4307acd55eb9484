//! Requests without the words that open them.

use crate::text::normalise;
use std::cmp::Reverse;
use std::sync::LazyLock;

/// A request taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestPhrase {
    /// The request in lower case, without final punctuation.
    pub(crate) lower: String,
    /// The topic: the request without its opening words.
    pub(crate) phrase: String,
}

const QUESTION_WORDS: [&str; 7] = ["what", "which", "who", "where", "when", "why", "how"];
const FIRST_AUXILIARIES: [&str; 6] = ["is", "are", "can", "do", "does", "should"];
const AUXILIARIES: [&str; 10] =
    ["is", "are", "was", "were", "can", "do", "does", "did", "should", "to"];
const PERSONS: [&str; 3] = ["i", "you", "one"];
const ARTICLES: [&str; 5] = ["the", "a", "an", "some", "my"];

/// Takes a request apart: drops a known opening, or a question's first words; then one article.
pub(crate) fn parse(request: &str) -> RequestPhrase {
    let text = normalise(request);
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '?' | '.' | '!'));
    let lower = text.to_lowercase();
    let rest = match LEADS.iter().find(|lead| opens(&lower, lead)) {
        // By characters: lower case may have another length in bytes.
        Some(lead) => text.chars().skip(lead.len()).collect(),
        None => without_question_words(text),
    };
    let mut words: Vec<&str> = rest.split_whitespace().collect();
    if words.len() > 1 && ARTICLES.contains(&words[0].to_lowercase().as_str()) {
        words.remove(0);
    }
    let phrase = if words.is_empty() { text.to_owned() } else { words.join(" ") };
    RequestPhrase { lower, phrase }
}

/// True if a text begins with the words of a lead.
fn opens(text: &str, lead: &str) -> bool {
    text.strip_prefix(lead).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn without_question_words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let is = |position: usize, among: &[&str]| {
        lower.get(position).is_some_and(|word| among.contains(&word.as_str()))
    };
    if is(0, &QUESTION_WORDS) {
        let mut dropped = 1;
        for among in [&AUXILIARIES[..], &PERSONS, &["can"]] {
            dropped += usize::from(is(dropped, among));
        }
        words[dropped..].join(" ")
    } else if is(0, &FIRST_AUXILIARIES) {
        words[1..].join(" ")
    } else {
        text.to_owned()
    }
}

/// The openings, longest first.
static LEADS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut leads: Vec<String> = PATTERNS.iter().flat_map(|pattern| expand(pattern)).collect();
    leads.sort_by(|a, b| (Reverse(a.len()), a).cmp(&(Reverse(b.len()), b)));
    leads.dedup();
    leads
});

/// Each pattern is a sequence of choices; `-` chooses nothing, `_` is a space within a choice.
const PATTERNS: &[&str] = &[
    "-|please tell_me -|some|more -|information|info|bio -|about_of|about|on|of",
    "-|i_am|i'm|im looking_for -|some|more information|info on|about",
    "i_am|i'm|im looking_for",
    "i_am|i'm|im interested in_the_topic_of|in|to_know_about",
    "find -|me information|info -|on|about",
    "find -|me",
    "give_me -|some information|info -|on|about",
    "give_me",
    "i_need -|some information|info -|on|about",
    "i'd|i_would like_to learn|know -|more about",
    "information|info -|on|about",
    "take_me_to",
    "let's_see",
    "show_me",
];

fn expand(pattern: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for choices in pattern.split(' ') {
        let mut longer = Vec::new();
        for begun in &all {
            for choice in choices.split('|') {
                longer.push(match choice {
                    "-" => begun.clone(),
                    words => format!("{begun} {}", words.replace('_', " ")).trim_start().to_owned(),
                });
            }
        }
        all = longer;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn phrase(request: &str, expected: &str) {
        assert_eq!(parse(request).phrase, expected, "{request}");
    }

    #[test]
    fn the_longest_matching_opening_is_removed() {
        phrase("Tell me about the tent pegs.", "tent pegs");
        phrase("Please tell me more information about of Oslo", "Oslo");
        phrase("I\u{2019}m looking for info on kayaks!", "kayaks");
        phrase("find me", "find me");
        phrase("finding a boat", "finding a boat");
        phrase("i need some cheese", "i need some cheese");
    }

    #[test]
    fn question_words_are_removed() {
        phrase("How can I fold a map?", "fold a map");
        phrase("What is the moon?", "moon");
        phrase("Are dogs clever", "dogs clever");
        phrase("Why", "Why");
    }

    #[test]
    fn empty_texts_and_other_languages_stay_as_they_are() {
        phrase("", "");
        phrase(" ?? ", "");
        phrase("Wo ist der Bahnhof?", "Wo ist der Bahnhof");
        phrase("天気はどうですか", "天気はどうですか");
        // Kelvin's sign is longer than its lower case.
        phrase("Tell me about \u{212a}\u{130}", "\u{212a}\u{130}");
    }
}
