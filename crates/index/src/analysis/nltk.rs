//! The tokens of the published `ClariQ` baseline.
//!
//! That baseline tokenises with NLTK 3.5's `word_tokenize`, drops NLTK's English stop words and
//! stems the rest with NLTK's `PorterStemmer`. BM25 scores agree with the published ones only if
//! each of these steps does, so all three are reproduced to the letter, oddities included.
//!
//! NLTK first cuts a text into sentences with a trained Punkt model. That step is left out on
//! purpose and a text is taken for one sentence, as with `word_tokenize(text, preserve_line=True)`:
//! no `ClariQ` request has a sentence end before its last character, and its questions and answers
//! have no punctuation at all. In other texts a period inside the text stays attached to its word,
//! where Punkt might have split it off.
//!
//! Texts of plain words take a short cut, which covers nearly all of `ClariQ`; the others go
//! through the cascade of substitutions that defines the tokeniser.

use super::porter::stem_into;
use clariq_core::is_python_space;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

/// NLTK's English stop words as `nltk_data` had them in 2020, in byte order for binary search.
/// Later editions added words such as `"i'm"`, which the published baseline keeps.
#[rustfmt::skip]
const STOP_WORDS: [&str; 179] = [
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

/// The surroundings that a match needs for its rule to apply. The `regex` crate has no look-ahead,
/// and its `\b` takes combining marks for parts of words where Python's does not, so both are
/// checked by hand.
#[derive(Clone, Copy, PartialEq)]
enum Limits {
    Anything,
    WordEnd,
    WholeWord,
}

/// A substitution over the whole text.
struct Substitution {
    pattern: Regex,
    replacement: &'static str,
    limits: Limits,
}

/// NLTK's substitutions, in its order. `\x1c-\x1f` are blank to Python only.
///
/// The period at the end of the text has two patterns: the first allows spaces among the closing
/// marks that follow it, the second does not but keeps those marks together.
const BEFORE_PADDING: [(&str, &str, Limits); 16] = [
    ("([«“‘„]|`+)", " $1 ", Limits::Anything),
    ("^\"", "``", Limits::Anything),
    ("(``)", " $1 ", Limits::Anything),
    ("([ (\\[{<])(\"|'{2})", "$1 `` ", Limits::Anything),
    // A lone letter after an apostrophe, unless it is a clitic (`'s`, `'t`).
    (r"(')([[\p{L}\p{N}_]--[mtsdMTSDſ]])", "$1 $2", Limits::WordEnd),
    (r#"([^.])(\.)([\])}>"'»”’ ]*)[\s\x1c-\x1f]*$"#, "$1 $2 $3 ", Limits::Anything),
    (r"([:,])(\D)", " $1 $2", Limits::Anything),
    (r"([:,])(\n?)$", " $1 $2", Limits::Anything),
    (r"\.{2,}", " $0 ", Limits::Anything),
    ("[;@#$%&]", " $0 ", Limits::Anything),
    (r#"([^.])(\.)([\])}>"']*)[\s\x1c-\x1f]*$"#, "$1 $2$3 ", Limits::Anything),
    ("[?!]", " $0 ", Limits::Anything),
    ("([^'])' ", "$1 ' ", Limits::Anything),
    (r"[*]", " $0 ", Limits::Anything),
    (r"[\]\[(){}<>]", " $0 ", Limits::Anything),
    ("--", " -- ", Limits::Anything),
];

/// The substitutions that rely on a space at both ends of the text: closing quotes, clitics, and
/// words spoken as one. Under `(?i)` Python also takes `ı` and `İ` for an `i`. The rule for `mor'n`
/// looks idle, as the one for lone letters has split that word before, but it does fire in
/// `mor'nn't`.
const AFTER_PADDING: [(&str, &str, Limits); 15] = [
    ("([»”’])", " $1 ", Limits::Anything),
    ("\"", " '' ", Limits::Anything),
    (r"([^\s\x1c-\x1f])('')", "$1 $2 ", Limits::Anything),
    ("([^' ])('[sS]|'[mM]|'[dD]|') ", "$1 $2 ", Limits::Anything),
    ("([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", "$1 $2 ", Limits::Anything),
    ("(?i)(can)(not)", " $1 $2 ", Limits::WholeWord),
    ("(?i)(d)('ye)", " $1 $2 ", Limits::WholeWord),
    ("(?i)(gim)(me)", " $1 $2 ", Limits::WholeWord),
    ("(?i)(gon)(na)", " $1 $2 ", Limits::WholeWord),
    ("(?i)(got)(ta)", " $1 $2 ", Limits::WholeWord),
    ("(?i)(lem)(me)", " $1 $2 ", Limits::WholeWord),
    ("(?i)(mor)('n)", " $1 $2 ", Limits::WholeWord),
    (r"(?i)(wan)(na)[\s\x1c-\x1f]", " $1 $2 ", Limits::WholeWord),
    ("(?i) ('t)([iıİ]s)", " $1 $2 ", Limits::WholeWord),
    ("(?i) ('t)(was)", " $1 $2 ", Limits::WholeWord),
];

static OPENING: LazyLock<Vec<Substitution>> = LazyLock::new(|| compile(&BEFORE_PADDING));
static CLOSING: LazyLock<Vec<Substitution>> = LazyLock::new(|| compile(&AFTER_PADDING));
static WORD_CHAR: LazyLock<Regex> = LazyLock::new(|| compiled(r"^[\p{L}\p{N}_]$"));

/// The words without an apostrophe that the tokeniser cuts in two, each after its third letter.
const FUSED: [&str; 6] = ["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"];

/// Splits `text` into words and punctuation as NLTK 3.5 does.
///
/// ```
/// use clariq_index::analysis::nltk::word_tokenize;
///
/// let words = word_tokenize("I'm looking for \"wind\" power, you cannot.");
/// assert_eq!(words[..7], ["I", "'m", "looking", "for", "``", "wind", "''"]);
/// assert_eq!(words[7..], ["power", ",", "you", "can", "not", "."]);
/// ```
pub fn word_tokenize(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(text, |word| words.push(word.to_owned()));
    words
}

/// The tokens of the baseline: words without stop words, stemmed. Stop words are
/// compared with their case: a sentence that opens with `What` keeps it.
pub(super) fn for_each_token(text: &str, emit: &mut dyn FnMut(&str)) {
    let mut token = String::new();
    for_each_word(text, |word| {
        if !is_stop_word(word) {
            stem_into(word, &mut token);
            emit(&token);
        }
    });
}

/// True for a stop word. Comparing the few with the same first letter is faster than hashing or a
/// binary search.
fn is_stop_word(word: &str) -> bool {
    static BY_LETTER: LazyLock<[&[&str]; 26]> = LazyLock::new(|| {
        let mut by_letter: [&[&str]; 26] = [&[]; 26];
        for words in STOP_WORDS.chunk_by(|a, b| a.as_bytes()[0] == b.as_bytes()[0]) {
            by_letter[usize::from(words[0].as_bytes()[0] - b'a')] = words;
        }
        by_letter
    });
    let letter = word.bytes().next().unwrap_or_default().wrapping_sub(b'a');
    BY_LETTER.get(usize::from(letter)).is_some_and(|words| words.contains(&word))
}

fn for_each_word(text: &str, mut emit: impl FnMut(&str)) {
    match plain_body(text) {
        Some(body) => {
            for_each_plain_word(body, &mut emit);
            if body.len() < text.len() {
                emit(".");
            }
        }
        None => split_on_blanks(&mark_boundaries(text), &mut emit),
    }
}

/// The part of `text` before its final period, if all of it is words, blanks and marks that are
/// tokens in any position.
fn plain_body(text: &str) -> Option<&str> {
    let body = text.strip_suffix('.').unwrap_or(text);
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ' | b'?' | b'!');
    body.bytes().all(plain).then_some(body)
}

/// Emits the words of a text that [`plain_body`] has let through.
fn for_each_plain_word(body: &str, emit: &mut impl FnMut(&str)) {
    let mut rest = body;
    while !rest.is_empty() {
        let end = rest.bytes().position(|byte| matches!(byte, b' ' | b'?' | b'!'));
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        match cut_fused(word) {
            Some((head, tail)) => {
                emit(head);
                emit(tail);
            }
            None if word.is_empty() => {}
            None => emit(word),
        }
        let (mark, after) = after.split_at(after.len().min(1));
        if !matches!(mark, "" | " ") {
            emit(mark);
        }
        rest = after;
    }
}

/// The two halves of a word spoken as one, such as `gonna`.
fn cut_fused(word: &str) -> Option<(&str, &str)> {
    let candidate = matches!(word.len(), 5 | 6);
    let fused = candidate && FUSED.iter().any(|known| known.eq_ignore_ascii_case(word));
    fused.then(|| word.split_at(3))
}

/// Runs the whole cascade: the result has a blank at each token boundary.
fn mark_boundaries(text: &str) -> String {
    let opened = substitute(&OPENING, text.to_owned());
    substitute(&CLOSING, format!(" {opened} "))
}

fn substitute(rules: &[Substitution], mut text: String) -> String {
    for rule in rules {
        if let Cow::Owned(changed) = rule.apply(&text) {
            text = changed;
        }
    }
    text
}

fn split_on_blanks(text: &str, emit: &mut impl FnMut(&str)) {
    text.split(is_python_space).filter(|token| !token.is_empty()).for_each(emit);
}

/// True for the characters that Python's `\w` matches: letters and numbers, no combining marks.
fn is_word_char(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_alphanumeric() || letter == '_';
    }
    WORD_CHAR.is_match(letter.encode_utf8(&mut [0; 4]))
}

impl Substitution {
    fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.pattern.replace_all(text, |found: &Captures<'_>| {
            let mut replaced = String::new();
            if self.allows(text, found) {
                found.expand(self.replacement, &mut replaced);
            } else {
                replaced.push_str(&found[0]);
            }
            replaced
        })
    }

    /// True if the rule applies to a match in its surroundings.
    fn allows(&self, text: &str, found: &Captures<'_>) -> bool {
        if self.limits == Limits::Anything {
            return true;
        }
        let (Some(first), Some(last)) = (found.get(1), found.get(2)) else {
            return true;
        };
        let before = text[..first.start()].chars().next_back();
        let after = text[last.end()..].chars().next();
        let starts = self.limits == Limits::WordEnd || !before.is_some_and(is_word_char);
        starts && !after.is_some_and(is_word_char)
    }
}

