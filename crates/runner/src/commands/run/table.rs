//! The table of runs, a row each, or what a dry run would call.

use super::RunArgs;
use crate::commands::calls::DryRunTable;
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::Split;
use clariq_core::{Result, count_of};
use clariq_experiment::Session;
use clariq_experiment::run::RunSummary;
use clariq_files::Target;
use clariq_systems::SystemConfig;
use std::path::Path;

/// The table of runs.
pub(super) struct RunTable {
    sheet: Sheet,
    /// Submissions have a class.
    has_class: bool,
    /// With several systems, each is told as soon as it is done.
    has_several: bool,
    /// Takes the place of the table in a dry run.
    dry_run: Option<DryRunTable>,
}

impl RunTable {
    /// `kind` is the title of the column with the input.
    pub(super) fn new(kind: &str, systems: &[SystemConfig], arguments: &RunArgs) -> Self {
        let has_class = systems.iter().any(SystemConfig::answers);
        let mut columns = vec!["system", kind, "requests", "lines", "uses", "run file"];
        if has_class {
            columns.insert(1, "class");
        }
        let dry_run = arguments.calls.dry_run.then(|| DryRunTable::new(arguments.calls.price));
        let has_several = systems.len() > 1;
        Self { sheet: Sheet::new(&columns), has_class, has_several, dry_run }
    }

    /// Adds the run of a system over an input.
    pub(super) fn add(
        &mut self,
        session: &Session,
        system: &SystemConfig,
        input: &str,
        summary: RunSummary,
        path: &Path,
    ) {
        if let Some(dry_run) = &mut self.dry_run {
            return dry_run.add(session, &system.full_name());
        }
        if self.has_several {
            let (name, requests) = (system.full_name(), count_of(summary.requests, "request"));
            session.observer.note(&format!("{name}: {requests}, {}", path.display()));
        }
        let mut row = vec![
            Cell::text(system.full_name()),
            Cell::text(input),
            Cell::Count(summary.requests),
            Cell::Count(summary.lines),
            Cell::list(&system.uses_for(session.split.map(Split::role))),
            Cell::path(path),
        ];
        if self.has_class {
            let class = system.class().map_or(Cell::Nothing, |class| Cell::text(class.name()));
            row.insert(1, class);
        }
        self.sheet.row(row);
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
