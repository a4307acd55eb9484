//! The tokens, function words and stems of features.
//!
//! Words differ from those of the index: "I'm" is one word here, and the words that open a request
//! ("find", "get") say nothing about its topic.

use frostem::{Algorithm, Stemmer};

/// Lucene's English stop words.
const STOP: &str = "a an and are as at be but by for if in into is it no not of on or such that \
                    the their then there these they this to was will with";

/// Further words without content: pronouns, auxiliaries, question words, openings of requests.
const FUNCTION: &str = "i me my you your he she we us our do does did can could should would how \
                        what which who where when why from about have has had am im id s m d some \
                        any more most so than get find";

/// Straightens apostrophes and trims white space.
pub(crate) fn normalise(text: &str) -> String {
    text.replace('\u{2019}', "'").trim().to_owned()
}

/// Splits into lower-case runs of ASCII letters and digits, apostrophes dropped.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let plain = normalise(text).to_lowercase().replace('\'', "");
    let words = plain.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// True if a token is on Lucene's stop list.
pub(crate) fn is_stop(token: &str) -> bool {
    STOP.split_ascii_whitespace().any(|stop| stop == token)
}

/// True if a token says nothing about the topic of a request.
pub(crate) fn is_function(token: &str) -> bool {
    is_stop(token) || FUNCTION.split_ascii_whitespace().any(|function| function == token)
}

/// Snowball's English stems (Porter 2).
pub(crate) fn stems<'t>(tokens: impl IntoIterator<Item = &'t String>) -> Vec<String> {
    let stemmer = Stemmer::new(Algorithm::English);
    tokens.into_iter().map(|token| stemmer.stem(token).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apostrophes_do_not_split_words() {
        assert_eq!(
            tokens(" I\u{2019}m it's R2-D2, na\u{ef}ve "),
            ["im", "its", "r2", "d2", "na", "ve"]
        );
        assert!(is_function("im") && is_function("the") && !is_function("tent"));
        assert!(!is_stop("im"));
    }
}
