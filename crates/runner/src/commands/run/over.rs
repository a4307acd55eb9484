//! The runs of systems over the collection of a data folder, and their files.

use super::RunArgs;
use super::table::RunTable;
use crate::commands::reproduce::uses_cell;
use crate::output::Cell;
use crate::settings::Settings;
use clariq_collections::Split;
use clariq_collections::documents::document_files;
use clariq_core::{Result, SplitRole, bail};
use clariq_experiment::reproduce::check_expected;
use clariq_experiment::run::{
    CandidateRun, FileInput, RunInput, open_split, run as write_run, usual_path,
};
use clariq_experiment::{Contexts, TextStores};
use clariq_files::Source;
use clariq_systems::SystemConfig;
use std::path::{Path, PathBuf};

/// The runs of a command.
pub(super) struct Runs {
    pub(super) table: RunTable,
    /// The files so far: two collections of one name would have the same.
    paths: Vec<PathBuf>,
    /// The folder of the next runs below `runs`, in place of the name of their collection.
    pub(super) folder: Option<String>,
}

impl Runs {
    pub(super) fn new(table: RunTable) -> Self {
        Self { table, paths: Vec::new(), folder: None }
    }

    /// Runs systems over the collection of a data folder.
    pub(super) fn add(
        &mut self,
        settings: &Settings,
        arguments: &RunArgs,
        systems: &[SystemConfig],
    ) -> Result<()> {
        let candidates = match &arguments.candidates {
            Some(path) => Some(CandidateRun::read(&Source::new(path))?),
            None => None,
        };
        let mut collection = settings.collection_for(systems)?;
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
            for system in systems {
                self.write(arguments, &contexts, system, &input)?;
            }
            return Ok(());
        }
        let split = collection.find_split_or(arguments.split.as_deref(), SplitRole::Tune)?;
        let session = session.answering(split);
        let contexts = Contexts::new(&session);
        for system in systems {
            let input = open_split(&session, system, split, candidates.as_ref())?;
            self.write(arguments, &contexts, system, &*input)?;
        }
        Ok(())
    }

    /// Writes the run of a system, and adds its row.
    fn write(
        &mut self,
        arguments: &RunArgs,
        contexts: &Contexts,
        system: &SystemConfig,
        input: &dyn RunInput,
    ) -> Result<()> {
        let session = contexts.session;
        let path = arguments.output.clone().unwrap_or_else(|| {
            let usual = usual_path(Path::new("runs"), session, system, input.name());
            match (&self.folder, usual.file_name()) {
                (Some(folder), Some(name)) => Path::new("runs").join(folder).join(name),
                _ => usual,
            }
        });
        if self.paths.contains(&path) {
            let hint = "run the folders one by one, with --output";
            bail!(&*path, "a run of its own for each collection", "a second one", hint);
        }
        self.paths.push(path.clone());
        let summary = write_run(contexts, system, input, arguments.run_tag.as_deref(), &path)?;
        let row = vec![
            Cell::text(system.full_name()),
            Cell::text(input.name()),
            Cell::Count(summary.requests),
            Cell::Count(summary.lines),
            uses_cell(&system.uses_for(session.split.map(Split::role)), false),
            Cell::path(&path),
        ];
        self.table.add(session, system, row);
        Ok(())
    }
}
