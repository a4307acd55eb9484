//! `clariq eval --task document_relevance`: the documents after the first question and its answer.

use super::{both, is_large, leaderboard_row, open, place, print};
use crate::commands::eval::arguments::EvalArgs;
use crate::commands::eval::{say, write_per_topic};
use crate::failure::Failure;
use crate::settings::Settings;
use clariq_collections::clariq::evaluation::{
    DocumentRelevance, document_relevance, multi_turn_document_relevance, table_stem,
};
use clariq_collections::clariq::{EvalTable, Split, read_text_run};
use clariq_core::{Location, Problem, ProblemKind};
use clariq_files::{Source, python_float, read_run, write_atomically};
use std::io::{self, Write};
use std::path::Path;

pub(crate) fn documents(
    settings: &Settings,
    arguments: &EvalArgs,
    path: &Path,
) -> Result<(), Failure> {
    let (collection, split) = open(settings, arguments, path, &[path.to_owned()])?;
    let source = Source::new(path);
    let stem = table_stem(split, arguments.multi_turn);
    let scores = if arguments.multi_turn {
        let (run, table) = both(
            is_large(path),
            || read_text_run(&source, &collection.bank),
            || EvalTable::open(&collection.data, &stem),
        );
        multi_turn_document_relevance(&run?, &table?)
    } else {
        let labels = collection.labelled(split)?;
        let run = read_run(&source)?;
        document_relevance(&run, &EvalTable::open(&collection.data, &stem)?, &labels)
    };
    warn(settings, &scores);
    let figures: Vec<(String, f64)> = scores
        .metrics
        .iter()
        .filter_map(|metric| Some((metric.name.clone(), metric.mean()?)))
        .collect();
    if figures.len() < scores.metrics.len() || figures.is_empty() {
        return Err(no_contexts(&stem, split).into());
    }
    if let Some(out) = &arguments.out_file {
        let metrics = scores.metrics.iter().map(|metric| {
            (
                metric.name.as_str(),
                metric
                    .contexts
                    .iter()
                    .map(|(context, figure)| (context.to_string(), *figure))
                    .collect(),
            )
        });
        let metrics: Vec<(&str, Vec<(String, f64)>)> = metrics.collect();
        write_atomically(out, |file| write_per_topic(&metrics, file))?;
    }
    if arguments.leaderboard {
        let of = |name: &str| {
            figures.iter().find(|(metric, _)| metric == name).map(|(_, figure)| *figure)
        };
        let row: Vec<f64> = ["MRR100", "P1", "NDCG3", "NDCG5"].into_iter().filter_map(of).collect();
        if row.len() < 4 {
            return Err(no_leaderboard_metrics(&stem).into());
        }
        return Ok(writeln!(io::stdout(), "{}", leaderboard_row(&row))?);
    }
    let placed = place::sheet(settings, arguments, &collection.bank, split, path, &figures);
    print(settings, &figures, placed, |name, figure| format!("{name}: {}", python_float(figure)))
}

fn no_contexts(stem: &str, split: Split) -> Problem {
    let at = Location::file(format!("{stem}.pkl"));
    let expected = format!("figures for the contexts of {split}");
    Problem::new(at, ProblemKind::EvalTable, expected, "none")
        .hint("the table and the labels must be of one release")
}

fn no_leaderboard_metrics(stem: &str) -> Problem {
    let at = Location::file(format!("{stem}.pkl"));
    Problem::new(
        at,
        ProblemKind::EvalTable,
        "the metrics MRR100, P1, NDCG3 and NDCG5",
        "a table without them",
    )
    .hint("leave --leaderboard out to see the metrics that there are")
}

fn warn(settings: &Settings, scores: &DocumentRelevance) {
    let counts = [
        (
            scores.tied,
            "topics have several questions with the highest score; the last in the file counts",
        ),
        (scores.missing, "contexts are not answered and count 0"),
        (
            scores.not_candidates,
            "contexts get a question without figures, which counts as the worst one",
        ),
    ];
    say(settings, &counts);
}
