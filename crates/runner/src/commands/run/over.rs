//! Systems over the collection of a data folder: its split, or a file of requests.

use super::RunArgs;
use super::written::WrittenRuns;
use crate::labels::note_remark;
use crate::settings::Settings;
use crate::target::collection_for;
use clariq_collections::documents::document_files;
use clariq_core::{Result, SplitRole};
use clariq_experiment::reproduce::check_expected;
use clariq_experiment::run::{CandidateRun, FileInput, open_split};
use clariq_experiment::{Contexts, TextStores};
use clariq_files::Source;
use clariq_systems::SystemConfig;

/// Runs systems over the collection of a data folder.
pub(super) fn run_over(
    settings: &Settings,
    arguments: &RunArgs,
    systems: &[SystemConfig],
    runs: &mut WrittenRuns,
) -> Result<()> {
    let candidates = match &arguments.candidates {
        Some(path) => Some(CandidateRun::read(&Source::new(path))?),
        None => None,
    };
    let mut collection = collection_for(settings, systems, arguments.split.as_deref())?;
    if !arguments.passages.is_empty() {
        let mut files = Vec::new();
        for path in &arguments.passages {
            files.extend(document_files(path)?);
        }
        // With candidates, only their passages are read.
        let ids = candidates.as_ref().map(CandidateRun::ids);
        collection.take_passages(&files, ids.as_ref(), &TextStores::default())?;
    }
    let mut session = settings.session(&*collection, Some(&arguments.place))?;
    session.options.need_model.clone_from(&arguments.need_model);
    session.registry = arguments.calls.registry(systems.len())?;
    session.options.team.clone_from(&arguments.team);
    if let Some(task) = &arguments.task {
        session = session.ranking_for(task)?;
    }
    // All systems are checked before the first one runs.
    for system in systems {
        system.check_tasks(session.collection)?;
        check_expected(system, &session)?;
    }
    if let Some((file, kind)) = arguments.file() {
        let input = FileInput::open(&session, file, kind, arguments.skip_bad)?;
        let contexts = Contexts::new(&session);
        return systems
            .iter()
            .try_for_each(|system| runs.write(arguments, &contexts, system, &input));
    }
    let split = collection.find_split_or(arguments.split.as_deref(), SplitRole::Tune)?;
    note_remark(settings, &*collection, split);
    let session = session.answering(split);
    let contexts = Contexts::new(&session);
    for system in systems {
        let input = open_split(&session, system, split, candidates.as_ref())?;
        runs.write(arguments, &contexts, system, &*input)?;
    }
    Ok(())
}
