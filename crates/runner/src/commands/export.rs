//! `clariq data export`: a collection in the plain forms that other tools read.

use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_experiment::export::export as write_files;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// Folder for the files: `documents.jsonl`, and for each split `requests.<split>.jsonl` and
    /// `qrels.<split>.txt`
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
}

pub(crate) fn export(settings: &Settings, arguments: &ExportArgs) -> Result<Outcome, Failure> {
    let collection = settings.collection()?;
    let task = collection.tasks()[0];
    let mut sheet = Sheet::new(&["file", "lines"]);
    for (path, lines) in write_files(&*collection, task, &arguments.output)? {
        sheet.row(vec![Cell::text(path.display().to_string()), Cell::count(lines)]);
    }
    sheet.print(settings.format)?;
    Ok(Outcome::Done)
}
