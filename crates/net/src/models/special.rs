//! Special tokens at the ends of a text: the marks of a model's template, which some servers leave there.

/// Special tokens of another form than `<|name|>`: of Llama 2 and Mistral, and of Gemma.
const OTHERS: [&str; 8] =
    ["<s>", "</s>", "[INST]", "[/INST]", "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"];

/// Characters that a special token may have.
const WIDTH: usize = 64;
const BARS: [char; 2] = ['|', '｜'];

/// A text without white space and special tokens at its ends.
pub(super) fn without_special_tokens(text: &str) -> &str {
    let mut text = behind_special_tokens(text).trim_end();
    while let Some(before) = before_last(text) {
        text = before.trim_end();
    }
    text
}

/// A text without white space and special tokens at its beginning.
pub(super) fn behind_special_tokens(text: &str) -> &str {
    let mut text = text.trim_start();
    while let Some(rest) = behind_first(text) {
        text = rest.trim_start();
    }
    text
}

fn behind_first(text: &str) -> Option<&str> {
    if let Some(rest) = OTHERS.iter().find_map(|token| text.strip_prefix(token)) {
        return Some(rest);
    }
    let (end, _) = text.char_indices().take(WIDTH).find(|(_, c)| *c == '>')?;
    is_token(&text[..=end]).then(|| &text[end + 1..])
}

fn before_last(text: &str) -> Option<&str> {
    if let Some(rest) = OTHERS.iter().find_map(|token| text.strip_suffix(token)) {
        return Some(rest);
    }
    let (start, _) = text.char_indices().rev().take(WIDTH).find(|(_, c)| *c == '<')?;
    is_token(&text[start..]).then(|| &text[..start])
}

/// True for a name in angle brackets with a bar beside one of them: `<|name|>`, `<｜name｜>`, `<name|>`.
fn is_token(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) else {
        return false;
    };
    let name = inner.trim_matches(BARS);
    name.len() < inner.len() && !name.is_empty() && !name.contains([' ', '\n', '<', '|'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_of_templates_are_no_text() {
        for text in [
            "tents",
            " tents\n",
            "<|START_TEXT|>tents<|END_TEXT|>",
            "<|begin_of_box|>tents<|end_of_box|>",
            "tents<｜end▁of▁sentence｜>",
            "tents<|im_end|>\n<|endoftext|>",
            "<s> tents</s>\n</s>",
            "[/INST] tents</s>",
            "<start_of_turn>tents<end_of_turn>",
            "tents<turn|>",
            "<|a_token_of_the_next_model|>tents<|another-1.5|>",
        ] {
            assert_eq!(without_special_tokens(text), "tents", "{text}");
        }
        assert_eq!(without_special_tokens("<|im_end|>\n"), "");
        for text in [
            "what does <|endoftext|> mean",
            "<b>tents</b>",
            "<||>",
            "<a|b>",
            "if a < b and |c| > d",
            "<tents",
            "é",
        ] {
            assert_eq!(without_special_tokens(text), text);
        }
        assert_eq!(behind_special_tokens("<|content|> tents<|end|>"), "tents<|end|>");
    }
}
