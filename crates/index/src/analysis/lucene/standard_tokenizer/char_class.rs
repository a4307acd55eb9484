//! The classes that the grammar of `StandardTokenizerImpl.jflex` gives to characters (Unicode 12.1,
//! Emoji 12), from `classes.txt`, which `scripts/make-golden lucene` writes.

use std::sync::LazyLock;

/// A character class of the rules, in the order of the numbers in `classes.txt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharClass {
    Other,
    DoubleQuote,
    /// `#` and `*`.
    KeycapBase,
    SingleQuote,
    MidNum,
    MidNumLet,
    /// Digits that may also begin a keycap.
    AsciiDigit,
    MidLetter,
    Letter,
    ExtendNumLet,
    Emoji,
    Extend,
    HebrewLetter,
    Digit,
    SouthEastAsian,
    SouthEastAsianMark,
    Hangul,
    Joiner,
    Keycap,
    EmojiLetter,
    Han,
    Katakana,
    Hiragana,
    TextPresentation,
    EmojiPresentation,
    RegionalIndicator,
    EmojiModifier,
    Tag,
    TagEnd,
}

const CLASSES: [CharClass; 29] = [
    CharClass::Other,
    CharClass::DoubleQuote,
    CharClass::KeycapBase,
    CharClass::SingleQuote,
    CharClass::MidNum,
    CharClass::MidNumLet,
    CharClass::AsciiDigit,
    CharClass::MidLetter,
    CharClass::Letter,
    CharClass::ExtendNumLet,
    CharClass::Emoji,
    CharClass::Extend,
    CharClass::HebrewLetter,
    CharClass::Digit,
    CharClass::SouthEastAsian,
    CharClass::SouthEastAsianMark,
    CharClass::Hangul,
    CharClass::Joiner,
    CharClass::Keycap,
    CharClass::EmojiLetter,
    CharClass::Han,
    CharClass::Katakana,
    CharClass::Hiragana,
    CharClass::TextPresentation,
    CharClass::EmojiPresentation,
    CharClass::RegionalIndicator,
    CharClass::EmojiModifier,
    CharClass::Tag,
    CharClass::TagEnd,
];

struct Range {
    first: u32,
    last: u32,
    class: CharClass,
}

static RANGES: LazyLock<Vec<Range>> =
    LazyLock::new(|| include_str!("../classes.txt").lines().filter_map(parse_range).collect());

static ASCII: LazyLock<[CharClass; 128]> =
    LazyLock::new(|| std::array::from_fn(|code| search(code as u32)));

fn parse_range(line: &str) -> Option<Range> {
    let mut cells = line.split(' ');
    let first = u32::from_str_radix(cells.next()?, 16).ok()?;
    let last = u32::from_str_radix(cells.next()?, 16).ok()?;
    let number: usize = cells.next()?.parse().ok()?;
    Some(Range { first, last, class: *CLASSES.get(number)? })
}

fn search(code: u32) -> CharClass {
    let after = RANGES.partition_point(|range| range.first <= code);
    match after.checked_sub(1).map(|place| &RANGES[place]) {
        Some(range) if code <= range.last => range.class,
        _ => CharClass::Other,
    }
}

impl CharClass {
    pub(super) fn of(letter: char) -> Self {
        match ASCII.get(letter as usize) {
            Some(class) => *class,
            None => search(letter.into()),
        }
    }

    /// `ExtFmtZwj` of the grammar: continues any character.
    pub(super) fn extends(self) -> bool {
        self == Self::EmojiPresentation || self == Self::TextPresentation || self.extends_emoji()
    }

    /// `ExtFmtZwjSansPresSel` of the grammar.
    pub(super) fn extends_emoji(self) -> bool {
        matches!(
            self,
            Self::Extend
                | Self::SouthEastAsianMark
                | Self::Joiner
                | Self::Keycap
                | Self::EmojiModifier
                | Self::Tag
                | Self::TagEnd
        )
    }

    pub(super) fn is_letter(self) -> bool {
        matches!(self, Self::Letter | Self::HebrewLetter | Self::Hangul | Self::EmojiLetter)
    }

    pub(super) fn is_digit(self) -> bool {
        matches!(self, Self::AsciiDigit | Self::Digit)
    }

    /// Joins two letters, as in `o'clock`.
    pub(super) fn joins_letters(self) -> bool {
        matches!(self, Self::SingleQuote | Self::MidNumLet | Self::MidLetter)
    }

    /// Joins two digits, as in `1,000`.
    pub(super) fn joins_digits(self) -> bool {
        matches!(self, Self::SingleQuote | Self::MidNumLet | Self::MidNum)
    }
}
