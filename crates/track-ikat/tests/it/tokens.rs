//! Token counts compared with spaCy's.

use crate::common::{passages, released, rows};
use clariq_collections::tokens::{count, count_added, first};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Texts, with their number of tokens by spaCy 3.8.18 and by the count here.
const CASES: &[(&str, usize, usize)] = &[
    ("don’t can't. dont", 7, 7),
    ("we'll've y'all're gonna cannot", 8, 10),
    ("its were id it’s", 6, 6),
    ("Mr. Li's U.S. vs. Co., end.", 9, 13),
    ("10am. 5p.m.) o'clock", 7, 9),
    ("foo:) :-) x-a. C++.", 8, 14),
    ("well-known 2010-2011 1–2 a–b", 10, 12),
    ("$5.00 5€ $10k", 6, 7),
    ("5km. 30km/h 100%. 75°F.", 12, 14),
    ("http://a.b.com/x). foo@bar.com,", 5, 13),
    ("end.Next a/b a:b 1:b b:1 a,b 1,000", 17, 19),
    ("wait.... …wait x…… #5 @you", 9, 14),
    ("«x». (it’s) “Hello” boys’", 13, 13),
];

#[test]
fn counts_are_never_below_spacys() {
    for &(text, spacy, expected) in CASES {
        assert_eq!(count(text), expected, "{text}");
        assert!(count(text) >= spacy, "{text}");
    }
}

#[test]
fn only_a_single_space_is_no_token() {
    let counts = ["a b", "a  b", "  a", " a", "a\n b ", "x\u{1c}y", ""].map(count);
    assert_eq!(counts, [2, 3, 2, 2, 3, 3, 0]);
}

proptest! {
    /// Combining marks, flags and marks within words stick to their neighbours, but not over a
    /// space.
    #[test]
    fn a_sentence_adds_the_same_tokens_behind_any_text(
        text in "[a-c'.,\u{301}\u{93f}\u{200d}\u{1f1e6}é5 ]{0,12}",
        sentence in "[a-c'.,\u{301}\u{93f}\u{200d}\u{1f1e6}é5 ]{0,12}",
    ) {
        let (text, sentence) = (text.trim(), sentence.trim());
        prop_assert_eq!(count(&format!("{text} {sentence}")) , match text {
            "" => count(&format!(" {sentence}")),
            text => count(text) + count_added(sentence),
        });
    }
}

/// A count is at least spaCy's, and at most about half above it.
fn assert_near(text: &str, spacy: &str) {
    let spacy: usize = spacy.parse().expect("a number");
    assert!(
        (spacy..=spacy + spacy / 2 + 2).contains(&count(text)),
        "{spacy} {}: {text}",
        count(text)
    );
}

/// Responses and utterances of all years by topics file and turn.
fn turns(released: &Path) -> HashMap<(String, String), [String; 2]> {
    let mut turns = HashMap::new();
    for year in ["2023_train", "2023_test", "2024_test", "2025_test"] {
        let path = released.join(format!("topics/{year}_topics.json"));
        let topics: Value = serde_json::from_slice(&fs::read(path).expect("topics")).expect("JSON");
        for topic in topics.as_array().expect("a list") {
            let number = topic["number"].to_string();
            let list = topic.get("turns").or_else(|| topic.get("responses")).expect("turns");
            for turn in list.as_array().expect("a list") {
                let text = |names: &[&str]| {
                    let found = names.iter().find_map(|name| turn[name].as_str());
                    found.unwrap_or_default().to_owned()
                };
                let name = format!("{}_{}", number.trim_matches('"'), turn["turn_id"]);
                let texts = [text(&["response"]), text(&["utterance", "user_utterance"])];
                turns.insert((year.trim_end_matches("_test").to_owned(), name), texts);
            }
        }
    }
    turns
}

#[test]
fn responses_and_utterances_have_spacys_counts_or_more() {
    let Some(released) = released() else { return };
    let turns = turns(&released);
    let golden = rows(&released.join("golden/spacy_token_counts.tsv"));
    assert_eq!(golden.len(), 833);
    for row in golden {
        let year = row[0].trim_end_matches("_test").to_owned();
        let [response, utterance] = &turns[&(year, row[1].clone())];
        assert_near(response, &row[2]);
        assert_near(utterance, &row[3]);
    }
}

#[test]
fn passages_have_spacys_counts_or_more() {
    let Some(released) = released() else { return };
    let passages = passages(&released);
    let golden = rows(&released.join("golden/passage_token_counts.tsv"));
    assert_eq!(golden.len(), 894);
    for row in golden {
        assert_near(&passages[&row[0]], &row[1]);
    }
}

proptest! {
    /// Every word counts, and the start of a text has at most the requested tokens.
    #[test]
    fn counts_add_up(text in "([a-zA-Z0-9 .,:;'’“”()\\[\\]/$€%°+\\-–—…#@&é中😀\n\t\u{a0}]|n't|U\\.S\\.|:\\)|http://){0,40}", most in 0_usize..40) {
        let words = text.split_whitespace().count();
        prop_assert!(words <= count(&text));
        let start = first(&text, most);
        prop_assert!(text.starts_with(start) && count(start) <= most);
        prop_assert_eq!(first(&text, count(&text)), text.trim_end());
    }
}
