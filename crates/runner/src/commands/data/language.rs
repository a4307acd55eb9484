//! A note about documents in another language than the one that built-in systems analyse.

use clariq_index::Analyzer;

/// The fewest words that say something.
const FEWEST_WORDS: usize = 200;

/// Texts in a language have more stop words of it than this; lists of products may have fewer.
const USUAL_SHARE: f64 = 0.15;

/// A note if stop words of another language are more than twice as frequent as those of English.
pub(super) fn note(texts: &[String]) -> Option<String> {
    about(&texts.join("\n"))
}

fn about(text: &str) -> Option<String> {
    if text.split_whitespace().count() < FEWEST_WORDS {
        return None;
    }
    let share = |analyzer: Analyzer| analyzer.share_of_stop_words(text);
    let english = share(Analyzer::English);
    let other = Analyzer::all().into_iter().map(share).fold(0.0, f64::max);
    (other > USUAL_SHARE && other > 2.0 * english).then(|| {
        format!(
            "note: {:.0} % of the words of the documents are stop words of English, and {:.0} % are of another \
             language: the built-in systems analyse English, and `analyzer` of a stage names the others",
            100.0 * english,
            100.0 * other
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_with_the_words_of_another_language_are_noted() {
        let german =
            "Der Hund liegt unter dem Tisch, und die Katze sitzt auf dem Stuhl neben ihm. ";
        let english = "The dog lies under the table, and the cat sits on the chair next to him. ";
        let product = "Cotton shirt blue XL Acme 2024 slim fit button collar machine wash ";
        let found = about(&german.repeat(20)).expect("a note");
        assert!(found.contains("stop words of English"), "{found}");
        assert_eq!(about(&english.repeat(20)), None);
        assert_eq!(about(&product.repeat(20)), None);
        assert_eq!(about(german), None, "too few words");
    }
}
