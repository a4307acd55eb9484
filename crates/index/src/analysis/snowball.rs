//! The usual recipe for a language, made of tantivy's parts: Unicode words, lower case, the stop words of
//! the language, and its Snowball stemmer.
//!
//! Words of English are runs of letters and digits. In other languages combining marks are letters, too
//! (the vowels and the virama of Tamil, say), and composed and decomposed letters are the same: texts are
//! normalised to NFC.

use super::LONGEST_WORD;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use tantivy::tokenizer::{
    Language, LowerCaser, RawTokenizer, SimpleTokenizer, Stemmer, StopWordFilter, TextAnalyzer,
    Tokenizer,
};
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{UnicodeNormalization, is_nfc};

thread_local! {
    // Building the stemmer and the stop list costs more than a question does.
    static ANALYZERS: RefCell<HashMap<Language, TextAnalyzer>> = RefCell::default();
}

pub(super) fn for_each_token(language: Language, text: &str, emit: &mut dyn FnMut(&str)) {
    ANALYZERS.with_borrow_mut(|known| {
        let analyzer = known.entry(language).or_insert_with(|| analyzer(language));
        let mut analyze =
            |text: &str| analyzer.token_stream(text).process(&mut |token| emit(&token.text));
        if language == Language::English {
            analyze(&cut_long_words(text));
            return;
        }
        let text = composed(text);
        let text = if language == Language::Turkish { with_dots(&text) } else { text };
        let text = cut_long_words(&text);
        words(&text).for_each(analyze);
    });
}

/// The runs of letters, marks and digits.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c));
    words.filter(|word| !word.is_empty())
}

/// English splits texts itself; the other languages get their words one by one.
fn analyzer(language: Language) -> TextAnalyzer {
    if language == Language::English {
        with_filters(language, SimpleTokenizer::default())
    } else {
        with_filters(language, RawTokenizer::default())
    }
}

fn with_filters(language: Language, tokenizer: impl Tokenizer) -> TextAnalyzer {
    let words = TextAnalyzer::builder(tokenizer).filter(LowerCaser);
    match StopWordFilter::new(language) {
        Some(stop) => words.filter(stop).filter(Stemmer::new(language)).build(),
        None => words.filter(Stemmer::new(language)).build(),
    }
}

fn composed(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Turkish has an i with a dot and one without in capitals, too.
fn with_dots(text: &str) -> Cow<'_, str> {
    Cow::Owned(text.replace('I', "ı").replace('İ', "i"))
}

/// The text with a space after every 255 characters of a word.
fn cut_long_words(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_WORD {
        return Cow::Borrowed(text);
    }
    let mut cut = String::new();
    let mut copied = 0;
    let mut length = 0;
    for (position, letter) in text.char_indices() {
        if !letter.is_alphanumeric() {
            length = 0;
            continue;
        }
        if length == LONGEST_WORD {
            cut.push_str(&text[copied..position]);
            cut.push(' ');
            copied = position;
            length = 0;
        }
        length += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    cut.push_str(&text[copied..]);
    Cow::Owned(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analyzer;

    #[test]
    fn long_words_are_cut_and_stemmed_in_linear_time() {
        // A reader that takes quadratic time would not finish.
        let text = format!("x {} x", "y".repeat(1_000_000));
        let tokens = Analyzer::English.tokens(&text);
        assert_eq!(tokens.len(), 2 + 1_000_000_usize.div_ceil(LONGEST_WORD));
        for length in [254, 255, 256] {
            let word = "é".repeat(length);
            assert_eq!(Analyzer::English.tokens(&word).len(), length.div_ceil(LONGEST_WORD));
        }
    }

    #[test]
    fn english_words_are_unicode_words() {
        let tokens = Analyzer::English.tokens("The CAFÉ's running-shoes, 2024!");
        assert_eq!(tokens, ["café", "s", "run", "shoe", "2024"]);
        for text in ["the and of", " \t?"] {
            assert!(Analyzer::English.tokens(text).is_empty(), "the stop list is in force");
        }
    }

    #[test]
    fn languages_have_their_words_stop_words_and_stems() {
        let cases = [
            (Analyzer::German, "Die Häuser der Straße", &["haus", "strass"][..]),
            (Analyzer::German, "Die Ha\u{308}user", &["haus"]),
            (Analyzer::French, "L'homme et les chevaux", &["homm", "cheval"]),
            (Analyzer::Turkish, "ISPARTA'NIN İLLERİ", &["ıspar", "nın", "il"]),
            (Analyzer::Tamil, "தமிழ்", &["தமிழ்"]),
            (Analyzer::Greek, "ΔΡΌΜΟΣ", &["δρομ"]),
        ];
        for (analyzer, text, tokens) in cases {
            assert_eq!(analyzer.tokens(text), tokens, "{analyzer}: {text}");
        }
    }
}
