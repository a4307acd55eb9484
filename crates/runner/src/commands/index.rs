//! `clariq index build` and `clariq index stats`: is the index there, and how large is it?

use crate::cli::{IndexArgs, IndexCommand};
use crate::commands::Outcome;
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::settings::{Settings, index_folder};
use clariq_index::{BankIndex, Opened};

pub(crate) fn index(settings: &Settings, command: &IndexCommand) -> Result<Outcome, Failure> {
    let (IndexCommand::Build(arguments) | IndexCommand::Stats(arguments)) = command;
    let index = open(settings, arguments)?;
    print(settings, &index)?;
    Ok(Outcome::Done)
}

fn open(settings: &Settings, arguments: &IndexArgs) -> Result<BankIndex, Failure> {
    let bank = settings.collection()?.bank;
    let folder = index_folder(&arguments.place, &bank, arguments.analyzer);
    let options = settings.build_options(&arguments.place);
    if arguments.force {
        return Ok(BankIndex::rebuild(&folder, &bank, arguments.analyzer, &options)?);
    }
    let (index, opened) = BankIndex::open_or_build(&folder, &bank, arguments.analyzer, &options)?;
    match &opened {
        Opened::Reused => {
            settings.note("note: the right index was there already; --force builds it anew")
        }
        _ => settings.say_how_opened(&index, &opened),
    }
    Ok(index)
}

fn print(settings: &Settings, index: &BankIndex) -> Result<(), Failure> {
    let stats = index.stats()?;
    let mut sheet = Sheet::new(&["figure", "value"]);
    let rows = [
        ("folder", Cell::text(index.folder().display().to_string())),
        ("analyser", Cell::text(stats.analyzer.name())),
        ("bank checksum", Cell::text(&stats.bank[..12])),
        ("questions", Cell::count(stats.questions)),
        ("tokens", Cell::Count(stats.tokens)),
        ("distinct tokens", Cell::count(stats.vocabulary)),
        ("tokens of the longest question", Cell::Count(u64::from(stats.longest))),
        ("bytes on disk", Cell::Count(stats.bytes)),
    ];
    for (name, value) in rows {
        sheet.row(vec![Cell::text(name), value]);
    }
    Ok(sheet.print(settings.format)?)
}
