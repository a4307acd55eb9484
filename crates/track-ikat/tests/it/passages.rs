//! Windows of sentences, and the part of a page that is read.

use clariq_collections::sentences;
use clariq_track_ikat::passages::{self, CHARACTERS, page_text};
use proptest::prelude::*;

fn of(page: &str) -> Vec<String> {
    passages::of(page, None)
}

/// The windows as the guidelines' script makes them, step by step.
fn windows_of_the_script(sentences: &[&str]) -> Vec<String> {
    let mut windows = Vec::new();
    let mut start = 0;
    while start < sentences.len() {
        windows.push(sentences[start..(start + 10).min(sentences.len())].join(" "));
        if start + 10 >= sentences.len() {
            break;
        }
        start += 5;
    }
    windows
}

#[test]
fn windows_are_those_of_the_script() {
    for count in 0..48 {
        let page: Vec<String> = (0..count).map(|n| format!("Word {n} ends.")).collect();
        let page = page.join(" ");
        let expected = windows_of_the_script(&sentences::split(&page));
        assert_eq!(of(&page), expected, "{count} sentences");
    }
}

#[test]
fn a_page_is_cut_at_its_ten_thousandth_character() {
    let page = format!("\r\n {}é\n", "ab\r\n".repeat(3000));
    let text = page_text(&page);
    assert_eq!(text.chars().count(), CHARACTERS);
    assert!(text.starts_with("ab  ab  ") && !text.contains(['\r', '\n']));
    assert_eq!(page_text("\u{a0}x\ny\u{1c}"), "x y");
    assert!(of(" \n ").is_empty());
}

proptest! {
    /// Consecutive passages share five sentences, and together they hold every sentence.
    #[test]
    fn passages_overlap_by_five_sentences(page in "([A-Z][a-z]{1,6}[.!?] |[a-z]{1,5} |\n){0,400}") {
        let text = page_text(&page);
        let sentences = sentences::split(&text);
        prop_assert_eq!(of(&page), windows_of_the_script(&sentences));
    }
}
