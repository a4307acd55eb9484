//! `clariq run` of systems for iKAT: what is handed in for a year, with the rankings that it rests
//! on.

use crate::commands::run::arguments::RunArgs;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_collections::ikat::Split;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_experiment::Loaded;
use clariq_experiment::ikat::{Paths, answer, write};
use clariq_files::refuse_input;
use std::path::Path;

/// Answers every turn of a split by each system, and writes a run of each.
pub(crate) fn run_ikat(
    settings: &Settings,
    arguments: &RunArgs,
    systems: &[Loaded],
) -> Result<Outcome, Failure> {
    check_flags(arguments)?;
    let ikat = settings.ikat()?;
    let name = (&ikat as &dyn Collection).find_split_or_usual(arguments.split.as_deref())?;
    let split = Split::ALL.into_iter().find(|split| split.name() == name);
    let split = split.unwrap_or(Split::Test2023);
    let session = settings.session(&ikat, &arguments.place)?.answering(split.name());
    let mut sheet =
        Sheet::new(&["system", "class", "split", "turns", "passages", "uses", "run file"]);
    for loaded in systems {
        let paths = match &arguments.output {
            Some(path) => Paths::beside(path),
            None => Paths::usual(Path::new("runs"), &ikat, &loaded.system.name, split),
        };
        for path in [&paths.submission, &paths.statements, &paths.passages] {
            refuse_input(path)?;
        }
        let answers = answer(&session, &ikat, loaded, split)?;
        write(&session, &ikat, loaded, &answers, &paths)?;
        let uses: Vec<String> = loaded.system.uses.iter().map(ToString::to_string).collect();
        let uses = if uses.is_empty() { Cell::Nothing } else { Cell::text(uses.join(", ")) };
        sheet.row(vec![
            Cell::text(&loaded.system.name),
            Cell::text(loaded.answer()?.class().name()),
            Cell::text(split.name()),
            Cell::count(answers.turns.len()),
            Cell::count(answers.passages.iter().map(Vec::len).sum()),
            uses,
            Cell::text(paths.submission.display().to_string()),
        ]);
    }
    sheet.print(settings.format)?;
    Ok(Outcome::Done)
}

/// What says nothing here is refused.
fn check_flags(arguments: &RunArgs) -> Result<(), Problem> {
    let given = [
        ("--conversations", arguments.conversations.is_some()),
        ("--shard", arguments.shard.is_some()),
        ("--resume", arguments.resume),
        ("--skip-bad", arguments.skip_bad),
        ("--run-tag", arguments.run_tag.is_some()),
        ("--output", arguments.output.as_ref().is_some_and(|path| path.as_os_str() == "-")),
    ];
    let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let expected = "a run of iKAT over a split, into files";
    Err(Problem::new(Location::file(flag), ProblemKind::Argument, expected, format!("`{flag}`"))
        .hint("a run of iKAT is named after its system and has three files and a record: leave it out"))
}
