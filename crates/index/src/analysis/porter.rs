//! Porter's stemmer, as NLTK 3.5 has it and as its author published it in Java.
//!
//! M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980), with its author's later
//! changes. NLTK's default mode adds a pool of irregular forms, `ie` kept in four-letter words
//! (`dies` → `die`), `y` turned into `i` only after a consonant, and a few extra suffixes. Two
//! habits of release 3.5 differ from later ones and are kept on purpose: words of at most two
//! letters come back in their own case (`US` stays `US`), and the pool is consulted before
//! lower-casing (`News` misses it and becomes `new`).
//!
//! Characters are counted, not bytes, and every character other than `a e i o u` (and some `y`) is
//! a consonant: digits, punctuation and letters outside ASCII as well.

/// The variant of the algorithm.
#[derive(Clone, Copy, PartialEq)]
enum Rules {
    Nltk,
    Author,
}

/// A suffix and what takes its place.
type Suffix = (&'static str, &'static str);

/// Step 2. Beside the paper's rules: `bli` for `abli`, `logi`, and at the end NLTK's `fulli`.
const DOUBLE_SUFFIXES: [Suffix; 22] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
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
    ("logi", "log"),
    ("fulli", "ful"),
];

/// Step 3.
const ADJECTIVE_SUFFIXES: [Suffix; 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Step 4, in the order in which they are tried: `ement` before `ment` before `ent` decides which
/// stem is measured.
const FINAL_SUFFIXES: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

/// NLTK's stem of a word.
///
/// ```
/// use clariq_index::analysis::porter::stem;
///
/// assert_eq!(["relational", "Skies", "skies", "US"].map(stem), ["relat", "ski", "sky", "US"]);
/// ```
pub fn stem(word: &str) -> String {
    let mut stem = String::new();
    stem_into(word, &mut stem);
    stem
}

/// Overwrites `stem` with NLTK's stem of a word.
pub(super) fn stem_into(word: &str, stem: &mut String) {
    let known = match word {
        _ if word.chars().nth(2).is_none() => word,
        "sky" | "skies" => "sky",
        "dying" => "die",
        "lying" => "lie",
        "tying" => "tie",
        "inning" | "innings" => "inning",
        "outing" | "outings" => "outing",
        "canning" | "cannings" => "canning",
        "news" | "howe" | "proceed" | "exceed" | "succeed" => word,
        _ => {
            lowercase(word, stem);
            return strip(stem, Rules::Nltk);
        }
    };
    known.clone_into(stem);
}

/// Overwrites `lower` with a word in lower case.
fn lowercase(word: &str, lower: &mut String) {
    if word.is_ascii() {
        word.clone_into(lower);
        lower.make_ascii_lowercase();
    } else {
        *lower = word.to_lowercase();
    }
}

/// Reduces a word in lower case to its stem, by the rules of the stemmer's author.
pub(super) fn stem_as_author(word: &mut String) {
    // Java counts UTF-16 code units.
    if word.encode_utf16().nth(2).is_some() {
        strip(word, Rules::Author);
    }
}

/// Runs all suffix steps on a word in lower case. Every suffix ends with a letter of English.
fn strip(word: &mut String, rules: Rules) {
    if !word.as_bytes().last().is_some_and(u8::is_ascii_lowercase) {
        return;
    }
    strip_plural(word, rules);
    strip_past_and_gerund(word, rules);
    soften_y(word, rules);
    reduce_double_suffix(word, rules);
    replace_first(word, &ADJECTIVE_SUFFIXES);
    drop_final_suffix(word);
    drop_final_e(word, rules);
    // Step 5b.
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 {
        word.pop();
    }
}

/// Step 1a.
fn strip_plural(word: &mut String, rules: Rules) {
    if word.ends_with("ies") {
        reduce_ie(word, rules);
    } else if word.ends_with("sses") {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
}

/// Leaves `i` of a final `ies` or `ied`; NLTK leaves `ie` of a word of four letters, so that `ties`
/// and `tied` meet at `tie`.
fn reduce_ie(word: &mut String, rules: Rules) {
    let keeps_e = rules == Rules::Nltk && word.chars().count() == 4;
    word.truncate(word.len() - if keeps_e { 1 } else { 2 });
}

/// Step 1b.
fn strip_past_and_gerund(word: &mut String, rules: Rules) {
    if rules == Rules::Nltk && word.ends_with("ied") {
        reduce_ie(word, rules);
    } else if let Some(rest) = word.strip_suffix("eed") {
        if measure(rest) > 0 {
            word.pop();
        }
    } else if let Some(rest) = word.strip_suffix("ed").or_else(|| word.strip_suffix("ing"))
        && vowels(rest).any(|vowel| vowel)
    {
        word.truncate(rest.len());
        mend_ending(word, rules);
    }
}

/// The second half of step 1b: gives back an `e`, or drops one of a pair of letters, where removing
/// `ed` or `ing` exposed a broken ending.
fn mend_ending(word: &mut String, rules: Rules) {
    if ["at", "bl", "iz"].iter().any(|ending| word.ends_with(ending)) {
        word.push('e');
    } else if ends_double_consonant(word) {
        if !word.ends_with(['l', 's', 'z']) {
            word.pop();
        }
    } else if rules == Rules::Nltk && word.ends_with("*d") {
        // NLTK names its double-consonant rule `*d` and then also compares that name with the word
        // itself.
        word.truncate(word.len() - 2);
        word.push('d');
    } else if measure(word) == 1 && ends_short_syllable(word, rules) {
        word.push('e');
    }
}

/// Step 1c.
fn soften_y(word: &mut String, rules: Rules) {
    let softens = |rest: &str| match rules {
        // One letter alone before the `y` keeps it (`by`, `éy`).
        Rules::Nltk => rest.chars().nth(1).is_some() && ends_in_consonant(rest),
        Rules::Author => vowels(rest).any(|vowel| vowel),
    };
    if word.strip_suffix('y').is_some_and(softens) {
        word.pop();
        word.push('i');
    }
}

/// Step 2.
fn reduce_double_suffix(word: &mut String, rules: Rules) {
    if rules == Rules::Author {
        return replace_first(word, &DOUBLE_SUFFIXES[..21]);
    }
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
    replace_first(word, &DOUBLE_SUFFIXES);
}

/// Step 4.
fn drop_final_suffix(word: &mut String) {
    let found = FINAL_SUFFIXES.iter().find(|suffix| ends_with(word, suffix));
    let Some(suffix) = found else { return };
    let rest = &word[..word.len() - suffix.len()];
    let allowed = *suffix != "ion" || rest.ends_with(['s', 't']);
    if allowed && measure(rest) > 1 {
        word.truncate(word.len() - suffix.len());
    }
}

/// Step 5a.
fn drop_final_e(word: &mut String, rules: Rules) {
    let Some(rest) = word.strip_suffix('e') else { return };
    let size = measure(rest);
    if size > 1 || size == 1 && !ends_short_syllable(rest, rules) {
        word.pop();
    }
}

/// Applies the first suffix that fits the ending if a stem of positive measure is left of it. One
/// that fits but leaves less ends the search.
fn replace_first(word: &mut String, suffixes: &[Suffix]) {
    let found = suffixes.iter().find(|(suffix, _)| ends_with(word, suffix));
    let Some((suffix, replacement)) = found else { return };
    let rest = word.len() - suffix.len();
    if measure(&word[..rest]) > 0 {
        word.truncate(rest);
        word.push_str(replacement);
    }
}

/// Most suffixes of a table differ from the word in the last letter already.
fn ends_with(word: &str, suffix: &str) -> bool {
    word.as_bytes().last() == suffix.as_bytes().last() && word.ends_with(suffix)
}

/// True for each character of `word` that is a vowel. A `y` is one only after a consonant.
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

/// Porter's measure: the number of times that a consonant follows a vowel.
fn measure(word: &str) -> usize {
    let mut after_vowel = false;
    let mut count = 0;
    for vowel in vowels(word) {
        count += usize::from(after_vowel && !vowel);
        after_vowel = vowel;
    }
    count
}

fn ends_in_consonant(word: &str) -> bool {
    vowels(word).last() == Some(false)
}

fn ends_double_consonant(word: &str) -> bool {
    let mut letters = word.chars().rev();
    let last = letters.next();
    last.is_some() && last == letters.next() && ends_in_consonant(word)
}

/// True if `word` ends consonant-vowel-consonant, the last not `w`, `x` or `y` (`hop`), or for NLTK
/// is just vowel-consonant (`us`): then it lost an `e`.
fn ends_short_syllable(word: &str, rules: Rules) -> bool {
    let mut ending = [None; 3];
    for vowel in vowels(word) {
        ending = [ending[1], ending[2], Some(vowel)];
    }
    match ending {
        [Some(false), Some(true), Some(false)] => !word.ends_with(['w', 'x', 'y']),
        [None, Some(true), Some(false)] => rules == Rules::Nltk,
        _ => false,
    }
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

    /// Stems of NLTK's `PorterStemmer` in its mode `MARTIN_EXTENSIONS`, which is the author's
    /// algorithm.
    #[test]
    fn stems_are_those_of_the_author() {
        let lines = include_str!("lucene/stems.txt").lines();
        assert!(lines.clone().count() > 500);
        for line in lines {
            let (word, expected) = line.split_once(' ').unwrap();
            let mut stemmed = word.to_owned();
            stem_as_author(&mut stemmed);
            assert_eq!(stemmed, expected, "{word}");
        }
    }
}
