//! Stage `sparse`: what it explains, and what it refuses.

use crate::common::{Earlier, conversation, system, with_context};
use clariq_core::{Doc, Ranking};
use clariq_rank::{Batch, SystemFile};

const SPARSE: &str = "stage = \"sparse\"\nmodel = \"weights\"\ndepth = 5";

/// The explanation of Q2, "red fox".
fn explained(stage: &str, said: &[&str]) -> String {
    with_context(&Earlier::new(&[]), |context| {
        let requests = [conversation(said)];
        let batch = Batch::new(context, &requests);
        let traces = system(stage).pipeline.explain(&batch, Doc(1), &Ranking::new()).unwrap();
        traces[0].explanation.as_ref().unwrap().to_string()
    })
}

#[test]
fn the_words_with_the_largest_products_come_first() {
    let expected = "\
10         sum over the words that request and document share
  9          `fox` = request × document
    3          weight in the request
    3          weight in the document
  1          `red` = request × document
    1          weight in the request
    1          weight in the document
";
    assert_eq!(explained(SPARSE, &["red fox and boat"]), expected);
    let none = "0.000000   sum over the words that request and document share\n";
    assert_eq!(explained(SPARSE, &["boat"]), none);
}

#[test]
fn each_text_of_a_conversation_has_its_words() {
    let stage = format!("{SPARSE}\nhistory = {{ user = 0.5, system = 0.25, decay = 1 }}");
    let expected = "\
9.500000   sum over the conversation, of the words that it shares with the document
  9          last utterance: 1.000 × 9.000000 \"a fox\"
    9          `fox` = request × document
      3          weight in the request
      3          weight in the document
  0.500000   earlier utterance: 0.500 × 1.000000 \"red\"
    1          `red` = request × document
      1          weight in the request
      1          weight in the document
";
    assert_eq!(explained(&stage, &["red", "boat", "a fox"]), expected);
}

#[test]
fn a_share_that_leaves_nothing_is_refused() {
    for (ratio, found) in [("1.0", "1"), ("-0.1", "-0.1"), ("nan", "NaN")] {
        let text = format!("name = \"one\"\n[[stages]]\n{SPARSE}\nmax_ratio = {ratio}\n");
        let error = SystemFile::parse("one.toml", &text, &[]).err().unwrap().to_string();
        let expected = format!("one.toml:6: expected max_ratio from 0 to below 1, found {found}");
        assert_eq!(error, expected);
    }
}

#[test]
fn the_keys_of_a_stage_are_all_named_where_one_is_unknown() {
    let refused = |stage: &str| {
        let space = "[space]\nmodels = { words = 1.0 }\n";
        let text = format!("name = \"one\"\n{space}[[stages]]\n{stage}\n");
        SystemFile::parse("one.toml", &text, &[]).err().unwrap().to_problem().expected
    };
    for (stage, keys) in [
        (
            format!("{SPARSE}\nnosuch = 1"),
            "one of `model`, `max_tokens`, `depth`, `max_ratio`, `weights`, `history`",
        ),
        (
            "stage = \"dense\"\nnosuch = 1".to_owned(),
            "one of `depth`, `min_likeness`, `repeat`, `space`, `weights`, `history`",
        ),
        // A key of an inner table has those of that table.
        (
            format!("{SPARSE}\nhistory = {{ user = 1, nosuch = 1 }}"),
            "one of `user`, `system`, `decay`",
        ),
    ] {
        assert_eq!(refused(&stage), keys, "{stage}");
    }
}
