//! Sentence boundaries against the known ones of the official passages.

use crate::common::{passages, released, rows};
use clariq_collections::sentences::{cut, split, starts, starts_of_page};
use proptest::prelude::*;
use std::path::Path;

/// Texts with a bar where a sentence starts.
const CASES: &[&str] = &[
    "Mr. Li left at 5 p.m. on Friday. |He was late! |Was he? |yes.",
    "It grew in the U.S. market. |In the U.S. |The market grew.",
    "He met J. R. Smith, Dr. Hu vs. Gov. May. |They talked.",
    "First heading (2019) |The text. |See (above) for more.",
    "He said “stop.” |She did. |(They all did.) |Good...",
    "Buy milk, eggs, etc. from Acme Inc. in town. |Then cook. |1. |Wash it. 10. |Dry it.",
    "Which phone? |5 of 8 liked it. |$20 is cheap. – no",
    "One… two.. three... |Four",
    "PRICE RANGE: |From $5. |Note: From $6. |ID: From PMID: 17",
    "The Vatican (Rome) Featuring baths. |Rome (3) |About it. |A style (new) |Anything goes.",
    "It has a... Museum, an island,... Park. |It is cu. Ft. and more... |So they say.",
];

#[test]
fn sentence_rules_cut_at_the_marked_places() {
    for case in CASES {
        let text = case.replace('|', "");
        let mut marked = text.clone();
        for &start in starts(&text).iter().skip(1).rev() {
            marked.insert(start, '|');
        }
        assert_eq!(marked, *case, "{text}");
    }
}

#[test]
fn a_single_space_is_left_out_and_more_is_kept() {
    assert_eq!(split("One. Two.  Three. "), ["One.", "Two.  ", "Three."]);
    assert_eq!(split(""), Vec::<&str>::new());
}

#[test]
fn pages_are_cut_inside_words_as_well() {
    for (page, expected) in [
        (
            "It hurts. 2. Lack of control. 3. The rest.",
            "It hurts.|2|. Lack of control.|3.|The rest.",
        ),
        ("It hurts. 6. The rest. 7. of 8.", "It hurts.|6|. The rest.|7. of 8."),
        (
            "He resigned [4] and left. [ 15 ] See [edit] now.",
            "He resigned|[|4] and left.|[|15 ] See [|edit] now.",
        ),
        ("In all, [4] of them[5] left.", "In all, [|4] of them[5] left."),
        ("[Name], thank you.", "[|Name], thank you."),
        ("2. Lack [", "2|. Lack ["),
        ("", ""),
    ] {
        assert_eq!(cut(page, &starts_of_page(page)).join("|"), expected, "{page}");
    }
}

#[derive(Default)]
struct Found {
    passages: usize,
    /// The known start of the sixth sentence starts a sentence.
    boundary: usize,
    /// It starts the sixth.
    sixth: usize,
}

/// A passage as its page has it: without the spaces between sentences that begin inside a word.
fn as_in_the_page(passage: &str) -> String {
    ["2", "6", "7"].iter().fold(passage.replace("[ ", "["), |page, number| {
        page.replace(&format!(" {number} . "), &format!(" {number}. "))
    })
}

fn compare(released: &Path) -> Found {
    let passages = passages(released);
    let mut found = Found::default();
    for row in rows(&released.join("golden/segment_offsets.tsv")) {
        let passage = &passages[&row[0]];
        let offset: usize = row[2].parse().expect("an offset in characters");
        let start = passage.char_indices().nth(offset).expect("an offset in the text").0;
        let text = as_in_the_page(passage);
        // With the space before it, by which numbers are found.
        let space = passage[..start].chars().next_back().map_or(0, char::len_utf8);
        let start = text.len() + space - as_in_the_page(&passage[start - space..]).len();
        let starts = starts_of_page(&text);
        found.passages += 1;
        found.boundary += usize::from(starts.contains(&start));
        found.sixth += usize::from(starts.get(5) == Some(&start));
    }
    found
}

#[test]
fn known_boundaries_are_found() {
    let Some(released) = released() else { return };
    let found = compare(&released);
    println!(
        "of {} known boundaries, {} found, {} as the sixth sentence",
        found.passages, found.boundary, found.sixth
    );
    assert_eq!((found.passages, found.boundary, found.sixth), (263, 260, 238));
}

proptest! {
    /// Sentences start at words, in order, and cover the text.
    #[test]
    fn sentences_cover_the_text(text in "([a-zA-Z0-9.!?’“”()\\[\\]#:…\n\u{a0}]| |\\. [A-Z]|The ){0,60}") {
        let of_page = starts_of_page(&text);
        prop_assert!(of_page.windows(2).all(|pair| pair[0] < pair[1] && text.is_char_boundary(pair[1])));
        let starts = starts(&text);
        prop_assert_eq!(starts.first().copied(), if text.is_empty() { None } else { Some(0) });
        for pair in starts.windows(2) {
            prop_assert!(pair[0] < pair[1]);
            prop_assert!(text[..pair[1]].ends_with(char::is_whitespace));
            prop_assert!(!text[pair[1]..].starts_with(char::is_whitespace));
        }
        let length: usize = split(&text).iter().map(|sentence| sentence.len()).sum();
        prop_assert!(length <= text.len() && text.len() <= length + starts.len());
    }
}
