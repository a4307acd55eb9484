//! The ids of tasks, `<conversation>::<turn>`, which some released files write with `<::>`.

/// The spellings of the sign between a conversation and a turn, the longer one first.
const SIGNS: [&str; 2] = ["<::>", "::"];

/// An id in one spelling: files of one release have both.
pub(crate) fn key(id: &str) -> String {
    match parts(id) {
        Some((conversation, turn)) => format!("{conversation}::{turn}"),
        None => id.to_owned(),
    }
}

/// The conversation and the turn of an id.
pub(crate) fn parts(id: &str) -> Option<(&str, &str)> {
    SIGNS.iter().find_map(|sign| id.rsplit_once(sign))
}

/// The id of the turn of a conversation, in the spelling of `id`.
pub(crate) fn with_turn(id: &str, turn: usize) -> Option<String> {
    let sign = SIGNS.iter().find(|sign| id.contains(*sign))?;
    let (conversation, _) = id.rsplit_once(sign)?;
    Some(format!("{conversation}{sign}{turn}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_one_id() {
        assert_eq!(key("ab<::>12"), "ab::12");
        assert_eq!(key("ab::12"), "ab::12");
        assert_eq!(key("ab"), "ab");
        assert_eq!(parts("ab<::>12"), Some(("ab", "12")));
        assert_eq!(with_turn("ab<::>12", 3).unwrap(), "ab<::>3");
        assert_eq!(with_turn("ab::12", 3).unwrap(), "ab::3");
    }
}
