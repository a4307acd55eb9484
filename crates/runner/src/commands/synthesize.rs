//! `clariq data synthesize`: conversations made from the rows of a labelled split.

use crate::arguments::one_of;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clap::builder::TypedValueParser;
use clariq_collections::conversation::{Order, Shape, synthesize as synthesize_files};
use clariq_experiment::run::folder_of;
use clariq_files::Target;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct SynthesizeArgs {
    /// Labelled split whose questions and answers are combined
    #[arg(long, default_value = "dev", value_name = "SPLIT")]
    split: String,
    /// File to write: .jsonl or .pkl, or either with .gz; can be repeated [default:
    /// runs/<split>_synthetic.jsonl]
    #[arg(long, short, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Maximum number of turns per conversation, including the next question
    #[arg(long, value_name = "N", default_value_t = 3)]
    turns: usize,
    /// Whether conversations may differ only in the order of their past turns
    #[arg(long, value_name = "ORDER", default_value = "combinations", value_parser = orders())]
    order: Order,
    /// Include the empty question
    #[arg(long)]
    with_no_question: bool,
    /// Write one record per context, without the next question, as in the challenge's test file
    #[arg(long)]
    contexts_only: bool,
}

pub(crate) fn synthesize(
    settings: &Settings,
    arguments: &SynthesizeArgs,
) -> Result<Outcome, Failure> {
    let collection = settings.collection()?;
    let split = &arguments.split;
    let usual = folder_of(Path::new("runs"), &*collection);
    let usual = vec![usual.join(format!("{split}_synthetic.jsonl"))];
    let outputs = if arguments.output.is_empty() { &usual } else { &arguments.output };
    let shape = Shape {
        turns: arguments.turns,
        order: arguments.order,
        no_question: arguments.with_no_question,
        contexts_only: arguments.contexts_only,
    };
    let made = synthesize_files(&*collection, split, shape, outputs)?;
    let mut sheet = Sheet::new(&["split", "facets", "turns so far", "contexts"]);
    let facets = || Cell::count(made.facets);
    for (turns, &count) in made.contexts.iter().enumerate() {
        sheet.row(vec![Cell::text(split), facets(), Cell::count(turns), Cell::count(count)]);
    }
    let total = Cell::count(made.contexts.iter().sum());
    sheet.row(vec![Cell::text("all"), facets(), Cell::Nothing, total]);
    if !outputs.iter().any(|path| Target::new(path).is_stream()) {
        sheet.print(settings.format)?;
    }
    settings.note(&made.remark);
    Ok(Outcome::Done)
}

fn orders() -> impl TypedValueParser<Value = Order> {
    one_of(&[("combinations", Order::Combinations), ("permutations", Order::Permutations)])
}
