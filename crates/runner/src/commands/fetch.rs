//! `clariq data fetch`: the released files, into a data folder.

use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::{Settings, USUAL_DATA};
use clap::Args;
use clariq_collections::fetch::{self, FetchRequest, Fetched, Observer};
use clariq_collections::{DataDir, RELEASED};
use clariq_files::download::{Origin, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// Download from this URL, or copy from this folder
    #[arg(long, value_name = "URL|DIR")]
    from: Option<String>,
    /// Also download the archives with conversations and multi-turn evaluation tables (large)
    #[arg(long)]
    all: bool,
    /// Replace files that differ from the released ones
    #[arg(long)]
    force: bool,
}

pub(crate) fn fetch(settings: &Settings, arguments: &FetchArgs) -> Result<Outcome, Failure> {
    let folder = match &settings.data {
        DataDir::Folder(folder) => folder.clone(),
        DataDir::Sample => PathBuf::from(USUAL_DATA),
    };
    settings.note(&format!("note: fetching into {}", folder.display()));
    let mut request = FetchRequest { force: arguments.force, ..FetchRequest::new(folder) };
    if arguments.all {
        request.files = RELEASED.to_vec();
    }
    if let Some(from) = &arguments.from {
        request.origin = Origin::parse(from)?;
    }
    let fetched = fetch::fetch(&request, &mut Watch { settings, bar: ProgressBar::hidden() })?;
    let mut sheet = Sheet::new(&["file", "outcome"]);
    for file in &fetched {
        sheet.row(vec![Cell::text(file.name), Cell::text(describe(&file.outcome))]);
    }
    sheet.print(settings.format)?;
    Ok(Outcome::Done)
}

fn describe(outcome: &fetch::Outcome) -> String {
    let checked = |verified| if verified { "checksum verified" } else { "no published checksum" };
    match *outcome {
        fetch::Outcome::Fetched { bytes, verified } => {
            format!("fetched, {bytes} bytes, {}", checked(verified))
        }
        fetch::Outcome::Present { verified } => format!("there already, {}", checked(verified)),
        fetch::Outcome::NotThere => "not released there".to_owned(),
    }
}

/// A bar for each file on a terminal, a line elsewhere.
struct Watch<'a> {
    settings: &'a Settings,
    bar: ProgressBar,
}

impl Progress for Watch<'_> {
    fn start(&mut self, name: &str, done: u64, total: Option<u64>) {
        if !self.settings.progress || !io::stderr().is_terminal() {
            return;
        }
        self.bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        let template = "{prefix:<28} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        self.bar.set_prefix(name.to_owned());
        self.bar.set_position(done);
    }

    fn advance(&mut self, bytes: u64) {
        self.bar.inc(bytes);
    }
}

impl Observer for Watch<'_> {
    fn wait(&mut self) {
        self.settings.note("note: another command fetches into the same folder: waiting for it");
    }

    fn finish(&mut self, file: &Fetched) {
        self.bar.finish_and_clear();
        if self.settings.progress && !io::stderr().is_terminal() {
            eprintln!("{}: {}", file.name, describe(&file.outcome));
        }
    }
}
