//! The tokens of Lucene's `StandardTokenizer`: words by the rules of Unicode Standard Annex 29,
//! emoji sequences by Unicode Technical Standard 51, runs of South-East Asian letters, and single
//! ideographs and hiragana.
//!
//! The rules are those of `StandardTokenizerImpl.jflex`. The crate `unicode-segmentation` cuts 473 of
//! the 1,507 texts in `tests/data/lucene_texts.txt` in other places: it takes South-East Asian letters
//! one by one, and its emoji are not those of Lucene.

mod char_class;

use crate::analysis::LONGEST_WORD;
use char_class::CharClass;

/// A position in a text.
#[derive(Clone, Copy)]
struct Cursor<'t> {
    text: &'t str,
    position: usize,
}

impl Cursor<'_> {
    fn peek(self) -> Option<CharClass> {
        self.text[self.position..].chars().next().map(CharClass::of)
    }

    fn is_after_joiner(self) -> bool {
        self.text[..self.position].ends_with('\u{200d}')
    }

    fn advance(&mut self) {
        let letter = self.text[self.position..].chars().next();
        self.position += letter.map_or(0, char::len_utf8);
    }

    fn skip(&mut self, is_skipped: impl Fn(CharClass) -> bool) {
        while self.peek().is_some_and(&is_skipped) {
            self.advance();
        }
    }

    /// Passes over a character and what extends it.
    fn advance_extended(&mut self) {
        self.advance();
        self.skip(CharClass::extends);
    }
}

/// Calls `emit` with every token of a text.
pub(super) fn for_each_token<'t>(text: &'t str, mut emit: impl FnMut(&'t str)) {
    let mut start = 0;
    // The end of the part that Lucene's buffer holds, and the UTF-16 code units from `start` to it.
    let mut end = 0;
    let mut units = 0;
    while let Some(first) = text[start..].chars().next() {
        while let Some(letter) = text[end..].chars().next()
            && units + letter.len_utf16() <= LONGEST_WORD
        {
            units += letter.len_utf16();
            end += letter.len_utf8();
        }
        let length = token_length(&text[start..end]);
        let next = start + length.max(first.len_utf8());
        if length > 0 {
            emit(&text[start..next]);
        }
        units -= text[start..next].chars().map(char::len_utf16).sum::<usize>();
        start = next;
    }
}

/// The length in bytes of the longest token at the start of a text; 0 if none begins there.
fn token_length(text: &str) -> usize {
    let start = Cursor { text, position: 0 };
    let Some(first) = start.peek() else { return 0 };
    match first {
        CharClass::Letter
        | CharClass::HebrewLetter
        | CharClass::Hangul
        | CharClass::Katakana
        | CharClass::AsciiDigit
        | CharClass::Digit
        | CharClass::ExtendNumLet => word_length(start),
        CharClass::EmojiLetter => word_length(start).max(emoji_sequence_length(start)),
        CharClass::Emoji | CharClass::EmojiModifier | CharClass::Joiner => {
            emoji_sequence_length(start)
        }
        CharClass::KeycapBase => keycap_length(start),
        CharClass::RegionalIndicator => flag_length(start),
        CharClass::SouthEastAsian | CharClass::SouthEastAsianMark => south_east_asian_length(start),
        CharClass::Han | CharClass::Hiragana => {
            let mut cursor = start;
            cursor.advance_extended();
            cursor.position
        }
        CharClass::Other
        | CharClass::DoubleQuote
        | CharClass::SingleQuote
        | CharClass::MidNum
        | CharClass::MidNumLet
        | CharClass::MidLetter
        | CharClass::Extend
        | CharClass::Keycap
        | CharClass::TextPresentation
        | CharClass::EmojiPresentation
        | CharClass::Tag
        | CharClass::TagEnd => 0,
    }
}

/// The end of a word so far.
#[derive(PartialEq)]
enum WordEnd {
    /// `_` and the like, which joins everything; or nothing yet.
    Joint,
    Letter(CharClass),
    Digit,
    Katakana,
    /// A quote after a Hebrew letter, or two Hebrew letters around a double quote: only letters and
    /// digits may follow.
    HebrewQuote,
}

/// Rules WB5 to `WB13b`: letters, digits and katakana, and what may be between them.
fn word_length(mut cursor: Cursor) -> usize {
    let mut ending = WordEnd::Joint;
    let mut is_word = false;
    while let Some(class) = cursor.peek() {
        let mut next = cursor;
        next.advance_extended();
        let following = next.peek().unwrap_or(CharClass::Other);
        let ends_with_letter = matches!(ending, WordEnd::Letter(_));
        let ends_with_hebrew = ending == WordEnd::Letter(CharClass::HebrewLetter);
        if class == CharClass::ExtendNumLet {
            ending = WordEnd::Joint;
        } else if class == CharClass::Katakana
            && matches!(ending, WordEnd::Joint | WordEnd::Katakana)
        {
            ending = WordEnd::Katakana;
            is_word = true;
        } else if class.is_letter() && ending != WordEnd::Katakana {
            ending = WordEnd::Letter(class);
            is_word = true;
        } else if class.is_digit() && ending != WordEnd::Katakana {
            ending = WordEnd::Digit;
            is_word = true;
        } else if class.joins_digits() && ending == WordEnd::Digit && following.is_digit() {
            next.advance_extended();
        } else if class.joins_letters() && ends_with_letter && following.is_letter() {
            next.advance_extended();
            ending = WordEnd::Letter(following);
        } else if class == CharClass::SingleQuote && ends_with_hebrew {
            ending = WordEnd::HebrewQuote;
        } else if class == CharClass::DoubleQuote
            && ends_with_hebrew
            && following == CharClass::HebrewLetter
        {
            next.advance_extended();
            ending = WordEnd::HebrewQuote;
        } else {
            break;
        }
        cursor = next;
    }
    if is_word { cursor.position } else { 0 }
}

