//! English tokens by the usual recipe: lower case, stop words, Snowball stems. The parts come from
//! tantivy.

use std::cell::RefCell;
use tantivy::tokenizer::{
    Language, LowerCaser, SimpleTokenizer, Stemmer, StopWordFilter, TextAnalyzer,
};

thread_local! {
    // Building the stemmer and the stop list costs more than a question does.
    static ANALYZER: RefCell<TextAnalyzer> = RefCell::new(build());
}

fn build() -> TextAnalyzer {
    let words = TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser);
    match StopWordFilter::new(Language::English) {
        Some(stop) => words.filter(stop).filter(Stemmer::new(Language::English)).build(),
        None => words.filter(Stemmer::new(Language::English)).build(),
    }
}

pub(super) fn tokens(text: &str) -> Vec<String> {
    ANALYZER.with_borrow_mut(|analyzer| {
        let mut tokens = Vec::new();
        analyzer.token_stream(text).process(&mut |token| tokens.push(token.text.clone()));
        tokens
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unicode_words() {
        assert_eq!(tokens("The CAFÉ's running-shoes, 2024!"), ["café", "s", "run", "shoe", "2024"]);
        assert!(tokens("the and of").is_empty(), "the stop list is in force");
        assert!(tokens(" \t?").is_empty());
    }
}
