//! Needs that nothing predicts, and need models.

use super::{ikat, refused, silent};
use snapbox::{assert_data_eq, str};

#[test]
fn needs_that_nothing_predicts_are_refused() {
    assert_data_eq!(
        refused(silent("when_need = 1\n"), &[]),
        str![[r#"
mine.toml:6
  expected: a table [need], whose predictions `when_need` uses
     found: a system without one
hint: add `[need]` with `model = "lexical"`; the documentation lists the need models (reference, Models)

"#]]
    );
    assert_data_eq!(
        refused(silent(""), &["no_question.when_need=2"]),
        str![[r#"
command line, no_question.when_need=2
  expected: a table [need], whose predictions `when_need` uses
     found: a system without one
hint: add `[need]` with `model = "lexical"`; the documentation lists the need models (reference, Models)

"#]]
    );
    let stop = "name = \"mine\"\n[[stages]]\nstage = \"stop\"\nneed = 7\n";
    assert_data_eq!(
        refused(format!("{stop}\n[need]\nmodel = \"lexical\"\n"), &[]),
        str![[r#"
mine.toml:4
  expected: a clarification need from 1 to 4
     found: `7`
hint: the documentation lists all stages and their keys (reference, Stages)

"#]]
    );
    assert_data_eq!(
        refused(ikat("[answer]", "[ask]\nneed = 3\n[answer]"), &[]),
        str![[r#"
mine.toml
  expected: a table [need], whose predictions `ask.need` uses
     found: a system without one
hint: add `[need]` with `model = "lexical"`; the documentation lists the need models (reference, Models)

"#]]
    );
}

#[test]
fn tables_of_need_models_are_refused() {
    assert_data_eq!(
        refused(silent("[need]\nmodel = \"oracle\"\n"), &[]),
        str![[r#"
mine.toml:7
  expected: `majority` or `lexical`
     found: `"oracle"`: unknown variant `oracle`
hint: the documentation lists the need models and their keys (reference, Models)

"#]]
    );
    let other_key = "[need]\nmodel = \"lexical\"\nencoder = \"all-MiniLM-L6-v2\"\n";
    assert_data_eq!(
        refused(silent(other_key), &[]),
        str![[r#"
mine.toml:8
  expected: one of `c`, `prior_power`, `train_on`
     found: `encoder`: unknown field `encoder`
hint: the documentation lists the need models and their keys (reference, Models)

"#]]
    );
    let train_on = |splits: &str| {
        silent(&format!("[need]\nmodel = \"lexical\"\ntrain_on = [\"train\", {splits}]\n"))
    };
    assert_data_eq!(
        refused(train_on("\"test\""), &[]),
        str![[r#"
mine.toml:8
  expected: ["train"] or ["train", "dev"]
     found: `["train", "test"]`
hint: the documentation lists the need models and their keys (reference, Models)

"#]]
    );
    assert_data_eq!(
        refused(train_on("\"dev\""), &[]),
        str![[r#"
mine.toml
  expected: uses = ["dev-labels"]
     found: uses = [], and the model `lexical`, which is trained on them
hint: the input of a system is shown beside its scores and must be declared

"#]]
    );
}
