//! Calls of the crate `tokenizers`, which may panic on a malformed file. Panics become errors that
//! name the file.

use clariq_core::{Result, problem};
use clariq_files::{MOST_OF_A_TABLE, Source};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;
use tokenizers::{Encoding, Tokenizer};

const HINT: &str = "copy the file again from where the model came from";

/// The bytes of a text that are tokenised. Models read at most 8,192 tokens, about a third of this.
pub const MOST_OF_A_TEXT: usize = 128 << 10;

/// Reads a `tokenizer.json`.
pub fn read(path: &Path) -> Result<Tokenizer> {
    let text = Source::Path(path.to_owned()).read_at_most(MOST_OF_A_TABLE)?.bytes;
    call(path, || Tokenizer::from_bytes(&text))
}

/// The tokens of a text without special tokens; `path` names the tokenizer in messages. A very long
/// text is cut.
pub fn encode(path: &Path, tokenizer: &Tokenizer, text: &str) -> Result<Encoding> {
    call(path, || tokenizer.encode(beginning(text, MOST_OF_A_TEXT), false))
}

/// The beginning of a text, of at most `most` bytes.
pub fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or_default()]
}

thread_local! {
    /// True while panics of this thread are caught.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Calls the library; its errors and panics are errors of the file `path`.
pub fn call<T>(path: &Path, work: impl FnOnce() -> tokenizers::Result<T>) -> Result<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_CAUGHT.get() {
                usual(panic);
            }
        }));
    });
    IS_CAUGHT.set(true);
    let called = panic::catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(false);
    match called {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(problem!(path, "a tokenizer", "{error}", HINT).into()),
        Err(_) => {
            let found = "a file on which the crate tokenizers panics";
            Err(problem!(path, "a tokenizer", found, HINT).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_library_is_an_error_of_the_file() {
        let path = Path::new("model/tokenizer.json");
        let error = call::<()>(path, || panic!("index out of bounds")).unwrap_err();
        assert_eq!(error.to_problem().at.file, "model/tokenizer.json");
        assert!(!IS_CAUGHT.get());
        assert_eq!(call(path, || Ok(1)).unwrap(), 1);
    }

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        for text in ["a", "ä", "aä", "€"] {
            let long = text.repeat(MOST_OF_A_TEXT);
            let cut = beginning(&long, MOST_OF_A_TEXT);
            assert!(long.starts_with(cut));
            assert!((MOST_OF_A_TEXT - 2..=MOST_OF_A_TEXT).contains(&cut.len()), "{text}");
        }
    }
}
