//! Files of the crate `tokenizers`: what is accepted neither ends that library nor makes a text grow
//! beyond bounds.

use clariq_model::check_tokenizer;
use std::panic;
use std::path::Path;
use tokenizers::Tokenizer;

const TEXTS: [&str; 5] =
    ["", "aaaa  aa a", "It's ``naïve'' ﷺ, 中文\u{301}\t1.5!", "<s> [SEP]", "▁▁ \u{fffd}"];

/// Reads the bytes as `tokenizer.json` of a model with a thousand words, and tokenises some texts.
pub fn tokenizers(bytes: &[u8]) {
    if let Err(error) = check_tokenizer(Path::new("tokenizer.json"), bytes, 1000) {
        let problem = error.to_problem();
        assert_eq!(problem.at.file, "tokenizer.json");
        assert!(!problem.found.is_empty() && !problem.hint.is_empty(), "{problem:?}");
        return;
    }
    // Commands report a panic while the file is read as an error of that file.
    let Ok(Ok(mut tokenizer)) = panic::catch_unwind(|| Tokenizer::from_bytes(bytes)) else {
        return;
    };
    tokenizer.with_padding(None);
    let _ = tokenizer.with_truncation(None);
    for text in TEXTS {
        for pair in [None, Some("b c")] {
            let encoded = match pair {
                None => tokenizer.encode(text, true),
                Some(pair) => tokenizer.encode((text, pair), true),
            };
            let Ok(encoded) = encoded else { continue };
            let most = 1000 + 500 * text.len();
            assert!(encoded.get_ids().len() < most, "{} tokens of `{text}`", encoded.len());
        }
    }
}
