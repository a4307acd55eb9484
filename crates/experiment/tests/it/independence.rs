//! A result depends on its request and conversation so far alone.

use crate::common::independence::{CHARACTERS, check_answering, check_ranking};

#[test]
fn a_ranking_depends_on_its_request_alone() {
    let checked = check_ranking(None, CHARACTERS);
    for name in ["no-question", "bm25", "bm25-english", "bm25-conversation", "dense", "strict"] {
        assert!(checked.contains(&name), "{name} of {checked:?}");
    }
    for name in ["mtrag-bm25", "mtrag-bm25-rewritten", "mtrag-dense", "mtrag-hybrid"] {
        assert!(checked.contains(&name), "{name} of {checked:?}");
    }
}

#[test]
fn an_answer_depends_on_its_conversation_so_far_alone() {
    let checked = check_answering(None, CHARACTERS);
    for name in ["ikat-bm25", "ikat-dense", "ikat-automatic", "ikat-manual", "ikat-only-response"] {
        assert!(checked.contains(&name), "{name} of {checked:?}");
    }
}
