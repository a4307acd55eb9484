//! A result depends on its request alone, with an encoder too.

use crate::common::independence::{check_answering, check_ranking};
use crate::common::root;

#[test]
fn with_an_encoder_a_result_depends_on_its_request_alone() {
    // A space of an encoder with few random weights.
    let folder = root().join("crates/bert/tests/data/tiny").display().to_string();
    let tiny = format!("models = {{ {folder:?} = 1.0 }}");
    check_ranking(Some(&clariq_bert::Torch), &tiny);
    check_answering(Some(&clariq_bert::Torch), &tiny);
}
