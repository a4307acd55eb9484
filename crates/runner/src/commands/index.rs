//! `clariq index build` and `clariq index stats`: an index and its size.

use crate::arguments::{IndexPlace, analyzer};
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use crate::target::open_collection;
use clap::{Args, Subcommand};
use clariq_core::{Hint, Result};
use clariq_index::{Analyzer, DocumentIndex, OpenedIndex};

#[derive(Subcommand)]
pub(crate) enum IndexCommand {
    /// Build the index, unless it exists
    Build(BuildArgs),
    /// Count documents, tokens and bytes
    Stats(IndexArgs),
}

#[derive(Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    index: IndexArgs,
    /// Build even if the index exists
    #[arg(long)]
    force: bool,
}

#[derive(Args)]
pub(crate) struct IndexArgs {
    /// Analyser, which makes terms of texts
    #[arg(long, default_value = "nltk", value_parser = analyzer())]
    analyzer: Analyzer,
    #[command(flatten)]
    place: IndexPlace,
}

pub(crate) fn index(settings: &Settings, command: &IndexCommand) -> Result<Outcome> {
    let (arguments, force) = match command {
        IndexCommand::Build(build) => (&build.index, build.force),
        IndexCommand::Stats(arguments) => (arguments, false),
    };
    let collection = open_collection(settings)?;
    let session = settings.session(&*collection, Some(&arguments.place))?;
    let analyzer = arguments.analyzer;
    let documents = session.documents;
    let options = session.build_options();
    let folder = session.folder_for(analyzer, documents);
    let index = if force {
        DocumentIndex::rebuild(&folder, documents, analyzer, &options)?
    } else {
        let (index, opened) = DocumentIndex::open_or_build(&folder, documents, analyzer, &options)?;
        match &opened {
            OpenedIndex::Reused => {
                let rebuild = Hint::on_data("index build --force").and(" rebuilds it");
                settings.advise(&Hint::from("note: the index exists; ").and(rebuild));
            }
            _ => session.report_opened(&index, &opened),
        }
        index
    };
    let stats = index.stats()?;
    let rows = [
        ("folder", Cell::path(index.folder())),
        ("analyser", Cell::text(stats.analyzer.name())),
        ("bank checksum", Cell::text(session.documents.checksum().short())),
        ("documents", Cell::count(stats.documents)),
        ("tokens", Cell::Count(stats.tokens)),
        ("distinct tokens", Cell::count(stats.vocabulary)),
        ("tokens of the longest document", Cell::Count(u64::from(stats.longest))),
        ("bytes on disk", Cell::Count(stats.bytes)),
    ];
    let mut sheet = Sheet::new(&["statistic", "value"]);
    for (name, value) in rows {
        sheet.row(vec![Cell::text(name), value]);
    }
    sheet.print(settings.format)
}
