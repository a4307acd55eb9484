//! Options of `clariq run` for models behind endpoints: replay, a bound, and a dry run.

use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_core::{Result, bail};
use clariq_experiment::Session;
use clariq_experiment::endpoints::{CallOptions, Recording, Registry};
use clariq_files::Source;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Args)]
pub(crate) struct CallArgs {
    /// Take all answers of models behind endpoints from this file, written beside an earlier run,
    /// instead of asking any server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["max_calls", "dry_run"])]
    replay: Option<PathBuf>,
    /// Stop with an error before a model behind an endpoint is called more often than this; answers
    /// so far stay in the cache
    #[arg(long, value_name = "N", conflicts_with = "dry_run")]
    max_calls: Option<u64>,
    /// Count the calls to models behind endpoints, and estimate their tokens; send and write nothing
    #[arg(long, conflicts_with = "output")]
    pub(crate) dry_run: bool,
}

impl CallArgs {
    /// The models of a session for `systems` systems.
    pub(crate) fn registry(&self, systems: usize) -> Result<Arc<Registry>> {
        let mut replay = None;
        if let Some(file) = &self.replay {
            if systems > 1 {
                let hint = "the file belongs to one run";
                bail!("--replay", "one system", "{systems} systems", hint);
            }
            replay = Some(Recording::read(&Source::new(file))?);
        }
        let options = CallOptions { replay, max_calls: self.max_calls, dry_run: self.dry_run };
        Ok(Arc::new(Registry::new(options)))
    }
}

/// The table of a dry run.
pub(crate) struct DryRunTable {
    sheet: Sheet,
    dependent: u64,
}

impl DryRunTable {
    pub(crate) fn new() -> Self {
        let columns = ["system", "model", "calls", "in cache", "tokens read", "tokens written"];
        Self { sheet: Sheet::new(&columns), dependent: 0 }
    }

    /// Adds a row for every model that a system would call.
    pub(crate) fn add(&mut self, session: &Session, system: &str) {
        for (model, planned) in session.registry.calls().planned() {
            self.dependent += planned.dependent;
            self.sheet.row(vec![
                Cell::text(system),
                Cell::text(model),
                Cell::Count(planned.calls),
                Cell::Count(planned.cached),
                Cell::Count(planned.prompt_tokens),
                Cell::Count(planned.completion_tokens),
            ]);
        }
    }

    pub(crate) fn print(self, settings: &Settings) -> Result<Outcome> {
        settings.note(
            "note: nothing was sent; a token is estimated as 4 bytes of text, and `tokens written` \
             is the most that is allowed",
        );
        if self.dependent > 0 {
            settings.note(&format!(
                "note: {} of these calls depend on answers that are not known yet: their number \
                 and length may differ. They are counted as if those answers were empty",
                self.dependent
            ));
        }
        self.sheet.print(settings.format)
    }
}
