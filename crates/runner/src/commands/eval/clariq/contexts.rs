//! `clariq eval --conversations`: whether the next question of each conversation is relevant, new
//! and answered.

use super::{open, print};
use crate::commands::eval::arguments::EvalArgs;
use crate::commands::eval::say;
use crate::failure::Failure;
use crate::settings::Settings;
use clariq_collections::clariq::conversation::{Reading, read_records};
use clariq_collections::clariq::evaluation::ContextScorer;
use clariq_collections::clariq::read_text_run;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_files::{Source, python_float};
use std::ops::ControlFlow;
use std::path::Path;

pub(crate) fn contexts(
    settings: &Settings,
    arguments: &EvalArgs,
    path: &Path,
) -> Result<(), Failure> {
    let Some(file) = &arguments.conversations else { return Ok(()) };
    let (collection, split) = open(settings, arguments, path, &[path.to_owned()])?;
    let labels = collection.labelled(split)?;
    let run = read_text_run(&Source::new(path), &collection.bank)?;
    let mut scorer = ContextScorer::new(&run, &collection.bank, &labels);
    read_records(&Source::new(file), &Reading::default(), &mut |record| {
        if !record.again {
            scorer.add(&record.conversation);
        }
        ControlFlow::Continue(())
    })?;
    let found = scorer.finish();
    if found.contexts == 0 {
        let expected = format!("conversations about topics of {}", labels.name);
        let at = Location::file(file.display().to_string());
        let problem = Problem::new(at, ProblemKind::Argument, expected, "other topics alone");
        return Err(problem
            .hint("--split names the labels that the conversations are about")
            .into());
    }
    let counts = [
        (found.missing, "contexts are not answered"),
        (
            found.unknown,
            "contexts are about topics that are not in the labels and are not looked at",
        ),
    ];
    say(settings, &counts);
    let figures: Vec<(String, f64)> =
        found.figures().map(|(name, figure)| (name.to_owned(), figure)).to_vec();
    print(settings, &figures, None, |name, figure| format!("{name}: {}", python_float(figure)))
}
