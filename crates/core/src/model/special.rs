//! Special tokens of chat models: the marks of a template around what a model writes, which some
//! servers leave in its text. None of them is part of an answer.

use super::turns::{begins_user_turn, begins_with_author, is_token_of_user};

/// Special tokens of another form than `<|name|>`.
const OTHERS: [&str; 12] = [
    "<s>",
    "</s>",
    "<bos>",
    "<eos>",
    "<start_of_turn>",
    "<end_of_turn>",
    "[INST]",
    "[/INST]",
    "[EOS]",
    "[e~[",
    "[BEGIN FINAL RESPONSE]",
    "[END FINAL RESPONSE]",
];

/// The names of the model behind special tokens; that of Gemma is `model`.
const AUTHORS: [&str; 2] = ["assistant", "model"];

/// Names between special tokens around an answer: Kimi K3.
const CHANNELS: [&str; 2] = ["response", "message"];

/// Characters that a special token may have.
const WIDTH: usize = 64;

/// A text without white space and special tokens at its ends: `<|name|>`, `<｜name｜>`, `<|name>`, `<name|>`
/// and a few others. One at which a turn of the user begins ends the text: the model invents it.
///
/// ```
/// # use clariq_core::without_special_tokens;
/// assert_eq!(without_special_tokens("<|START_RESPONSE|>tents<|END_RESPONSE|>\n"), "tents");
/// assert_eq!(without_special_tokens("what does <|end|> mean?"), "what does <|end|> mean?");
/// ```
pub fn without_special_tokens(text: &str) -> &str {
    let mut text = behind_special_tokens(text);
    let mut places = text.match_indices(['<', '[']).map(|(at, _)| at);
    let end = places.find(|at| begins_turn(&text[*at..])).unwrap_or(text.len());
    text = text[..end].trim_end();
    while let Some(before) = before_last(text) {
        text = before.trim_end();
    }
    text
}

/// A text without white space and special tokens at its beginning, and without the author or the channel of
/// a message behind one of them, as in `<|start|>assistant<|message|>` and `<|open|>response<|sep|>`.
pub fn behind_special_tokens(text: &str) -> &str {
    let mut text = text.trim_start();
    while let Some(rest) = behind_first(text) {
        let head = rest.trim_start();
        let author = AUTHORS.iter().find_map(|name| head.strip_prefix(name)).filter(|body| {
            body.is_empty() || body.starts_with('\n') || behind_first(body).is_some()
        });
        let channel = || CHANNELS.iter().find_map(|name| behind_first(head.strip_prefix(name)?));
        text = author.or_else(channel).unwrap_or(rest).trim_start();
    }
    text
}

/// True for tokens at which a turn of another author begins, as in `<|user|>`, `<|im_start|>user`,
/// `<|im_end|>\n<|im_start|>user` and `<|endoftext|>Human: `.
fn begins_turn(text: &str) -> bool {
    let Some(rest) = behind_first(text) else { return false };
    let token = &text[..text.len() - rest.len()];
    let rest = rest.trim_start();
    is_token_of_user(token)
        || token.contains("start") && begins_with_author(rest)
        || begins_user_turn(rest)
        || behind_first(rest).is_some_and(begins_with_author)
}

fn behind_first(text: &str) -> Option<&str> {
    if let Some(rest) = OTHERS.iter().find_map(|token| text.strip_prefix(token)) {
        return Some(rest);
    }
    if !text.starts_with('<') {
        return None;
    }
    let (end, _) = text.char_indices().take(WIDTH).find(|(_, c)| *c == '>')?;
    is_token(&text[..=end]).then(|| &text[end + 1..])
}

fn before_last(text: &str) -> Option<&str> {
    if let Some(rest) = OTHERS.iter().find_map(|token| text.strip_suffix(token)) {
        return Some(rest);
    }
    let (start, _) = text.char_indices().rev().take(WIDTH).find(|(_, c)| *c == '<')?;
    if !is_token(&text[start..]) {
        return None;
    }
    let before = &text[..start];
    let closed = CHANNELS.iter().find_map(|name| {
        let before = before.strip_suffix(name)?;
        before.strip_suffix("<|close|>")
    });
    Some(closed.unwrap_or(before))
}

/// True for a name in angle brackets with a bar beside one of them.
fn is_token(text: &str) -> bool {
    const BARS: [char; 2] = ['|', '｜'];
    let Some(inner) = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) else {
        return false;
    };
    let rest = inner.strip_prefix(BARS).unwrap_or(inner);
    let name = rest.strip_suffix(BARS).unwrap_or(rest);
    name.len() < inner.len() && !name.is_empty() && name.chars().all(is_of_name)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '▁' | '-' | ':' | '.' | '/')
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
            "<|begin_of_solution|>\ntents\n<|end_of_solution|>\n",
            "tents<｜end▁of▁sentence｜>",
            "tents <|user|>",
            "tents<|END_OF_TURN_TOKEN|>",
            "tents<|eot|>",
            "tents<|EOT|>",
            "tents<|im_end|>\n<|endoftext|>",
            "tents</s>\n</s>",
            "<s> tents</s>",
            "tents[EOS]",
            "tents[e~[",
            "tents<end_of_turn>",
            "<start_of_turn>model\ntents<end_of_turn>",
            "[/INST] tents</s>",
            "tents<turn|>",
            "<|start|>assistant<|message|>tents<|return|>",
            "<|start_header_id|>assistant<|end_header_id|>\n\ntents<|eot_id|>",
            "<|im_start|>assistant\ntents<|im_end|>",
            "<|a_token_of_the_next_model|>tents<|another-1.5|>",
            "<|open|>response<|sep|>tents<|close|>response<|sep|><|close|>message<|sep|>",
            "<|open|>response<|sep|>tents",
        ] {
            assert_eq!(without_special_tokens(text), "tents", "{text}");
        }
        for text in ["<|start|>assistant", "<|im_end|>", "", "\n"] {
            assert_eq!(without_special_tokens(text), "", "{text}");
        }
        for text in [
            "what does <|endoftext|> mean",
            "a<|END_THINKING|><|START_RESPONSE|>tents",
            "assistant",
            "<b>tents</b>",
            "a <| b |>",
            "<a|b>",
            "<||>",
            "if a < b and |c| > d",
            "[1]",
            "x > y",
            "<tents",
            "é",
        ] {
            assert_eq!(without_special_tokens(text), text);
        }
        for invented in [
            "<|im_end|>\n<|im_start|>user\nAnd?",
            "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd?",
            "</s><s>[INST] And?",
            "\n<|user|>\nAnd?",
            "<end_of_turn>\n<start_of_turn>user\nAnd?",
            "<|endoftext|>Human: And?",
            "<|endoftext|>### User: And?",
            "\n<|im_start|>user\nAnd?",
            "<|start|>user<|message|>And?",
            "</s>[INST] And?",
            "<｜end▁of▁sentence｜><｜User｜>And?",
            "<|im_end|><|im_user|>user<|im_middle|>And?",
            "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>And?",
            "<|prompter|>And?",
        ] {
            assert_eq!(without_special_tokens(&format!("tents{invented}")), "tents");
        }
        assert_eq!(without_special_tokens("<|end|>assistant tents"), "assistant tents");
        assert_eq!(without_special_tokens("<|end|>response tents"), "response tents");
        assert_eq!(behind_special_tokens("<|content|> tents<|end|>"), "tents<|end|>");
    }
}