fn compile(rules: &[(&str, &'static str, Limits)]) -> Vec<Substitution> {
    let rule = |&(pattern, replacement, limits): &(&str, &'static str, Limits)| Substitution {
        pattern: compiled(pattern),
        replacement,
        limits,
    };
    rules.iter().map(rule).collect()
}

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("pattern is a constant of this module")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analyzer;
    use proptest::prelude::*;

    #[test]
    fn stop_words_are_distinct_and_in_byte_order() {
        assert_eq!(STOP_WORDS.len(), 179);
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
    }

    fn by_cascade(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        split_on_blanks(&mark_boundaries(text), &mut |word: &str| {
            words.push(word.to_owned());
        });
        words
    }

    #[test]
    fn apostrophes_separate_clitics_but_not_other_letters() {
        assert_eq!(word_tokenize("don't we'll O'Brien"), ["do", "n't", "we", "'ll", "O'Brien"]);
        assert_eq!(word_tokenize("d'ye 'tis"), ["d", "'ye", "'t", "is"]);
        assert_eq!(word_tokenize("a 'b c"), ["a", "'", "b", "c"]);
    }

    #[test]
    fn only_the_last_period_is_a_token() {
        assert_eq!(word_tokenize("U.S. law. It is."), ["U.S.", "law.", "It", "is", "."]);
        assert_eq!(word_tokenize("(it is.)"), ["(", "it", "is", ".", ")"]);
        assert_eq!(word_tokenize("wait..."), ["wait", "..."]);
    }

    #[test]
    fn stop_words_match_before_stemming_and_in_lower_case() {
        let tokens = |text| Analyzer::Nltk.tokens(text);
        assert_eq!(tokens("The theirs whys"), ["the", "whi"]);
        assert_eq!(tokens("I don't"), ["I", "n't"]);
        assert!(tokens("").is_empty());
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
    }

    #[test]
    fn fused_words_split_only_as_whole_words() {
        assert_eq!(word_tokenize("Cannot cannots"), ["Can", "not", "cannots"]);
        assert_eq!(word_tokenize("wanna-be gonna-be"), ["wanna-be", "gon", "na", "-be"]);
        assert_eq!(word_tokenize("cannot\u{301}"), ["can", "not", "\u{301}"]);
    }

    proptest! {
        #[test]
        fn the_short_cut_equals_the_regular_expressions(
            words in prop::collection::vec("cannot|Gonna|wanna|gotta_?|LEMME|gimme|[a-zA-Z0-9_]{0,7}", 0..8),
            gap in "[ ?!]{1,3}",
            end in "[ ?!]{0,2}[.]?",
        ) {
            let text = words.join(&gap) + &end;
            prop_assert!(plain_body(&text).is_some());
            prop_assert_eq!(word_tokenize(&text), by_cascade(&text));
        }

        #[test]
        fn nearly_plain_text_is_tokenised_as_by_the_regular_expressions(text in "[a-zA-Z0-9_.?! ]{0,16}(cannot|gonna)?[-.?! 'é]{0,2}") {
            prop_assert_eq!(word_tokenize(&text), by_cascade(&text));
        }
    }
}
