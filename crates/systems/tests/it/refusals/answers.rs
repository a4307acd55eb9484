//! Answers and questions that do not fit.

use super::{BM25, ikat, refused, silent};
use snapbox::{assert_data_eq, str};

/// `ikat-bm25` without responses, with further lines.
fn without_responses(more: &str) -> String {
    let text = ikat("", "");
    let is_kept = |line: &&str| !line.starts_with("response =") && !line.starts_with("fits =");
    let text = text.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
    let begin = text.find("[[tasks.sentences").expect("sentences");
    let end = text.find("[answer]").expect("an answer");
    format!("{}{}\n{more}", &text[..begin], &text[end..])
}

#[test]
fn answers_that_do_not_fit_are_refused() {
    assert_data_eq!(
        refused(ikat("", ""), &["answer.length=3"]),
        str![[r#"
command line, answer.length=3
  expected: one of `class`, `passages`, `statements`, `responses`, `response`, `summary`, `fits`
     found: unknown field `length`
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    assert_data_eq!(
        refused(BM25, &["answer.passages=3"]),
        str![[r#"
command line, answer.passages=3
  expected: a stage or a table `answer` in mine.toml
     found: a system without it
hint: leave the option out, or choose a system that has it

"#]]
    );
    assert_data_eq!(
        refused(ikat("\"automatic\"", "\"magic\""), &[]),
        str![[r#"
mine.toml:32
  expected: one of automatic, manual, only-response
     found: `"magic"`: `magic`
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    assert_data_eq!(
        refused(ikat("tokens = 150", "tokens = 600"), &[]),
        str![[r#"
mine.toml:31
  expected: response.tokens from 1 to 512
     found: 600
hint: `ikat-automatic` is an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    assert_data_eq!(
        refused(ikat("response =", "#"), &[]),
        str![[r#"
mine.toml:31
  expected: a key `response`
     found: `responses` or `fits` without it
hint: `ikat-automatic` is an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    let only = without_responses("").replace("\"automatic\"", "\"only-response\"");
    assert_data_eq!(
        refused(only, &[]),
        str![[r#"
mine.toml:22
  expected: a key `response`
     found: class = "only-response" without it
hint: an only-response run consists of responses; leave `class` at automatic to rank

"#]]
    );
}

#[test]
fn questions_that_do_not_fit_are_refused() {
    assert_data_eq!(
        refused(without_responses("[ask]\nscore_below = 1000\n"), &[]),
        str![[r#"
mine.toml:28
  expected: a key `response` in [answer], for questions
     found: none
hint: `ikat-automatic` is an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    assert_data_eq!(
        refused(ikat("[answer]", "[ask]\nmost = 2\n[answer]"), &[]),
        str![[r#"
mine.toml:31
  expected: a key `need` or `score_below`
     found: neither
hint: `ikat-automatic` is an example; the documentation lists all keys (reference, Systems)

"#]]
    );
    assert_data_eq!(
        refused(silent("[ask]\nneed = 3\n"), &[]),
        str![[r#"
mine.toml:6
  expected: a table [answer] beside [ask], which has conditions
     found: none
hint: `ikat-automatic` is an example; the documentation lists all keys (reference, Systems)

"#]]
    );
}
