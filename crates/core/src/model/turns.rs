//! The marks of a turn that is not the model's: it answers, goes on, and invents what the user says next.

/// Names of the user in the templates of models and in transcripts, in lower case.
const USERS: [&str; 3] = ["human", "prompter", "user"];

/// Authors of the turns behind special tokens, as templates write them.
const AUTHORS: [&str; 2] = ["system", "user"];

/// Tokens of the user's turn that do not have the user's name.
const USER_TOKENS: [&str; 1] = ["[INST]"];

/// Labels of what the user gives in the examples of a prompt. Where questions are asked for, they are labels of
/// an answer.
const INPUTS: [&str; 3] = ["instruction", "q", "question"];

/// True for a line at which a turn of the user begins.
///
/// ```
/// # use clariq_core::begins_user_turn;
/// for line in ["User: and then?", "**Human:** and then?", "### USER:"] {
///     assert!(begins_user_turn(line));
/// }
/// assert!(!begins_user_turn("users: how many?"));
/// ```
pub fn begins_user_turn(line: &str) -> bool {
    has_label(line, &USERS)
}

/// True for a line at which a turn of the user or the next example of a prompt begins: `Q: and then?`.
pub fn begins_exchange(line: &str) -> bool {
    begins_user_turn(line) || has_label(line, &INPUTS)
}

/// True for a special token at which a turn of the user begins: `<|user|>`, `<｜User｜>` or `<|im_user|>`.
pub(super) fn is_token_of_user(token: &str) -> bool {
    let name = token.trim_matches(|c: char| !c.is_alphanumeric());
    USER_TOKENS.contains(&token)
        || name.split('_').any(|word| USERS.iter().any(|user| word.eq_ignore_ascii_case(user)))
}

/// True for the rest of a message that is not the model's, behind the token that opens it.
pub(super) fn begins_with_author(text: &str) -> bool {
    AUTHORS.iter().any(|author| text.starts_with(author))
}

/// True for a line with one of the labels, which may be a heading or in bold. The rest of it is not read.
fn has_label(line: &str, labels: &[&str]) -> bool {
    let line = line.trim_start_matches(['#', ' ']).trim_start_matches(['*', '_']);
    labels.iter().any(|label| {
        let is_first = line.get(..label.len()).is_some_and(|head| head.eq_ignore_ascii_case(label));
        is_first && line[label.len()..].trim_start_matches(['*', '_', ' ']).starts_with(':')
    })
}
