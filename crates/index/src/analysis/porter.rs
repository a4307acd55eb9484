//! Porter's stemmer as NLTK 3.5 has it.
//!
//! This is Porter's suffix stripping with the changes NLTK makes in its
//! default mode: a pool of irregular forms, `ie` kept in four-letter words
//! (`dies` → `die`), `y` turned into `i` only after a consonant, and a few
//! extra suffixes. Two habits of release 3.5 differ from later ones and are
//! kept on purpose: words of at most two letters come back in their own case
//! (`US` stays `US`), and the pool is consulted before lower-casing (`News`
//! misses it and becomes `new`).
//!
//! NLTK counts characters, not bytes, and takes every character other than
//! `a e i o u` (and some `y`) for a consonant; the same holds here for
//! digits, punctuation and letters outside ASCII.

use std::borrow::Cow;

/// A suffix and what takes its place.
pub(super) type Rule = (&'static str, &'static str);

/// Step 2, without `alli` and `logi`, whose conditions differ.
const DOUBLE_SUFFIXES: [Rule; 20] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
];

/// Step 3.
pub(super) const ADJECTIVE_SUFFIXES: [Rule; 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Step 4, in the order in which NLTK tries them: `ement` before `ment`
/// before `ent` decides which stem is measured.
const FINAL_SUFFIXES: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

/// Returns the stem of `word`.
///
/// ```
/// use clariq_index::analysis::porter::stem;
///
/// assert_eq!(stem("relational"), "relat");
/// assert_eq!(stem("Skies"), "ski");
/// assert_eq!(stem("skies"), "sky");
/// assert_eq!(stem("US"), "US");
/// ```
pub fn stem(word: &str) -> Cow<'_, str> {
    if let Some(known) = known_stem(word) {
        return Cow::Borrowed(known);
    }
    let mut stem = String::with_capacity(word.len() + 1);
    strip(word, &mut stem);
    Cow::Owned(stem)
}

/// Writes the stem of `word` into `stem`, replacing what was there.
///
/// It saves [`stem`]'s allocation to a caller that stems many words.
///
/// ```
/// use clariq_index::analysis::porter::stem_into;
///
/// let mut buffer = String::new();
/// stem_into("dinosaurs", &mut buffer);
/// assert_eq!(buffer, "dinosaur");
/// ```
pub fn stem_into(word: &str, stem: &mut String) {
    match known_stem(word) {
        Some(known) => {
            stem.clear();
            stem.push_str(known);
        }
        None => strip(word, stem),
    }
}

/// The stem of a word that no rule touches: short, or irregular.
fn known_stem(word: &str) -> Option<&str> {
    match word {
        _ if word.chars().nth(2).is_none() => Some(word),
        "sky" | "skies" => Some("sky"),
        "dying" => Some("die"),
        "lying" => Some("lie"),
        "tying" => Some("tie"),
        "inning" | "innings" => Some("inning"),
        "outing" | "outings" => Some("outing"),
        "canning" | "cannings" => Some("canning"),
        "news" | "howe" | "proceed" | "exceed" | "succeed" => Some(word),
        _ => None,
    }
}

/// Runs all suffix steps on the lower-cased `word`.
fn strip(word: &str, stem: &mut String) {
    stem.clear();
    if word.is_ascii() {
        stem.push_str(word);
        stem.make_ascii_lowercase();
    } else {
        stem.push_str(&word.to_lowercase());
    }
    strip_plural(stem);
    strip_past_and_gerund(stem);
    soften_y(stem);
    reduce_double_suffix(stem);
    replace_first(stem, &ADJECTIVE_SUFFIXES, |rest| measure(rest) > 0);
    drop_final_suffix(stem);
    drop_final_e(stem);
    drop_double_l(stem);
}

