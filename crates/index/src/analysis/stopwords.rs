//! NLTK's English stop words.
//!
//! The list is the one `nltk_data` shipped in 2020 under
//! `corpora/stopwords/english`. Later editions added words such as `"i'm"`
//! and `"we're"`; runs of the published baseline predate them, so they must
//! stay out for scores to agree.

/// NLTK's English stop words of 2020, in byte order so that they can be
/// searched by halving.
#[rustfmt::skip]
pub const STOP_WORDS: [&str; 179] = [
    "a", "about", "above", "after", "again", "against", "ain", "all", "am", "an", "and", "any",
    "are", "aren", "aren't", "as", "at", "be", "because", "been", "before", "being", "below",
    "between", "both", "but", "by", "can", "couldn", "couldn't", "d", "did", "didn", "didn't",
    "do", "does", "doesn", "doesn't", "doing", "don", "don't", "down", "during", "each", "few",
    "for", "from", "further", "had", "hadn", "hadn't", "has", "hasn", "hasn't", "have", "haven",
    "haven't", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how",
    "i", "if", "in", "into", "is", "isn", "isn't", "it", "it's", "its", "itself", "just", "ll",
    "m", "ma", "me", "mightn", "mightn't", "more", "most", "mustn", "mustn't", "my", "myself",
    "needn", "needn't", "no", "nor", "not", "now", "o", "of", "off", "on", "once", "only", "or",
    "other", "our", "ours", "ourselves", "out", "over", "own", "re", "s", "same", "shan",
    "shan't", "she", "she's", "should", "should've", "shouldn", "shouldn't", "so", "some",
    "such", "t", "than", "that", "that'll", "the", "their", "theirs", "them", "themselves",
    "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until",
    "up", "ve", "very", "was", "wasn", "wasn't", "we", "were", "weren", "weren't", "what",
    "when", "where", "which", "while", "who", "whom", "why", "will", "with", "won", "won't",
    "wouldn", "wouldn't", "y", "you", "you'd", "you'll", "you're", "you've", "your", "yours",
    "yourself", "yourselves",
];

/// Bytes in the longest stop word: longer words need no search.
const LONGEST: usize = 10;

/// Tells whether `word` is one of NLTK's English stop words.
///
/// The comparison is case-sensitive, as it is in the published baseline: a
/// sentence that opens with `What` keeps it.
///
/// ```
/// use clariq_index::analysis::stopwords::is_stop_word;
///
/// assert!(is_stop_word("what"));
/// assert!(is_stop_word("shouldn't"));
/// assert!(!is_stop_word("What"));
/// ```
pub fn is_stop_word(word: &str) -> bool {
    word.len() <= LONGEST && STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_distinct_and_in_byte_order() {
        assert_eq!(STOP_WORDS.len(), 179);
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn every_entry_is_found() {
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        let longest = STOP_WORDS.iter().map(|word| word.len()).max();
        assert_eq!(longest, Some(LONGEST));
    }

    #[test]
    fn case_and_newer_entries_do_not_match() {
        for word in ["I", "The", "i'm", "we're", "they'll", "would", "could", ""] {
            assert!(!is_stop_word(word), "{word:?}");
        }
    }
}
