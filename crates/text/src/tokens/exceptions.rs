//! Words that spaCy's English tokenizer splits, or keeps whole, against its general rules.

use super::affixes;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The lengths in bytes of the tokens of an exception.
pub(super) type Pieces = Box<[u8]>;

/// The exceptions, and those of them that the general rules would cut.
pub(super) struct Exceptions {
    words: HashMap<String, Pieces>,
    /// For an exception that the rules would cut: the lengths of what they would make of it.
    cut: HashMap<String, Pieces>,
    longest: usize,
    /// The most pieces that the rules would make of an exception.
    pub(super) most_pieces: usize,
}

/// The table, built when a text is first counted.
pub(super) static EXCEPTIONS: LazyLock<Exceptions> = LazyLock::new(Exceptions::new);

/// Words whose forms without an apostrophe are words of their own, and stay whole.
const ORDINARY: [&str; 8] = ["ill", "its", "hell", "shell", "shed", "were", "well", "whore"];

/// Abbreviations whose full stop belongs to them, and clippings that keep their apostrophe.
const WHOLE: &str = "'d 'S 's ‘S ‘s and/or w/o 're 'Cause 'cause 'cos 'Cos 'coz 'Coz 'cuz 'Cuz \
    'bout ma'am Ma'am o'clock O'clock lovin' Lovin' lovin Lovin havin' Havin' havin Havin em 'em ll \
    'll nuff 'nuff a.m. p.m. Adm. Bros. co. Co. Corp. D.C. Dr. e.g. E.g. E.G. Gen. Gov. i.e. I.e. \
    I.E. Inc. Jr. Ltd. Md. Messrs. Mo. Mont. Mr. Mrs. Ms. Ph.D. Prof. Rep. Rev. Sen. St. vs. v.s. \
    Mt. Ak. Ala. Apr. Ariz. Ark. Aug. Calif. Colo. Conn. Dec. Del. Feb. Fla. Ga. Ia. Id. Ill. Ind. \
    Jan. Jul. Jun. Kan. Kans. Ky. La. Mar. Mass. Mich. Minn. Miss. N.C. N.D. N.H. N.J. N.M. N.Y. \
    Neb. Nebr. Nev. Nov. Oct. Okla. Ore. Pa. S.C. Sep. Sept. Tenn. Va. Wash. Wis. C++ \\t \\n — ' '' \
    \\\") <space> ä. ö. ü.";

