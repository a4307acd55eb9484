//! The integration tests of this crate, a module per subject.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod golden;
mod models;

use clariq_collections::{LabelledRequest, LabelledRequests, NeedLabel};
use clariq_track_clariq::Labelled;

/// The topics of a file that have a label.
fn labelled(file: &Labelled) -> LabelledRequests {
    let requests = file.topics.iter().filter_map(|topic| {
        let need = NeedLabel::Number(topic.need?.get().into());
        Some(LabelledRequest { id: topic.id.clone(), text: topic.request.clone(), need })
    });
    LabelledRequests { name: file.name.clone(), requests: requests.collect() }
}
