//! The scores of every run, and which of them differ significantly.

use crate::page::{Section, scroll};
use crate::words::{count, difference, effect, figure, p_value, thousands};
use clariq_eval::{BaselineTest, ROUNDS, Score, test_against_baseline};
use maud::{Markup, html};

/// The accepted probability of any false mark on the page.
const LEVEL: f64 = 0.05;

/// A run with its figures.
pub(crate) struct RunScores<'a> {
    /// Its name on the page.
    pub(crate) name: &'a str,
    /// The declared input of its system beyond one request and the documents.
    pub(crate) uses: &'a [String],
    /// The same measures and topics for all runs.
    pub(crate) scores: Vec<Score>,
}

/// All runs, in the order of the page.
pub(crate) struct ComparedRuns<'a> {
    pub(crate) runs: Vec<RunScores<'a>>,
    /// The position of the run that the others are compared with.
    pub(crate) baseline: usize,
    /// Every other run against it, by every column.
    pub(crate) tested: Vec<BaselineTest>,
    /// The seed of the randomisation test.
    pub(crate) seed: u64,
    /// The unit that figures are averaged over: `topic`, `facet` or `turn`.
    pub(crate) unit: &'static str,
}

impl<'a> ComparedRuns<'a> {
    /// Tests every run against the baseline.
    ///
    /// # Panics
    ///
    /// If `baseline` is not the position of a run, or the runs have different columns.
    pub(crate) fn new(
        runs: Vec<RunScores<'a>>,
        baseline: usize,
        seed: u64,
        unit: &'static str,
    ) -> Self {
        let scores: Vec<&[Score]> = runs.iter().map(|run| &run.scores[..]).collect();
        let tested = test_against_baseline(&scores, baseline, seed);
        Self { runs, baseline, tested, seed, unit }
    }

    /// The run that the others are compared with.
    pub(crate) fn baseline(&self) -> &RunScores<'a> {
        &self.runs[self.baseline]
    }

    /// The end of a sentence about all runs: what they are compared with.
    pub(crate) fn against(&self) -> String {
        if self.runs.len() < 2 {
            return String::new();
        }
        format!("; compared with {}", self.baseline().name)
    }

    /// The runs that are compared with the baseline, with their positions.
    pub(crate) fn others(&self) -> impl Iterator<Item = (usize, &RunScores<'a>)> {
        self.runs.iter().enumerate().filter(|(index, _)| *index != self.baseline)
    }

    /// The column to compare runs by: `preferred`, or the first by which any of `runs` differs from
    /// the baseline if none does by that.
    pub(crate) fn telling(&self, preferred: usize, runs: &[usize]) -> usize {
        let differs = |column: &usize| {
            let base = &self.baseline().scores[*column].values;
            runs.iter().any(|&run| self.runs[run].scores[*column].values != *base)
        };
        let Score { part, unit, .. } = &self.baseline().scores[preferred];
        let columns = [preferred].into_iter().chain(0..self.baseline().scores.len());
        let mut of_part = columns.filter(|column| {
            let column = &self.baseline().scores[*column];
            column.part == *part && column.unit == *unit
        });
        of_part.find(differs).unwrap_or(preferred)
    }

    /// The column to compare all runs by.
    pub(crate) fn telling_of_all(&self, preferred: usize) -> usize {
        self.telling(preferred, &(0..self.runs.len()).collect::<Vec<_>>())
    }

    /// The largest difference of a run from the baseline on a topic, by the measure of a column.
    pub(crate) fn difference(&self, column: usize, topic: usize) -> f64 {
        let value = |run: &RunScores| run.scores[column].values[topic].1;
        let base = value(self.baseline());
        self.runs.iter().map(|run| (value(run) - base).abs()).fold(0.0, f64::max)
    }

    /// The topics of a column by their positions, those with the largest difference first; topics
    /// without a difference are in their order.
    pub(crate) fn by_difference(&self, column: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.baseline().scores[column].values.len()).collect();
        order.sort_by(|&a, &b| self.difference(column, b).total_cmp(&self.difference(column, a)));
        order
    }

    /// The value of the baseline on a topic, and that of the run that differs most from it there:
    /// `R@30: bm25 0.60 → dense 0.20`.
    pub(crate) fn change(&self, column: usize, topic: usize) -> Markup {
        let value = |run: &RunScores| run.scores[column].values[topic].1;
        let baseline = self.baseline();
        let by = |run: &RunScores| (value(run) - value(baseline)).abs();
        let others = self.others().map(|(_, run)| run);
        // Of runs that differ alike the first is named.
        let furthest = others.reduce(|one, next| if by(next) > by(one) { next } else { one });
        let measure = &baseline.scores[column].measure;
        html! {
            span.range {
                @match furthest.filter(|run| by(run) > 0.0) {
                    None => { (measure) " " (format!("{:.2}", value(baseline))) }
                    Some(run) => {
                        (measure) ": " (baseline.name) " " (format!("{:.2}", value(baseline))) " → "
                        (run.name) " " (format!("{:.2}", value(run)))
                    }
                }
            }
        }
    }
}