/// Emoji joined by U+200D, or one with tags.
fn emoji_sequence_length(start: Cursor) -> usize {
    let Some(mut end) = after_emoji(start) else { return 0 };
    if let Some(end) = after_tags(end) {
        return end.position;
    }
    loop {
        let mut next = end;
        if !end.is_after_joiner() {
            if end.peek() != Some(CharClass::Joiner) {
                break;
            }
            next.advance();
        }
        match after_emoji(next) {
            Some(next) => end = next,
            None => break,
        }
    }
    end.position
}

/// The position behind one emoji, with what extends it and the selector of its presentation.
fn after_emoji(mut cursor: Cursor) -> Option<Cursor> {
    let is_joined = cursor.peek() == Some(CharClass::Joiner);
    cursor.skip(|class| class == CharClass::Joiner);
    match cursor.peek()? {
        CharClass::Emoji | CharClass::EmojiLetter => {
            cursor.advance();
            cursor.skip(CharClass::extends_emoji);
            if cursor.peek() == Some(CharClass::EmojiPresentation) {
                cursor.advance();
            }
            Some(cursor)
        }
        CharClass::EmojiModifier if !is_joined => {
            cursor.advance();
            cursor.skip(CharClass::extends_emoji);
            Some(cursor)
        }
        _ => None,
    }
}

/// The position behind tags, as in the flag of Scotland.
fn after_tags(mut cursor: Cursor) -> Option<Cursor> {
    if cursor.peek() != Some(CharClass::Tag) {
        return None;
    }
    cursor.skip(|class| class == CharClass::Tag);
    if cursor.peek() != Some(CharClass::TagEnd) {
        return None;
    }
    cursor.advance();
    Some(cursor)
}

/// `#` or `*` as a keycap.
fn keycap_length(mut cursor: Cursor) -> usize {
    let mut length = 0;
    cursor.advance();
    let mut has_keycap = false;
    while let Some(class) = cursor.peek().filter(|class| class.extends_emoji()) {
        has_keycap |= class == CharClass::Keycap;
        cursor.advance();
    }
    if has_keycap {
        length = cursor.position;
    }
    if cursor.peek() == Some(CharClass::EmojiPresentation) {
        cursor.advance();
        if cursor.peek() == Some(CharClass::Keycap) {
            cursor.skip(CharClass::extends_emoji);
            length = cursor.position;
        }
    }
    length
}

/// Two regional indicators, which are the flag of a country.
fn flag_length(mut cursor: Cursor) -> usize {
    cursor.advance_extended();
    if cursor.peek() != Some(CharClass::RegionalIndicator) {
        return 0;
    }
    cursor.advance_extended();
    cursor.position
}

/// Letters of Thai, Lao, Khmer and the like, whose words are not separated.
fn south_east_asian_length(mut cursor: Cursor) -> usize {
    while let Some(CharClass::SouthEastAsian | CharClass::SouthEastAsianMark) = cursor.peek() {
        cursor.advance_extended();
    }
    cursor.position
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<&str> {
        let mut tokens = Vec::new();
        for_each_token(text, |token| tokens.push(token));
        tokens
    }

    fn letter(code: &str) -> char {
        char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap()
    }

    /// Tokens as the file of characters shows them, with `.` for the character between others.
    fn show(text: &str, alone: char) -> String {
        let end = text.len() - text.chars().next_back().unwrap().len_utf8();
        let shown = tokens(text).into_iter().map(|token| {
            let start = token.as_ptr() as usize - text.as_ptr() as usize;
            let letters = token.char_indices().map(|(position, found)| {
                let position = start + position;
                let is_around = position == 0 || position == end;
                if found == alone && (text.chars().count() == 1 || !is_around) {
                    '.'
                } else {
                    found
                }
            });
            letters.collect::<String>()
        });
        let shown: Vec<String> = shown.collect();
        if shown.is_empty() { "-".to_owned() } else { shown.join("|") }
    }

    #[test]
    fn all_characters_alone_and_between_others_are_tokens_as_in_lucene() {
        let mut covered = 0;
        for line in include_str!("../../../tests/data/lucene_characters.txt").lines() {
            let cells: Vec<&str> = line.split(' ').collect();
            let range = letter(cells[0])..=letter(cells[1]);
            let count = range.clone().count();
            // So many are unassigned, private, or all of a block: every 61st is enough.
            let step = if count > 1000 { 61 } else { 1 };
            for alone in range.step_by(step) {
                let texts = [alone.to_string(), format!("a{alone}b"), format!("1{alone}2")];
                for (text, expected) in texts.iter().zip(&cells[2..]) {
                    assert_eq!(show(text, alone), **expected, "U+{:04X} {text:?}", alone as u32);
                }
            }
            covered += count;
        }
        assert_eq!(covered, 0x11_0000 - 0x800);
    }

    #[test]
    fn texts_of_all_classes_have_the_tokens_of_lucene() {
        let mut long = 0;
        for line in include_str!("../../../tests/data/lucene_texts.txt").lines() {
            let (codes, expected) = line.split_once('\t').unwrap();
            let text: String = codes.split(' ').map(letter).collect();
            let position = |at: usize| text[..at].chars().count();
            let found = tokens(&text).into_iter().map(|token| {
                let start = token.as_ptr() as usize - text.as_ptr() as usize;
                format!("{}-{}", position(start), position(start + token.len()))
            });
            assert_eq!(found.collect::<Vec<_>>().join(" "), expected, "{codes}");
            long += usize::from(text.len() > LONGEST_WORD);
        }
        assert!(long >= 5, "texts with tokens longer than the buffer");
    }
}
