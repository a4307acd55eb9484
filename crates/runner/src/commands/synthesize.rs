//! `clariq data synthesize`: conversations made from the rows of a labelled split.

use crate::arguments::splits;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::clariq::conversation::{
    Order, Shape, Synthesis, put_json_lines, put_pickle,
};
use clariq_collections::clariq::{ClariQ, Split};
use clariq_core::problem;
use clariq_experiment::run::folder_of;
use clariq_files::{Target, read_qrels};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Contexts of the published run `dev_bm25_multi_turn`, and how many of them have no turns yet.
const PUBLISHED: (usize, usize) = (15_345, 158);

#[derive(Args)]
pub(crate) struct SynthesizeArgs {
    /// Labelled split whose questions and answers are combined
    #[arg(long, default_value = "dev", value_parser = splits())]
    split: Split,
    /// File to write: .jsonl or .pkl, or either with .gz; may be given more than once
    /// [default: runs/<split>_synthetic.jsonl]
    #[arg(long, short, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Most turns of a conversation, the next question included
    #[arg(long, value_name = "N", default_value_t = 3)]
    turns: usize,
    /// Whether the order of past turns makes another conversation
    #[arg(long, value_name = "ORDER", default_value = "combinations", value_parser = ["combinations", "permutations"])]
    order: String,
    /// The empty question takes part as well
    #[arg(long)]
    with_no_question: bool,
    /// One record per context, without the next question, as in the challenge's test file
    #[arg(long)]
    contexts_only: bool,
}

pub(crate) fn synthesize(
    settings: &Settings,
    arguments: &SynthesizeArgs,
) -> Result<Outcome, Failure> {
    arguments.output.iter().try_for_each(|path| is_pickle(path).map(drop))?;
    let collection = settings.clariq()?;
    let usual = folder_of(Path::new("runs"), &collection);
    let usual = vec![usual.join(format!("{}_synthetic.jsonl", arguments.split))];
    let outputs = if arguments.output.is_empty() { &usual } else { &arguments.output };
    let labels = collection.labelled(arguments.split)?;
    let shape = Shape {
        turns: arguments.turns,
        order: if arguments.order == "permutations" {
            Order::Permutations
        } else {
            Order::Combinations
        },
        no_question: arguments.with_no_question,
        contexts_only: arguments.contexts_only,
    };
    let synthesis = Synthesis::new(&labels, shape)?;
    let mut sheet = Sheet::new(&["split", "facets", "turns so far", "contexts"]);
    let counts = synthesis.counts();
    for (turns, &count) in counts.iter().enumerate() {
        let (split, facets) =
            (Cell::text(arguments.split.name()), Cell::count(labels.facets.len()));
        sheet.row(vec![split, facets, Cell::count(turns), Cell::count(count)]);
    }
    let total: usize = counts.iter().sum();
    sheet.row(vec![
        Cell::text("all"),
        Cell::count(labels.facets.len()),
        Cell::Nothing,
        Cell::count(total),
    ]);
    for path in outputs {
        let pickle = is_pickle(path)?;
        let records = synthesis.records();
        Target::new(path).write(|out| {
            if pickle { put_pickle(out, records) } else { put_json_lines(out, records) }
        })?;
    }
    if !outputs.iter().any(|path| Target::new(path).is_stream()) {
        sheet.print(settings.format)?;
    }
    settings.note(&explanation(&collection, arguments, &synthesis, total));
    Ok(Outcome::Done)
}

/// Whether a name asks for a pickle; else for JSON lines.
fn is_pickle(path: &Path) -> Result<bool, Failure> {
    if is(path, "pkl") || is(path, "jsonl") || Target::new(path).is_stream() {
        return Ok(is(path, "pkl"));
    }
    let expected = "a name that ends in .jsonl or .pkl, or either with .gz";
    let hint = "the ending says which form is written";
    Err(problem!(path, expected, "another ending", hint).into())
}

/// Why there are more or fewer contexts than in the published run.
fn explanation(
    collection: &ClariQ,
    arguments: &SynthesizeArgs,
    synthesis: &Synthesis,
    total: usize,
) -> String {
    if arguments.split != Split::Dev {
        return format!(
            "{total} contexts; ids are made of facet and questions, see `clariq data synthesize --help`"
        );
    }
    let (published, single) = PUBLISHED;
    let mut text = format!(
        "{total} contexts here, {published} in the published run of dev ({single} without turns): that was made from an \
         earlier release with other facet numbers and rows, so the two cannot be joined"
    );
    if let Some(judged) = judged_facets(collection) {
        let count: usize = synthesis
            .counts_by_facet()
            .filter(|(id, _)| judged.contains(*id))
            .map(|(_, count)| count)
            .sum();
        let _ = write!(
            text,
            ".\nAnd it left out facets for which no document is relevant, because its evaluation table has no figures for \
             them: without those, {count} here"
        );
    }
    text
}

/// The facets with a relevant document, where the folder has their judgements.
fn judged_facets(collection: &ClariQ) -> Option<HashSet<String>> {
    let judgements = read_qrels(&collection.data.file("dev.qrel")?).ok()?;
    Some(
        judgements
            .into_iter()
            .filter(|judged| judged.relevance > 0)
            .map(|judged| judged.topic.to_string())
            .collect(),
    )
}

/// Whether a name ends in `.ending` or `.ending.gz`.
fn is(path: &Path, ending: &str) -> bool {
    let name = path.to_string_lossy();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(&format!(".{ending}"))
}