/// The section of figures: `intro` describes the measures, `remarks` are about single runs, and
/// `label` names the region that the table scrolls in.
pub(crate) fn section(
    compared: &ComparedRuns,
    intro: &str,
    [label, caption]: [&str; 2],
    remarks: &[(&str, String)],
) -> Section {
    let several = compared.runs.len() > 1;
    let short =
        compared.runs.iter().flat_map(|run| &run.scores).any(|column| column.short_of.is_some());
    let content = html! {
        section id="scores" {
            h2 { "Scores" }
            p { (intro) @if several { " The highest of each measure is bold." } }
            (scroll(label, &table(compared, caption)))
            @if several {
                p.note {
                    "▲ significantly better, ▼ significantly worse than the baseline: p ≤ " (LEVEL)
                    " in a two-sided paired randomisation test over " (compared.unit) "s ("
                    (thousands(ROUNDS as usize)) " rounds, seed " (compared.seed)
                    "), after Holm's correction for the "
                    (count(compared.tested.len(), "comparison"))
                    " of this table. No mark: not shown to differ."
                }
            }
            @if short {
                p.note { "° The run ranks fewer documents than the cut-off of this measure, which counts no more." }
            }
            @if several {
                details {
                    summary { "The tests in full" }
                    (scroll("Tests against the baseline", &tests(compared)))
                }
            }
            (list_remarks(remarks))
        }
    };
    Section { id: "scores", name: "Scores", content }
}

/// With more measures than this, the table has a row for each.
const MOST_ACROSS: usize = 6;

fn table(compared: &ComparedRuns, caption: &str) -> Markup {
    if compared.baseline().scores.len() > MOST_ACROSS {
        return transposed(compared, caption);
    }
    let uses = compared.runs.iter().any(|run| !run.uses.is_empty());
    let columns = &compared.baseline().scores;
    html! {
        table {
            caption { (caption) }
            thead {
                (parts(columns, uses))
                tr {
                    th scope="col" { "run" }
                    @for column in columns { th scope="col" { (column.measure) } }
                    @if uses { th.text scope="col" { "uses" } }
                }
            }
            tbody {
                @for (index, run) in compared.runs.iter().enumerate() {
                    tr {
                        th scope="row" { (named(compared, index)) }
                        @for column in 0..columns.len() { (cell(compared, index, column)) }
                        @if uses { td.text { (list_uses(run)) } }
                    }
                }
            }
        }
    }
}

/// The name of a run, with a mark if it is the baseline.
fn named(compared: &ComparedRuns, index: usize) -> Markup {
    html! {
        (compared.runs[index].name)
        @if compared.runs.len() > 1 && index == compared.baseline { " " span.tag { "baseline" } }
    }
}

/// A row for each measure and a column for each run.
fn transposed(compared: &ComparedRuns, caption: &str) -> Markup {
    let columns = &compared.baseline().scores;
    html! {
        table.measures {
            caption { (caption) }
            thead {
                tr {
                    th.text scope="col" { "measure" }
                    @for index in 0..compared.runs.len() { th scope="col" { (named(compared, index)) } }
                }
            }
            tbody {
                @for (index, column) in columns.iter().enumerate() {
                    @if !column.part.is_empty() && (index == 0 || columns[index - 1].part != column.part) {
                        tr.part { th.text scope="colgroup" colspan=(compared.runs.len() + 1) { (column.part) } }
                    }
                    tr {
                        th.text scope="row" { (column.measure) }
                        @for run in 0..compared.runs.len() { (cell(compared, run, index)) }
                    }
                }
                @if compared.runs.iter().any(|run| !run.uses.is_empty()) {
                    tr {
                        th.text scope="row" { "uses" }
                        @for run in &compared.runs { td { (list_uses(run)) } }
                    }
                }
            }
        }
    }
}

