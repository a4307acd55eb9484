//! The pages of all tracks: a line for each track with a page of its own.

use crate::judged::JudgedPage;
use crate::request::{PageRequest, RenderedPage};
use crate::{clariq, ikat, mtrag};
use clariq_collections::{Collection, Split};
use clariq_core::{Error, ProblemKind, problem};
use clariq_track_clariq::ClariQ;
use clariq_track_ikat::Ikat;
use clariq_track_mtrag::Mtrag;

/// The page of runs over a split of a collection.
///
/// # Errors
///
/// A split without labels, where its collection shows none without them.
pub fn page_of(
    collection: &dyn Collection,
    split: Split,
    request: &PageRequest,
) -> Result<RenderedPage, Error> {
    if let Some(clariq) = collection.downcast::<ClariQ>() {
        return clariq::page(clariq, split, request);
    }
    if let Some(ikat) = collection.downcast::<Ikat>() {
        return ikat::page(ikat, split, request);
    }
    if let Some(mtrag) = collection.downcast::<Mtrag>() {
        return mtrag::page(mtrag, split, request);
    }
    let task = collection.tasks()[0];
    let evaluation = collection.evaluation(split)?;
    let qrels = collection.qrels(split, task)?.ok_or_else(|| {
        let hint = "name a split with labels";
        problem!(collection.location(), "labels of {split}", "requests without labels", hint)
            .kind(ProblemKind::MissingFile)
    })?;
    let page = JudgedPage {
        evaluation: &*evaluation,
        qrels: &qrels,
        split: split.name(),
        requests: collection.last_said(split)?,
        documents: Some(collection.documents(task)?),
    };
    page.page(request)
}
