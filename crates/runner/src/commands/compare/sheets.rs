//! The tables of a comparison: one for people, one with every figure for programs, and the topics
//! on which runs differ most.

use super::scored::Scored;
use super::{Compared, Comparison};
use crate::output::Format;
use crate::output::{Cell, Sheet, shorten};
use clariq_collections::clariq::Labelled;
use clariq_core::TopicId;
use std::collections::HashMap;

/// The letters that names of runs may take beside requests in a terminal.
const RUN: usize = 20;

impl Compared {
    /// The runs of each measure, the baseline first and with `None`.
    fn rows(&self) -> impl Iterator<Item = (usize, usize, Option<&Comparison>)> {
        self.comparisons.iter().enumerate().flat_map(|(measure, others)| {
            let others = others.iter().map(Some);
            std::iter::once(None)
                .chain(others)
                .enumerate()
                .map(move |(run, comparison)| (measure, run, comparison))
        })
    }

    fn is_marked(&self, comparison: &Comparison) -> bool {
        comparison.corrected <= self.alpha
    }

    /// For people: at most 80 columns where it is for a terminal.
    pub(super) fn readable(&self, format: Option<Format>) -> Sheet {
        let header = ["by", "run", "mean", "diff", "W/T/L", "p t", "p rand", "p Holm", "d", ""];
        let mut sheet = Sheet::new(&header);
        for (measure, run, comparison) in self.rows() {
            let run = &self.runs[run];
            let mut row = vec![Cell::text(&self.measures[measure]), Cell::text(&run.name)];
            row.push(Cell::Figure(run.mean(measure), 4));
            row.extend(match comparison {
                Some(comparison) => self.against_baseline(comparison).to_vec(),
                None => [vec![Cell::Nothing; 6], vec![Cell::Mark(false)]].concat(),
            });
            sheet.row(row);
        }
        sheet.fit(1, format)
    }

    fn against_baseline(&self, comparison: &Comparison) -> [Cell; 7] {
        let test = &comparison.test;
        [
            Cell::Figure(without_sign_of_zero(test.mean_difference), 4),
            Cell::text(format!("{}/{}/{}", test.wins, test.ties, test.losses)),
            Cell::Probability(test.t_p),
            Cell::Probability(test.randomisation_p),
            Cell::Probability(comparison.corrected),
            finite(test.effect_size, 2),
            Cell::Mark(self.is_marked(comparison)),
        ]
    }

    /// For programs: every figure in a column of its own, with all digits.
    pub(super) fn complete(&self) -> Sheet {
        let mut sheet = Sheet::new(&[
            "measure",
            "run",
            "baseline",
            "topics",
            "mean",
            "difference",
            "wins",
            "ties",
            "losses",
            "t",
            "p_t",
            "p_randomisation",
            "p_holm",
            "effect_size",
            "significant",
        ]);
        for (measure, run, comparison) in self.rows() {
            let run = &self.runs[run];
            let mut row = vec![Cell::text(&self.measures[measure]), Cell::text(&run.path)];
            row.push(Cell::text(&self.runs[0].path));
            row.extend([Cell::count(run.topics.len()), Cell::Figure(run.mean(measure), 6)]);
            row.extend(match comparison {
                Some(comparison) => self.all_figures(comparison).to_vec(),
                None => vec![Cell::Nothing; 10],
            });
            sheet.row(row);
        }
        sheet
    }

    fn all_figures(&self, comparison: &Comparison) -> [Cell; 10] {
        let test = &comparison.test;
        [
            Cell::Figure(test.mean_difference, 6),
            Cell::count(test.wins),
            Cell::count(test.ties),
            Cell::count(test.losses),
            finite(test.t, 6),
            Cell::Probability(test.t_p),
            Cell::Probability(test.randomisation_p),
            Cell::Probability(comparison.corrected),
            finite(test.effect_size, 6),
            Cell::Mark(self.is_marked(comparison)),
        ]
    }

    /// The topics on which each run differs most from the baseline, up to `count` of them, with
    /// what the user asked.
    pub(super) fn topics(&self, labels: &Labelled, count: usize, format: Option<Format>) -> Sheet {
        let requests: HashMap<&TopicId, &str> =
            labels.topics.iter().map(|topic| (&topic.id, topic.request.as_str())).collect();
        let name = |run: &Scored| match format {
            None | Some(Format::Table) => shorten(&run.name, RUN),
            Some(Format::Tsv | Format::Json) => run.path.clone(),
            Some(_) => run.name.clone(),
        };
        let mut sheet = Sheet::new(&["run", "topic", "request", "baseline", "value", "diff"]);
        for run in &self.runs[1..] {
            let (figures, baseline) = (&run.columns[self.focus], &self.runs[0].columns[self.focus]);
            for place in most_different(figures, baseline, count) {
                let id = &run.topics[place];
                sheet.row(vec![
                    Cell::text(name(run)),
                    Cell::text(id.as_str()),
                    Cell::text(*requests.get(id).unwrap_or(&"")),
                    Cell::Figure(baseline[place], 4),
                    Cell::Figure(figures[place], 4),
                    Cell::Figure(without_sign_of_zero(figures[place] - baseline[place]), 4),
                ]);
            }
        }
        sheet.fit(2, format)
    }
}

/// The places of the largest differences, largest first, equals in the order of topics; none
/// without a difference.
fn most_different(figures: &[f64], baseline: &[f64], count: usize) -> Vec<usize> {
    let size = |place: usize| (figures[place] - baseline[place]).abs();
    let mut places: Vec<usize> = (0..figures.len()).filter(|&place| size(place) > 0.0).collect();
    places.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    places.truncate(count);
    places
}

/// A difference that is shown as zero has no sign.
fn without_sign_of_zero(difference: f64) -> f64 {
    if difference.abs() < 5e-5 { 0.0 } else { difference }
}

/// Figures that the data do not settle are left out.
fn finite(figure: f64, digits: usize) -> Cell {
    if figure.is_finite() { Cell::Figure(figure, digits) } else { Cell::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_differences_of_either_sign_come_first() {
        assert_eq!(most_different(&[0.5, 0.1, 0.9, 0.3], &[0.5, 0.9, 0.6, 0.0], 5), [1, 2, 3]);
        assert_eq!(most_different(&[0.5, 0.1], &[0.4, 0.0], 0), [0_usize; 0]);
        assert_eq!(most_different(&[0.5, 0.25], &[0.25, 0.0], 1), [0]);
    }
}
