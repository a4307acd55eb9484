//! Options for models behind endpoints: replay, a bound, and a dry run.

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

/// Options of commands that answer requests as they come.
#[derive(Args, Default)]
pub(crate) struct AnswerArgs {
    /// Take all answers of models behind a server from this file, written beside an earlier run,
    /// instead of asking any server
    #[arg(long, value_name = "FILE", conflicts_with = "max_calls")]
    replay: Option<PathBuf>,
    /// Stop with an error before a model behind a server is called more often than this; answers
    /// so far stay in the cache
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,
}

/// Options of `clariq run`.
#[derive(Args)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    answers: AnswerArgs,
    /// Count the calls to models behind a server, and estimate their tokens; send and write nothing
    #[arg(long, conflicts_with_all = ["replay", "max_calls"])]
    pub(crate) dry_run: bool,
    /// Prices of a million tokens that are read and of a million that are written, to show what the calls
    /// would cost
    #[arg(long, value_name = "IN,OUT", value_parser = price, requires = "dry_run")]
    pub(crate) price: Option<Price>,
}

/// The prices of a million tokens, in any currency.
#[derive(Clone, Copy)]
pub(crate) struct Price {
    read: f64,
    written: f64,
}

fn price(text: &str) -> Result<Price, String> {
    let amount = |text: &str| {
        text.trim().parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount >= 0.0)
    };
    let prices = text
        .split_once(',')
        .and_then(|(read, written)| Some(Price { read: amount(read)?, written: amount(written)? }));
    prices.ok_or_else(|| "expected two prices of a million tokens, such as 0.15,0.60".to_owned())
}

impl AnswerArgs {
    /// The models of a session for one system.
    pub(crate) fn registry(&self) -> Result<Arc<Registry>> {
        let replay = self.replay.as_ref().map(|file| Recording::read(&Source::new(file)));
        let options =
            CallOptions { replay: replay.transpose()?, max_calls: self.max_calls, dry_run: false };
        Ok(Arc::new(Registry::new(options)))
    }
}

impl CallArgs {
    /// The models of a session for `systems` systems.
    pub(crate) fn registry(&self, systems: usize) -> Result<Arc<Registry>> {
        if self.answers.replay.is_some() && systems > 1 {
            let hint = "the file belongs to one run";
            bail!("--replay", "one system", "{systems} systems", hint);
        }
        if self.dry_run {
            let options = CallOptions { dry_run: true, ..CallOptions::default() };
            return Ok(Arc::new(Registry::new(options)));
        }
        self.answers.registry()
    }
}

/// The table of a dry run.
pub(crate) struct DryRunTable {
    sheet: Sheet,
    dependent: u64,
    price: Option<Price>,
}

impl DryRunTable {
    pub(crate) fn new(price: Option<Price>) -> Self {
        let mut columns =
            vec!["system", "model", "calls", "in cache", "tokens read", "tokens written"];
        columns.extend(price.map(|_| "price"));
        Self { sheet: Sheet::new(&columns), dependent: 0, price }
    }

    /// Adds a row for every model that a system would call.
    pub(crate) fn add(&mut self, session: &Session, system: &str) {
        for (model, planned) in session.registry.calls().planned() {
            self.dependent += planned.dependent;
            let mut row = vec![
                Cell::text(system),
                Cell::text(model),
                Cell::Count(planned.calls),
                Cell::Count(planned.cached),
                Cell::Count(planned.prompt_tokens),
                Cell::Count(planned.completion_tokens),
            ];
            row.extend(self.price.map(|Price { read, written }| {
                let read = read * planned.prompt_tokens as f64;
                let written = written * planned.completion_tokens as f64;
                Cell::Number((read + written) / 1e6, 4)
            }));
            self.sheet.row(row);
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
