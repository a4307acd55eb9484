//! Refuses to replace a run of other data at the usual path, which two folders of one collection share.

use super::input::RunInput;
use crate::record;
use crate::session::Session;
use clariq_core::{Result, bail, read_regular};
use clariq_files::MOST_OF_A_TABLE;
use clariq_systems::plan::PASSAGES;
use clariq_systems::{Plan, SystemConfig};
use serde_json::{Value, json};
use std::path::Path;

/// The keys of a record that say which requests were ranked.
const REQUESTS: [&str; 3] = ["topics", "requests", "conversations"];

/// Refuses a path with a run over other documents or other requests than those of the session. Documents of
/// one's own change from day to day: there, only a run over both others is refused, and one over one other is
/// replaced with a note.
pub fn refuse_other_data(
    session: &Session,
    config: &SystemConfig,
    input: &dyn RunInput,
    path: &Path,
) -> Result<()> {
    let Some(before) = record_of(path) else { return Ok(()) };
    let mut now = json!({});
    input.describe(config, &mut now)?;
    let mut requests = REQUESTS.iter().filter_map(|key| Some((&before[*key], now.get(*key)?)));
    let other_requests = requests.any(|(before, now)| before["sha256"] != now["sha256"]);
    let key = if matches!(config.plan, Plan::Rank(_)) { "bank" } else { PASSAGES };
    let other_documents = before[key]["sha256"] != json!(session.documents.checksum());
    let found = match (other_documents, other_requests) {
        (false, false) => return Ok(()),
        (true, false) => "one over other documents",
        (false, true) => "one over other requests",
        (true, true) => "one over other documents and requests",
    };
    let is_released = session.collection.registered().released.is_some();
    if !is_released && other_documents != other_requests {
        session.observer.note(&format!("note: {} is replaced: it was {found}", path.display()));
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path).display();
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let hint = format!(
        "it is not replaced: `-o {folder}-2/{file}` writes this one elsewhere, or remove that one"
    );
    bail!(path, "no run, or one over this data", found, hint)
}

fn record_of(run: &Path) -> Option<Value> {
    serde_json::from_slice(&read_regular(&record::path_of(run), MOST_OF_A_TABLE).ok()?).ok()
}