/// Faces that stay one token.
const EMOTICONS: &str = r":) :-) :)) :-)) :))) :-))) (: (-: =) (= :] :-] [: [-: [= =] :o) (o: :} :-}
    8) 8-) (-8 ;) ;-) (; (-; :( :-( :(( :-(( :((( :-((( ): )-: =( >:( :') :'-) :'( :'-( :/ :-/ =/
    =| :| :-| ]= =[ :1 :P :-P :p :-p :O :-O :o :-o :0 :-0 :() >:o :* :-* :3 :-3 =3 :> :-> :X :-X :x
    :-x :D :-D ;D ;-D =D xD XD xDD XDD 8D 8-D ^_^ ^__^ ^___^ >.< >.> <.< ._. ;_; -_- -__- v.v V.V
    v_v V_V o_o o_O O_o O_O 0_o o_0 0_0 o.O O.o O.O o.o 0.0 o.0 0.o @_@ <3 <33 <333 </3 (^_^) (-_-)
    (._.) (>_<) (*_*) (¬_¬) ಠ_ಠ ಠ︵ಠ (ಠ_ಠ) ¯\(ツ)/¯ (╯°□°）╯︵┻━┻ ><(((*>";

impl Exceptions {
    fn new() -> Self {
        let mut words = HashMap::new();
        let mut add = |pieces: &[&str]| add_with_typographic(&mut words, pieces);
        add_pronouns(&mut add);
        add_question_words(&mut add);
        add_verbs(&mut add);
        add_clippings(&mut add);
        for word in WHOLE.split_whitespace().chain(EMOTICONS.split_whitespace()) {
            add(&[word]);
        }
        for letter in 'a'..='z' {
            add(&[&format!("{letter}.")]);
        }
        for scale in ["c", "f", "k", "C", "F", "K"] {
            add(&["°", scale, "."]);
        }
        let cut: HashMap<String, Pieces> = words
            .keys()
            .filter(|word| {
                affixes::prefix(word) + affixes::suffix(word) > 0
                    || !affixes::infixes(word).is_empty()
            })
            .map(|word| {
                let mut pieces = Vec::new();
                super::cut_by_rules(word, 0, None, &mut |range| pieces.push(range.len() as u8));
                (word.clone(), pieces.into_boxed_slice())
            })
            .collect();
        Self {
            longest: words.keys().map(String::len).max().unwrap_or(0),
            most_pieces: cut.values().map(|pieces| pieces.len()).max().unwrap_or(0),
            words,
            cut,
        }
    }

    /// The tokens of `word` where it is an exception.
    pub(super) fn get(&self, word: &str) -> Option<&Pieces> {
        if word.len() > self.longest { None } else { self.words.get(word) }
    }

    /// What the rules alone make of `word` where it is an exception that they would cut.
    pub(super) fn cut(&self, word: &str) -> Option<&Pieces> {
        if word.len() > self.longest { None } else { self.cut.get(word) }
    }
}

/// Adds the exception of `pieces`, and the same with typographic apostrophes.
fn add_with_typographic(words: &mut HashMap<String, Pieces>, pieces: &[&str]) {
    let word = pieces.concat();
    if ORDINARY.contains(&word.to_lowercase().as_str()) {
        return;
    }
    let typographic: Vec<String> = pieces.iter().map(|piece| piece.replace('\'', "’")).collect();
    let lengths = |pieces: &mut dyn Iterator<Item = usize>| pieces.map(|n| n as u8).collect();
    words.insert(typographic.concat(), lengths(&mut typographic.iter().map(String::len)));
    words.insert(word, lengths(&mut pieces.iter().map(|piece| piece.len())));
}

fn capitalized(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// Both spellings of the endings of a word: `'ll` and `ll`.
fn add_endings(add: &mut dyn FnMut(&[&str]), word: &str, endings: &[&[&str]]) {
    for word in [word.to_owned(), capitalized(word)] {
        for ending in endings {
            let bare: Vec<String> = ending.iter().map(|piece| piece.replace('\'', "")).collect();
            add(&[&[word.as_str()], *ending].concat());
            add(&[&[word.as_str()], &*bare.iter().map(String::as_str).collect::<Vec<_>>()].concat());
        }
    }
}

const WILL_OR_WOULD: [&[&str]; 4] = [&["'ll"], &["'ll", "'ve"], &["'d"], &["'d", "'ve"]];

fn add_pronouns(add: &mut dyn FnMut(&[&str])) {
    add_endings(add, "i", &[&["'m"], &["'m", "a"]]);
    for pronoun in ["i", "you", "he", "she", "it", "we", "they"] {
        add_endings(add, pronoun, &WILL_OR_WOULD);
    }
    for word in ["i", "you", "we", "they"] {
        add_endings(add, word, &[&["'ve"]]);
    }
    for word in ["you", "we", "they"] {
        add_endings(add, word, &[&["'re"]]);
    }
    for word in ["he", "she", "it"] {
        add_endings(add, word, &[&["'s"]]);
    }
}

fn add_question_words(add: &mut dyn FnMut(&[&str])) {
    let both = ["who", "what", "when", "where", "why", "how", "there"];
    for word in both.iter().chain(&["that", "this", "these", "those"]) {
        add_endings(add, word, &WILL_OR_WOULD);
    }
    for word in both.iter().chain(&["that", "this"]) {
        add_endings(add, word, &[&["'s"]]);
    }
    for word in both.iter().chain(&["these", "those"]) {
        add_endings(add, word, &[&["'re"], &["'ve"]]);
    }
}

fn add_verbs(add: &mut dyn FnMut(&[&str])) {
    let modals = ["ca", "could", "do", "does", "did", "had", "may", "might", "must", "need"];
    for verb in modals.iter().chain(&["ought", "sha", "should", "wo", "would"]) {
        add_endings(add, verb, &[&["n't"], &["n't", "'ve"]]);
    }
    for verb in ["could", "might", "must", "should", "would"] {
        add_endings(add, verb, &[&["'ve"]]);
    }
    for verb in ["ai", "are", "is", "was", "were", "have", "has", "dare"] {
        add_endings(add, verb, &[&["n't"]]);
    }
}

fn add_clippings(add: &mut dyn FnMut(&[&str])) {
    for word in ["doin", "goin", "nothin", "nuthin", "ol", "somethin"] {
        for word in [word.to_owned(), capitalized(word)] {
            add(&[&word]);
            add(&[&format!("{word}'")]);
        }
    }
    for hour in 1..=12 {
        for period in ["a.m.", "am", "p.m.", "pm"] {
            add(&[&hour.to_string(), period]);
        }
    }
    let pairs = ["y'|all", "y|all", "how|'d|'y", "How|'d|'y", "not|'ve", "not|ve", "Not|'ve"];
    let more = ["Not|ve", "can|not", "Can|not", "gon|na", "Gon|na", "got|ta", "Got|ta", "let|'s"];
    for split in pairs.iter().chain(&more).chain(&["Let|'s", "c'm|on", "C'm|on"]) {
        add(&split.split('|').collect::<Vec<_>>());
    }
}
