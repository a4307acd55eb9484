//! `clariq data passage-ids`: the file in which `clariq validate` looks passages up.

use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::passage_ids::{MEMORY, build};
use clariq_files::{Source, protect, refuse_input};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct PassageIdsArgs {
    /// Lists of passages, plain or gzip: tab-separated page, number and MD5 as released by the
    /// track; page:number; or passages as JSON lines; `-` for standard input
    #[arg(required = true, value_name = "LIST")]
    lists: Vec<PathBuf>,
    /// File to write, of about a byte per passage
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn passage_ids(
    settings: &Settings,
    arguments: &PassageIdsArgs,
) -> Result<Outcome, Failure> {
    // A whole collection takes minutes, so what cannot be written is refused before.
    arguments.lists.iter().for_each(|list| protect(list));
    refuse_input(&arguments.output)?;
    let lists: Vec<Source> = arguments.lists.iter().map(Source::new).collect();
    let built = build(&lists, &arguments.output, MEMORY)?;
    let mut sheet = Sheet::new(&["passages", "repeated", "file"]);
    sheet.row(vec![
        Cell::Count(built.ids),
        Cell::Count(built.repeated),
        Cell::text(arguments.output.display().to_string()),
    ]);
    sheet.print(settings.format)?;
    Ok(Outcome::Done)
}
