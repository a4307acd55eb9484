//! The runs that a command writes, each with its row of the table.

use super::RunArgs;
use super::table::RunTable;
use clariq_core::{Result, bail};
use clariq_experiment::Contexts;
use clariq_experiment::run::{RunInput, refuse_other_data, run as write_run, usual_path};
use clariq_systems::SystemConfig;
use std::path::{Path, PathBuf};

/// The runs of a command.
pub(super) struct WrittenRuns {
    pub(super) table: RunTable,
    /// The files so far: two collections of one name would have the same.
    paths: Vec<PathBuf>,
    /// The folder of the next runs below `runs`, in place of the name of their collection.
    pub(super) folder: Option<String>,
}

impl WrittenRuns {
    pub(super) fn new(table: RunTable) -> Self {
        Self { table, paths: Vec::new(), folder: None }
    }

    /// Writes the run of a system, and adds its row.
    pub(super) fn write(
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
        if arguments.output.is_none() {
            refuse_other_data(session, system, input, &path)?;
        }
        let summary = write_run(contexts, system, input, arguments.run_tag.as_deref(), &path)?;
        self.table.add(session, system, input.name(), summary, &path);
        Ok(())
    }
}
