//! `clariq need train | predict | explain` on the sample collection: their output, which is the
//! same for the same inputs, and their refusals.

mod labels;
mod rankings;
mod refusals;
mod training_on_dev;

use crate::common::Bench;

const LEXICAL: &str = "[need]\nmodel = \"lexical\"\n";
const QUICK: &str = "--folds 5 --repeats 2";

/// A system that only asks the empty question, with further lines.
fn system(more: &str) -> String {
    format!("name = \"mine\"\n\n[[stages]]\nstage = \"no_question\"\nrank = 1\n{more}")
}

/// The need file of a split as the command prints it.
fn predicted(bench: &Bench, model: &str, split: &str, more: &str) -> String {
    bench.succeed(&format!("need predict {model} --data data --split {split} {more}")).stdout
}

/// Rewrites the labels of train.tsv.
fn relabel(bench: &Bench, change: fn(&str) -> &str) {
    bench.edit("data/train.tsv", |text| {
        let line = |(place, line): (usize, &str)| {
            let fields = line.split('\t').enumerate();
            fields
                .map(|(column, field)| if place > 0 && column == 3 { change(field) } else { field })
                .collect::<Vec<_>>()
                .join("\t")
        };
        text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n"
    });
}
