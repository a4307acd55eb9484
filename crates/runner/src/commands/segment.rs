//! `clariq data segment`: web pages cut into passages.

use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_experiment::Observer;
use clariq_files::Source;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct SegmentArgs {
    /// Pages in the format of `ClueWeb22`: JSON lines with ClueWeb22-ID, URL and Clean-Text, plain
    /// or gzip; `-` for standard input
    #[arg(required = true, value_name = "PAGES")]
    pages: Vec<PathBuf>,
    /// Folder for passages.jsonl, passages.trecweb and hashes.tsv (page, number of the passage, MD5
    /// of its text)
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
}

pub(crate) fn segment(settings: &Settings, arguments: &SegmentArgs) -> Result<Outcome, Failure> {
    let pages: Vec<Source> = arguments.pages.iter().map(Source::new).collect();
    let task = settings.begin("pages", None);
    let mut reported = 0;
    let total = clariq_text::segment(&pages, &arguments.output, |progress| {
        task.advance(progress.pages - reported);
        reported = progress.pages;
    })?;
    task.finish(&format!("{} pages, {} passages", total.pages, total.passages));
    let mut sheet = Sheet::new(&["pages", "passages", "bytes read", "folder"]);
    sheet.row(vec![
        Cell::Count(total.pages),
        Cell::Count(total.passages),
        Cell::Count(total.bytes),
        Cell::text(arguments.output.display().to_string()),
    ]);
    sheet.print(settings.format)?;
    Ok(Outcome::Done)
}
