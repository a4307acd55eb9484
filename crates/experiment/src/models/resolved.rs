//! Training examples of conversational encoders: conversations and resolved utterances.

use clariq_collections::Collection;
use clariq_core::Error;
use clariq_core::{Examples, Location, Problem, ProblemKind, Speaker};
use std::collections::{BTreeMap, BTreeSet};

/// Every turn of a collection whose utterance people resolved. A resolved utterance is told from all
/// others, and from all responses that the conversations have.
pub(super) fn collect(collection: &dyn Collection) -> Result<Examples, Error> {
    let turns = collection.resolved_turns()?;
    if turns.is_empty() {
        let at = Location::file(collection.location());
        let expected = "a resolved utterance to train on";
        return Err(Problem::new(at, ProblemKind::Empty, expected, "none")
            .hint("the files of topics may be those without labels")
            .into());
    }
    let responses = turns.iter().flat_map(|turn| &turn.said);
    let responses = responses.filter(|said| said.speaker == Speaker::System);
    let texts = responses.map(|said| said.text.as_str()).filter(|text| !text.is_empty());
    let texts: BTreeSet<&str> =
        texts.chain(turns.iter().map(|turn| turn.resolved.as_str())).collect();
    let numbers: BTreeMap<&str, u32> = texts.iter().copied().zip(0..).collect();
    Ok(Examples {
        topics: turns.iter().map(|turn| turn.id.clone()).collect(),
        requests: turns.iter().map(|turn| turn.conversation.clone()).collect(),
        questions: texts.iter().map(|&text| text.to_owned()).collect(),
        relevant: turns.iter().map(|turn| vec![numbers[turn.resolved.as_str()]]).collect(),
        candidates: vec![Vec::new(); turns.len()],
        conversations: turns.into_iter().map(|turn| turn.said).collect(),
    })
}
