//! The table of runs, a row each, or what a dry run would call.

use super::RunArgs;
use crate::commands::calls::DryRunTable;
use crate::commands::reproduce::uses_cell;
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::Split;
use clariq_core::{Result, bail};
use clariq_experiment::Contexts;
use clariq_experiment::run::{RunInput, run as write_run, usual_path};
use clariq_files::Target;
use clariq_systems::SystemConfig;
use std::path::{Path, PathBuf};

/// The table of runs.
pub(super) struct RunTable {
    sheet: Sheet,
    /// Submissions have a class.
    has_class: bool,
    /// Takes the place of the table in a dry run.
    dry_run: Option<DryRunTable>,
    /// The runs so far: two collections of one name would have the same.
    paths: Vec<PathBuf>,
    /// The folder of the next runs below `runs`, in place of the name of their collection.
    pub(super) folder: Option<String>,
}

impl RunTable {
    /// `kind` is the title of the column with the input.
    pub(super) fn new(kind: &str, systems: &[SystemConfig], arguments: &RunArgs) -> Self {
        let has_class = systems.iter().any(SystemConfig::answers);
        let mut columns = vec!["system", kind, "requests", "lines", "uses", "run file"];
        if has_class {
            columns.insert(1, "class");
        }
        let dry_run = arguments.calls.dry_run.then(DryRunTable::new);
        Self { sheet: Sheet::new(&columns), has_class, dry_run, paths: Vec::new(), folder: None }
    }

    /// Runs a system and adds its row.
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
        let summary = write_run(contexts, system, input, arguments.run_tag.as_deref(), &path)?;
        if let Some(dry_run) = &mut self.dry_run {
            dry_run.add(session, &system.full_name());
            return Ok(());
        }
        let mut row = vec![
            Cell::text(system.full_name()),
            Cell::text(input.name()),
            Cell::Count(summary.requests),
            Cell::Count(summary.lines),
            uses_cell(&system.uses_for(session.split.map(Split::role)), false),
            Cell::path(&path),
        ];
        if self.has_class {
            let class = system.class().map_or(Cell::Nothing, |class| Cell::text(class.name()));
            row.insert(1, class);
        }
        self.sheet.row(row);
        Ok(())
    }

    /// Prints the table, unless the run itself is on standard output.
    pub(super) fn print(self, settings: &Settings, arguments: &RunArgs) -> Result<Outcome> {
        if let Some(dry_run) = self.dry_run {
            return dry_run.print(settings);
        }
        match &arguments.output {
            Some(path) if Target::new(path).is_stream() => Ok(Outcome::Done),
            _ => self.sheet.print(settings.format),
        }
    }
}
