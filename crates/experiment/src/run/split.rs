//! A split of a collection as the input of a run.

mod answers;
mod rankings;

pub use rankings::as_run;

use super::candidates::{CandidateDocs, CandidateRun};
use super::input::RunInput;
use crate::session::Session;
use clariq_collections::{Collection, Sight, Split, SystemClass};
use clariq_core::{Checksum, Documents, Request, RequestId, Result};
use clariq_files::Source;
use clariq_rank::Uses;
use clariq_systems::SystemConfig;
use serde_json::{Value, json};

/// Opens a split for a system, optionally with the candidates of a run. A system that answers writes a
/// submission, with the runs of statements and of passages beside it; any other system writes a run.
pub fn open_split<'a>(
    session: &Session<'a>,
    config: &SystemConfig,
    split: Split,
    candidates: Option<&'a CandidateRun>,
) -> Result<Box<dyn RunInput + 'a>> {
    let source = SplitSource { collection: session.collection, split, candidates };
    if config.answers() {
        Ok(Box::new(answers::AnsweredSplit::open(session, config, source)?))
    } else {
        Ok(Box::new(rankings::RankedSplit::open(session, config, source)?))
    }
}

/// A split, and the run that its candidates are taken from.
struct SplitSource<'a> {
    collection: &'a dyn Collection,
    split: Split,
    candidates: Option<&'a CandidateRun>,
}

impl SplitSource<'_> {
    fn location(&self) -> String {
        format!("{} in {}", self.split, self.collection.location())
    }

    /// The candidates of requests, if they are taken from a run.
    fn candidates<'i>(
        &self,
        session: &Session,
        documents: &dyn Documents,
        requests: impl Iterator<Item = &'i RequestId>,
    ) -> Result<Option<CandidateDocs>> {
        let Some(run) = self.candidates else { return Ok(None) };
        Ok(Some(run.candidates(documents, requests, session.observer)?))
    }

    /// Describes the file of the split, and all splits if the system uses other requests.
    fn describe(&self, config: &SystemConfig, record: &mut Value) -> Result<()> {
        let collection = self.collection;
        let (file, sha256) = digest(&collection.source(self.split)?)?;
        record["split"] = self.split.name().into();
        record["topics"] = json!({ "file": file, "sha256": sha256 });
        if let Some(remark) = collection.remark(self.split) {
            record["remark"] = remark.into();
        }
        if let Some(run) = self.candidates {
            record["candidates"] = run.describe();
        }
        let uses_other_requests = [Uses::TrainLabels, Uses::DevLabels, Uses::Batch];
        if uses_other_requests.iter().any(|uses| config.uses.contains(uses)) {
            record["splits"] = json!({});
            for split in collection.available_splits() {
                record["splits"][split.name()] = json!(digest(&collection.source(split)?)?.1);
            }
        }
        Ok(())
    }
}

/// The parts of requests that a system may see. Utterances that people rewrote are those of the
/// collection, unless a file has them.
fn sight_of(config: &SystemConfig) -> Sight {
    let by_people = config.uses.contains(&Uses::RewritesByPeople) && config.rewrites.is_none();
    let usual = if by_people { SystemClass::Manual } else { SystemClass::Automatic };
    Sight {
        class: config.plan.answer().map_or(usual, |answer| answer.class),
        earlier_conversations: config.uses.contains(&Uses::EarlierConversations),
        relevant_statements: config.uses.contains(&Uses::RelevantStatements),
    }
}

/// The name of a file without its folder, and its SHA-256.
fn digest(source: &Source) -> Result<(String, Checksum)> {
    let name = source.name();
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    Ok((file, Checksum::of(&source.read()?.bytes)))
}

/// Sets the candidates of a request, if they are taken from a run.
fn set_candidates(candidates: Option<&CandidateDocs>, request: &mut Request) {
    if let Some(candidates) = candidates {
        candidates.set(request);
    }
}