/// A row above the measures with the part of the runs that each belongs to; nothing without parts.
fn parts(scores: &[Score], uses: bool) -> Markup {
    let parts = scores.chunk_by(|a, b| a.part == b.part);
    html! {
        @if scores.iter().any(|column| !column.part.is_empty()) {
            tr {
                td {}
                @for part in parts {
                    th scope="colgroup" colspan=(part.len()) { (part[0].part) }
                }
                @if uses { td {} }
            }
        }
    }
}

fn cell(compared: &ComparedRuns, index: usize, column: usize) -> Markup {
    let mean = compared.runs[index].scores[column].value();
    let means = compared.runs.iter().map(|run| run.scores[column].value());
    let best = compared.runs.len() > 1 && mean == means.fold(0.0, f64::max);
    let found = compared
        .tested
        .iter()
        .find(|tested| (tested.run, tested.column) == (index, column) && is_significant(tested));
    let short = compared.runs[index].scores[column].short_of.is_some();
    html! {
        td {
            @if best { b { (figure(mean)) } } @else { (figure(mean)) }
            @if short { "°" }
            span.sign { (found.map_or(html! {}, mark_direction)) }
        }
    }
}

pub(crate) fn is_significant(tested: &BaselineTest) -> bool {
    tested.corrected <= LEVEL
}

fn mark_direction(tested: &BaselineTest) -> Markup {
    let better = tested.test.mean_difference > 0.0;
    let (sign, class, words) = if better {
        ("▲", "up", "better than the baseline")
    } else {
        ("▼", "down", "worse than the baseline")
    };
    html! { span class=(class) aria-hidden="true" { (sign) } span.unseen { " " (words) } }
}

fn list_uses(run: &RunScores) -> String {
    if run.uses.is_empty() { "–".to_owned() } else { run.uses.join(", ") }
}

/// The columns of a test, after run and measure.
const TESTS: &[&str] = &[
    "difference",
    "better on",
    "same on",
    "worse on",
    "effect size",
    "p (t-test)",
    "p (randomisation)",
    "p (Holm)",
];

pub(crate) fn tests(compared: &ComparedRuns) -> Markup {
    html! {
        table.tests {
            caption { "Each run against " (compared.baseline().name) }
            thead {
                tr {
                    th scope="col" { "run" } th scope="col" { "measure" }
                    @for name in TESTS { th scope="col" { (name) } }
                }
            }
            tbody { @for tested in &compared.tested { (test_row(compared, tested)) } }
        }
        p.note {
            "Effect size: mean difference over standard deviation of the differences (Cohen's d"
            sub { "z" } "). A dash: all " (compared.unit) "s differ alike."
        }
    }
}

fn test_row(compared: &ComparedRuns, tested: &BaselineTest) -> Markup {
    let test = &tested.test;
    let run = &compared.runs[tested.run];
    html! {
        tr.first[tested.column == 0] {
            th scope="row" { (run.name) }
            td { (run.scores[tested.column].name()) }
            td { (difference(test.mean_difference)) }
            td { (test.wins) } td { (test.ties) } td { (test.losses) }
            td { (effect(test.effect_size)) }
            td { (p_value(test.t_p)) } td { (p_value(test.randomisation_p)) }
            td {
                (p_value(tested.corrected))
                span.sign { @if is_significant(tested) { (mark_direction(tested)) } }
            }
        }
    }
}

/// Remarks about single runs; nothing without any.
fn list_remarks(remarks: &[(&str, String)]) -> Markup {
    html! {
        @if !remarks.is_empty() {
            h3 { "Remarks" }
            ul { @for (name, remark) in remarks { li { b { (name) } ": " (remark) } } }
        }
    }
}
