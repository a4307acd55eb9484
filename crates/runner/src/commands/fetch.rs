//! `clariq data fetch`: where do the released files come from?

use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::{Settings, USUAL_DATA};
use clap::Args;
use clariq_collections::clariq::DataDir;
use clariq_collections::clariq::fetch::{self, Base, FetchRequest, Outcome as Fetched, Selection};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// Another place to get the files from: a URL, or a folder to copy from
    #[arg(long, value_name = "URL|DIR")]
    pub(crate) from: Option<String>,
    /// Also the archives with conversations and multi-turn evaluation tables (large)
    #[arg(long)]
    pub(crate) all: bool,
}

pub(crate) fn fetch(settings: &Settings, arguments: &FetchArgs) -> Result<Outcome, Failure> {
    let folder = match &settings.data {
        DataDir::Folder(folder) => folder.clone(),
        DataDir::Sample => PathBuf::from(USUAL_DATA),
    };
    settings.note(&format!("note: fetching into {}", folder.display()));
    let selection = if arguments.all { Selection::All } else { Selection::Core };
    let mut request = FetchRequest { entries: selection.entries(), ..FetchRequest::new(folder) };
    if let Some(from) = &arguments.from {
        request.base = Base::parse(from)?;
    }
    let mut progress =
        Progress { shown: settings.progress, bar: ProgressBar::hidden(), name: String::new() };
    let fetched = fetch::fetch(&request, &mut progress)?;
    let mut sheet = Sheet::new(&["file", "outcome"]);
    for file in &fetched {
        sheet.row(vec![Cell::text(&file.name), Cell::text(told(&file.outcome))]);
    }
    sheet.print(settings.format)?;
    Ok(Outcome::Done)
}

fn told(outcome: &Fetched) -> String {
    match outcome {
        Fetched::Downloaded { bytes, verified } => {
            format!("fetched, {bytes} bytes{}", checksum(*verified))
        }
        Fetched::Present { verified } => format!("there already{}", checksum(*verified)),
        Fetched::NotThere => "not released there".to_owned(),
        Fetched::Unpacked { files } => format!("unpacked: {}", files.join(", ")),
        Fetched::UnpackedBefore { files } => format!("unpacked before: {}", files.join(", ")),
    }
}

fn checksum(verified: bool) -> &'static str {
    if verified { ", checksum verified" } else { ", no published checksum" }
}

struct Progress {
    shown: bool,
    bar: ProgressBar,
    name: String,
}

impl fetch::Progress for Progress {
    fn start(&mut self, name: &str, done: u64, total: Option<u64>) {
        name.clone_into(&mut self.name);
        if !self.shown || !io::stderr().is_terminal() {
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

    fn finish(&mut self, outcome: &Fetched) {
        self.bar.finish_and_clear();
        if self.shown && !io::stderr().is_terminal() {
            eprintln!("{}: {}", self.name, told(outcome));
        }
    }
}