/// Step 1a.
fn strip_plural(word: &mut String) {
    if word.ends_with("ies") {
        // Four letters keep the `e`, so `ties` and `tied` meet at `tie`.
        let removed = if has_four_chars(word) { 1 } else { 2 };
        word.truncate(word.len() - removed);
    } else if word.ends_with("sses") {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
}

/// Step 1b.
fn strip_past_and_gerund(word: &mut String) {
    if word.ends_with("ied") {
        let removed = if has_four_chars(word) { 1 } else { 2 };
        word.truncate(word.len() - removed);
        return;
    }
    if let Some(rest) = word.strip_suffix("eed") {
        if measure(rest) > 0 {
            word.pop();
        }
        return;
    }
    let rest = ["ed", "ing"]
        .iter()
        .find_map(|suffix| word.strip_suffix(suffix).filter(|rest| has_vowel(rest)));
    if let Some(length) = rest.map(str::len) {
        word.truncate(length);
        mend_ending(word);
    }
}

/// The second half of step 1b: gives back an `e`, or drops one of a pair of
/// letters, where removing `ed` or `ing` exposed a broken ending.
fn mend_ending(word: &mut String) {
    let rest_ends = |ending: &str| word.ends_with(ending);
    if rest_ends("at") || rest_ends("bl") || rest_ends("iz") {
        word.push('e');
    } else if ends_double_consonant(word) {
        if !word.ends_with(['l', 's', 'z']) {
            word.pop();
        }
    } else if rest_ends("*d") {
        // NLTK names its double-consonant rule `*d` and then also compares
        // that name with the word itself.
        word.truncate(word.len() - 2);
        word.push('d');
    } else if measure(word) == 1 && ends_short_syllable(word) {
        word.push('e');
    }
}

/// Step 1c.
fn soften_y(word: &mut String) {
    let Some(rest) = word.strip_suffix('y') else {
        return;
    };
    // One letter alone before the `y` keeps it (`by`, `éy`).
    if rest.chars().nth(1).is_some() && ends_in_consonant(rest) {
        word.pop();
        word.push('i');
    }
}

/// Step 2.
fn reduce_double_suffix(word: &mut String) {
    if word.strip_suffix("alli").is_some_and(|rest| measure(rest) > 0) {
        // The result passes through this step again: `ationalli` → `ational` → `ate`.
        word.truncate(word.len() - 2);
    }
    if word.ends_with("logi") {
        // The `l` counts as part of the stem, so that `geologi` qualifies.
        if measure(&word[..word.len() - 3]) > 0 {
            word.pop();
        }
        return;
    }
    replace_first(word, &DOUBLE_SUFFIXES, |rest| measure(rest) > 0);
}

/// Step 4.
pub(super) fn drop_final_suffix(word: &mut String) {
    let found = FINAL_SUFFIXES.iter().find(|suffix| word.ends_with(**suffix));
    let Some(suffix) = found else {
        return;
    };
    let rest = &word[..word.len() - suffix.len()];
    let allowed = *suffix != "ion" || rest.ends_with(['s', 't']);
    if allowed && measure(rest) > 1 {
        word.truncate(word.len() - suffix.len());
    }
}

/// Step 5a.
fn drop_final_e(word: &mut String) {
    let Some(rest) = word.strip_suffix('e') else {
        return;
    };
    let size = measure(rest);
    if size > 1 || (size == 1 && !ends_short_syllable(rest)) {
        word.pop();
    }
}

/// Step 5b.
pub(super) fn drop_double_l(word: &mut String) {
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 {
        word.pop();
    }
}

/// Applies the first rule that fits the ending. A rule that fits but whose
/// condition fails ends the search, as in NLTK.
pub(super) fn replace_first(word: &mut String, rules: &[Rule], condition: impl Fn(&str) -> bool) {
    let found = rules.iter().find(|(suffix, _)| word.ends_with(suffix));
    let Some((suffix, replacement)) = found else {
        return;
    };
    let rest = word.len() - suffix.len();
    if condition(&word[..rest]) {
        word.truncate(rest);
        word.push_str(replacement);
    }
}

/// For each character of `word`, whether it is a vowel. A `y` is one after
/// a consonant only.
fn vowels(word: &str) -> impl Iterator<Item = bool> + '_ {
    let mut after_consonant = false;
    word.chars().map(move |letter| {
        let vowel = match letter {
            'a' | 'e' | 'i' | 'o' | 'u' => true,
            'y' => after_consonant,
            _ => false,
        };
        after_consonant = !vowel;
        vowel
    })
}

/// How many times a consonant follows a vowel: Porter's measure.
pub(super) fn measure(word: &str) -> usize {
    let mut after_vowel = false;
    let mut count = 0;
    for vowel in vowels(word) {
        count += usize::from(after_vowel && !vowel);
        after_vowel = vowel;
    }
    count
}

pub(super) fn has_vowel(word: &str) -> bool {
    vowels(word).any(|vowel| vowel)
}

pub(super) fn ends_in_consonant(word: &str) -> bool {
    vowels(word).last() == Some(false)
}

pub(super) fn ends_double_consonant(word: &str) -> bool {
    let mut letters = word.chars().rev();
    let last = letters.next();
    last.is_some() && last == letters.next() && ends_in_consonant(word)
}

/// Whether `word` ends consonant-vowel-consonant, the last not `w`, `x` or
/// `y` (`hop`), or is just vowel-consonant (`us`): then it lost an `e`.
fn ends_short_syllable(word: &str) -> bool {
    let mut ending = [None; 3];
    let mut length = 0;
    for vowel in vowels(word) {
        ending = [ending[1], ending[2], Some(vowel)];
        length += 1;
    }
    match ending {
        [Some(false), Some(true), Some(false)] => !word.ends_with(['w', 'x', 'y']),
        [None, Some(true), Some(false)] => length == 2,
        _ => false,
    }
}

fn has_four_chars(word: &str) -> bool {
    word.chars().count() == 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_irregular_words_keep_their_case_rules() {
        for (word, expected) in [
            ("US", "US"),
            ("É", "É"),
            ("News", "new"),
            ("news", "news"),
            ("succeed", "succeed"),
            ("dying", "die"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn nltk_extensions_apply() {
        for (word, expected) in [
            ("dies", "die"),
            ("flies", "fli"),
            ("died", "die"),
            ("spied", "spi"),
            ("enjoy", "enjoy"),
            ("geologi", "geolog"),
            ("a*ded", "ad"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn buffer_is_replaced() {
        let mut buffer = String::from("left over");
        stem_into("an", &mut buffer);
        assert_eq!(buffer, "an");
        stem_into("questions", &mut buffer);
        assert_eq!(buffer, "question");
    }
}
