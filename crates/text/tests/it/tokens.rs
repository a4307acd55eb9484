//! Token counts against spaCy's.

use crate::common::{passages, released, rows};
use clariq_text::tokens::{count, for_each, split};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// What spaCy 3.8.18 makes of words that are cut, and of words that are not.
const CASES: &[(&str, &str)] = &[
    ("don’t can't. dont", "do|n’t|ca|n't|.|do|nt"),
    ("we'll've y'all're y'all gonna", "we|'ll|'ve|y'all're|y'|all|gon|na"),
    ("its were id it’s", "its|were|i|d|it|’s"),
    ("Mr. Li's U.S. vs. Co., end.", "Mr.|Li|'s|U.S.|vs.|Co.|,|end|."),
    ("10am. 5p.m.) o'clock", "10|am|.|5|p.m.|)|o'clock"),
    ("foo:) :-) x-a. C++.", "foo|:)|:-)|x|-|a.|C++|."),
    ("foo: )", "foo|:|)"),
    ("well-known 2010-2011 1–2 a–b", "well|-|known|2010|-|2011|1–2|a|–|b"),
    ("a--b a---b a—b -5 1-x x-1", "a|--|b|a|---|b|a|—|b|-5|1|-|x|x-1"),
    ("$5.00 US$5 5€ U$5 $10k", "$|5.00|US$|5|5|€|U$5|$|10k"),
    ("5km. 30km/h 100%. 75°F.", "5|km|.|30|km/h|100|%|.|75|°|F|."),
    ("http://a.b.com/x). foo@bar.com,", "http://a.b.com/x|)|.|foo@bar.com|,"),
    ("end.Next a/b a:b 1:b b:1 a,b 1,000", "end|.|Next|a|/|b|a|:|b|1|:|b|b:1|a|,|b|1,000"),
    ("wait.... …wait x…… #5 @you", "wait|....|…|wait|x|……|#|5|@you"),
    ("«x». (it’s) “Hello” boys’", "«|x|»|.|(|it|’s|)|“|Hello|”|boys|’"),
];

#[test]
fn words_are_cut_as_by_spacy() {
    for (text, tokens) in CASES {
        assert_eq!(split(text).join("|"), *tokens, "{text}");
    }
}

#[test]
fn one_space_is_no_token_and_other_white_space_is() {
    assert_eq!(split("a b"), ["a", "b"]);
    assert_eq!(split("a  b"), ["a", " ", "b"]);
    assert_eq!(split("  a"), ["  ", "a"]);
    assert_eq!(split("a\n b "), ["a", "\n ", "b"]);
    assert_eq!(split("x\u{1c}y"), ["x", "\u{1c}", "y"]);
    assert_eq!(count(""), 0);
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
fn responses_and_utterances_have_spacys_counts() {
    let Some(released) = released() else { return };
    let turns = turns(&released);
    let golden = rows(&released.join("golden/spacy_token_counts.tsv"));
    assert_eq!(golden.len(), 833);
    for row in golden {
        let year = row[0].trim_end_matches("_test").to_owned();
        let [response, utterance] = &turns[&(year, row[1].clone())];
        assert_eq!(count(response).to_string(), row[2], "response of {} {}", row[0], row[1]);
        assert_eq!(count(utterance).to_string(), row[3], "utterance of {} {}", row[0], row[1]);
    }
}

#[test]
fn passages_have_spacys_counts() {
    let Some(released) = released() else { return };
    let passages = passages(&released);
    let golden = rows(&released.join("golden/passage_token_counts.tsv"));
    assert_eq!(golden.len(), 894);
    for row in golden {
        assert_eq!(count(&passages[&row[0]]).to_string(), row[1], "{}", row[0]);
    }
}

proptest! {
    /// Tokens follow one another, are never empty, and leave out nothing but single spaces.
    #[test]
    fn tokens_cover_the_text(text in "([a-zA-Z0-9 .,:;'’“”()\\[\\]/$€%°+\\-–—…#@&é中😀\n\t\u{a0}]|n't|U\\.S\\.|:\\)|http://){0,40}") {
        let mut end = 0;
        for_each(&text, |token| {
            assert!(!token.is_empty());
            assert!(matches!(&text[end..token.start], "" | " "));
            end = token.end;
        });
        prop_assert!(matches!(&text[end..], "" | " "));
    }
}
