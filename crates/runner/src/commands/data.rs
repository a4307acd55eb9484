//! `clariq data`: check, count, fetch and export the files of a collection.

use crate::commands::{export, fetch, passage_ids, segment, shard, synthesize};
use crate::failure::{Failure, Outcome, print_problem};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Subcommand;
use clariq_collections::{Amount, Statistics, check as check_folder};
use clariq_core::Severity;
use std::io::{self, Write};

#[derive(Subcommand)]
pub(crate) enum DataCommand {
    /// Report all defects of a data folder
    Check,
    /// Count requests, documents, labels and words
    Stats,
    /// Download the released ClariQ files and verify them
    Fetch(fetch::FetchArgs),
    /// Write the collection as JSON lines and TREC qrels, for other tools
    Export(export::ExportArgs),
    /// Generate multi-turn conversations from the rows of a labelled split
    Synthesize(synthesize::SynthesizeArgs),
    /// Cut a file of conversations or requests into shards, to rank them on several machines
    ///
    /// Also writes `plan.json`. `clariq run SYSTEM --shard plan.json:I` ranks one shard; it needs
    /// only the plan and that shard. `clariq run --merge plan.json -o FILE` merges the parts into
    /// the same bytes as a run over the whole file.
    Shard(shard::ShardArgs),
    /// Cut web pages into passages, by the guidelines of TREC iKAT
    ///
    /// The first 10,000 characters of a page are used, without line breaks. Passages are windows of
    /// ten sentences that start every five sentences. Files of any length are processed in bounded
    /// memory and on all cores; the output does not depend on the number of threads.
    Segment(segment::SegmentArgs),
    /// Build the file of passage ids for `clariq validate --passage-ids`
    PassageIds(passage_ids::PassageIdsArgs),
}

impl DataCommand {
    /// Whether the command opens a learned model.
    pub(crate) fn needs_models(&self) -> bool {
        matches!(self, Self::Shard(arguments) if arguments.needs_models())
    }
}

pub(crate) fn data(settings: &Settings, command: &DataCommand) -> Result<Outcome, Failure> {
    match command {
        DataCommand::Check => check(settings),
        DataCommand::Stats => stats(settings),
        DataCommand::Fetch(arguments) => fetch::fetch(settings, arguments),
        DataCommand::Export(arguments) => export::export(settings, arguments),
        DataCommand::Synthesize(arguments) => synthesize::synthesize(settings, arguments),
        DataCommand::Shard(arguments) => shard::shard(settings, arguments),
        DataCommand::Segment(arguments) => segment::segment(settings, arguments),
        DataCommand::PassageIds(arguments) => passage_ids::passage_ids(settings, arguments),
    }
}

fn check(settings: &Settings) -> Result<Outcome, Failure> {
    settings.say_which_data();
    let report = check_folder(&settings.data)?;
    let mut sheet = Sheet::new(&["file", "errors", "warnings"]);
    for file in &report.files {
        let [errors, warnings] = [Severity::Error, Severity::Warning]
            .map(|severity| Cell::count(report.findings.count(file, severity)));
        sheet.row(vec![Cell::text(file), errors, warnings]);
    }
    for file in &report.absent {
        sheet.row(vec![Cell::text(format!("{file} (not there)")), Cell::Nothing, Cell::Nothing]);
    }
    for finding in report.findings.iter() {
        let severity = match finding.first.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        print_problem(severity, &finding.to_problem());
    }
    sheet.print(settings.format)?;
    Ok(if report.findings.has_errors() { Outcome::CheckFailed } else { Outcome::Done })
}

fn stats(settings: &Settings) -> Result<Outcome, Failure> {
    let statistics = settings.collection()?.statistics()?;
    match settings.format {
        // A program wants the figures by name and not a table turned on its side.
        Some(crate::output::Format::Json) => {
            let mut out = io::stdout().lock();
            serde_json::to_writer_pretty(&mut out, &statistics.named).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        format => sheet(&statistics).print(format)?,
    }
    Ok(Outcome::Done)
}

/// One row per figure and one column per split.
fn sheet(statistics: &Statistics) -> Sheet {
    let mut sheet = Sheet::new(&[&["figure"], &statistics.columns[..]].concat());
    for row in &statistics.rows {
        let mut cells = vec![Cell::text(row.name)];
        cells.extend(row.amounts.iter().map(|amount| match *amount {
            Some(Amount::Count(count)) => Cell::count(count),
            Some(Amount::Mean(mean)) => Cell::Figure(mean, 1),
            None => Cell::Nothing,
        }));
        sheet.row(cells);
    }
    sheet
}
