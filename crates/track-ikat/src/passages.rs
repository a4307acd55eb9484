//! Passages of a web page as the guidelines of TREC iKAT cut them.
//!
//! Surrounding white space is removed, the first 10,000 characters are kept, and line ends become
//! spaces. Passages are windows of ten sentences that start at every fifth one; the
//! window that reaches the last sentence is the last.

use clariq_collections::sentences;
use clariq_core::is_python_space;
use std::borrow::Cow;

/// The number of characters (Unicode code points) of a page that are read.
pub const CHARACTERS: usize = 10_000;
/// The number of sentences of a passage.
pub const SENTENCES: usize = 10;
/// The number of sentences between the starts of two passages.
pub(crate) const STRIDE: usize = 5;

/// The passages of a page's text: their sentences, joined by spaces. `starts` are those of the sentences
/// in characters of [`page_text`]; without them, sentences are found by rules.
pub fn of(page: &str, starts: Option<&[usize]>) -> Vec<String> {
    let text = page_text(page);
    let sentences = match starts {
        None => sentences::cut(&text, &sentences::starts_of_page(&text)),
        Some(characters) => {
            let mut bytes: Vec<usize> = text.char_indices().map(|(byte, _)| byte).collect();
            bytes.push(text.len());
            let byte = |character: &usize| bytes[(*character).min(bytes.len() - 1)];
            sentences::cut(&text, &characters.iter().map(byte).collect::<Vec<_>>())
        }
    };
    windows(sentences.len()).map(|window| sentences[window].join(" ")).collect()
}

/// The text of a page that is split into passages: without line ends, and no longer than
/// [`CHARACTERS`].
pub fn page_text(page: &str) -> Cow<'_, str> {
    let text = page.trim_matches(is_python_space);
    let end = text.char_indices().nth(CHARACTERS).map_or(text.len(), |(index, _)| index);
    let text = &text[..end];
    if text.contains(['\r', '\n']) {
        Cow::Owned(text.replace(['\r', '\n'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// The windows over this number of sentences.
fn windows(sentences: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let count = sentences.saturating_sub(SENTENCES).div_ceil(STRIDE) + usize::from(sentences > 0);
    (0..count).map(move |window| window * STRIDE..(window * STRIDE + SENTENCES).min(sentences))
}
