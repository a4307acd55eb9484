//! The values of a run turn by turn, for comparisons of runs.

use super::evaluate::{EvaluatedRun, IkatLabels};
use clariq_core::{Error, RequestId};
use clariq_eval::{
    Column, Measure, RankedRun, SetAverage, evaluate, parse_measures, rouge_f1, set_values,
};
use clariq_files::{Qrels, Run};

/// The default measures of graded passages: nDCG counts all grades, the others those from 2, as the
/// track's published figures do. Only pooled passages were judged, so the figures are reliable only
/// if the share of judged passages is high.
const BY_GRADE: [&str; 7] =
    ["nDCG@3", "nDCG@5", "nDCG@10", "RR(rel=2)", "R(rel=2)@10", "R(rel=2)@100", "Judged@10"];
/// The default measures of graded passages if all parts are shown.
const FEW_BY_GRADE: [&str; 3] = ["nDCG@3", "nDCG@5", "Judged@10"];

/// The name in figures of passages judged by the citations of the organisers' responses.
pub(super) const CITED: &str = "passages (cited)";

/// The part of runs that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPart {
    /// The rankings of statements.
    Statements,
    /// The lists of statements in a submission, as rankings.
    Provenance,
    /// The statements that responses use, as sets.
    Sets,
    /// The rankings of passages.
    Passages,
    Responses,
}

impl RunPart {
    /// All parts, in the order in which they are shown.
    pub const ALL: [Self; 5] =
        [Self::Statements, Self::Provenance, Self::Sets, Self::Passages, Self::Responses];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Statements => "statements",
            Self::Provenance => "ptkb_provenance",
            Self::Sets => "sets",
            Self::Passages => "passages",
            Self::Responses => "responses",
        }
    }

    /// The part of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// True for rankings, to which measures by name apply.
    pub(crate) fn is_ranking(self) -> bool {
        matches!(self, Self::Statements | Self::Provenance | Self::Passages)
    }

    /// The default measures of the part: a few if all parts are shown, more if it is shown `alone`.
    pub(super) fn usual(self, alone: bool) -> &'static [&'static str] {
        match (self, alone) {
            (Self::Statements | Self::Provenance, false) => &["nDCG@3"],
            (Self::Statements | Self::Provenance, true) => &["nDCG@3", "P@3", "R@3", "AP", "RR"],
            (Self::Passages, false) => &["nDCG@3", "R@10"],
            (Self::Passages, true) => &["nDCG@3", "nDCG@5", "RR", "R@10", "R@100"],
            (Self::Sets, false) => &["F1"],
            (Self::Sets, true) => &["P", "R", "F1"],
            (Self::Responses, false) => &["ROUGE-1"],
            (Self::Responses, true) => &["ROUGE-1", "ROUGE-2"],
        }
    }
}

/// The values of a run for every turn that the labels judge: of one part, or of all.
///
/// If `measures` are named, rankings are scored by them, and sets and responses are left out unless
/// they are the only part. Sets and responses have measures of their own. P, R and F1 of sets are over
/// the turns with a relevant statement: their means are macro averages.
pub fn columns(
    evaluated: &EvaluatedRun,
    labels: &IkatLabels,
    only: Option<RunPart>,
    measures: &[Measure],
) -> Result<Vec<Column>, Error> {
    let mut columns = Vec::new();
    for part in RunPart::ALL {
        let is_wanted = only.map_or(measures.is_empty() || part.is_ranking(), |only| only == part);
        if !is_wanted {
            continue;
        }
        let usual = part.usual(only.is_some());
        for (name, qrels) in labels.of(part) {
            let usual = match (part, only) {
                (RunPart::Passages, _) if name == CITED => usual,
                (RunPart::Passages, None) => &FEW_BY_GRADE,
                (RunPart::Passages, Some(_)) => &BY_GRADE,
                _ => usual,
            };
            let parsed =
                if part.is_ranking() && measures.is_empty() { parse(usual)? } else { Vec::new() };
            let by = if measures.is_empty() { &parsed } else { measures };
            match part {
                RunPart::Statements => {
                    if let Some(run) = &evaluated.statements {
                        columns.extend(ranked(run, qrels, by, name)?);
                    }
                }
                RunPart::Provenance => {
                    if let Some(run) = &evaluated.provenance {
                        // The lists are as long as their turns need, and not cut.
                        let lists = ranked(run, qrels, by, name)?.into_iter();
                        columns.extend(lists.map(|list| Column { short_of: None, ..list }));
                    }
                }
                RunPart::Passages => columns.extend(ranked(&evaluated.passages, qrels, by, name)?),
                RunPart::Sets => columns.extend(of_sets(evaluated, qrels, usual, name)),
                RunPart::Responses => {}
            }
        }
        let has_responses = evaluated.responses.values().any(|text| !text.is_empty());
        if part == RunPart::Responses && has_responses && !labels.responses.is_empty() {
            columns.extend(
                usual.iter().zip(1..).map(|(name, n)| of_responses(evaluated, labels, name, n)),
            );
        }
    }
    Ok(columns)
}

impl IkatLabels {
    /// The labels of a part, with the names of the part in figures; responses have none.
    fn of(&self, part: RunPart) -> Vec<(&'static str, &Qrels)> {
        let named = match part {
            RunPart::Statements => {
                [("statements (organisers)", &self.organisers), ("statements (NIST)", &self.nist)]
            }
            RunPart::Provenance => [
                ("ptkb_provenance (organisers)", &self.organisers),
                ("ptkb_provenance (NIST)", &self.nist),
            ],
            RunPart::Sets => [("sets (organisers)", &self.organisers), ("sets (NIST)", &self.nist)],
            RunPart::Passages => [(CITED, &self.cited), ("", &None)],
            RunPart::Responses => return Vec::new(),
        };
        let named = named.into_iter().filter_map(|(name, qrels)| Some((name, qrels.as_ref()?)));
        let graded = self.graded.iter().filter(|_| part == RunPart::Passages);
        named.chain(graded.map(|(name, qrels)| (*name, qrels))).collect()
    }
}

fn parse(names: &[&str]) -> Result<Vec<Measure>, Error> {
    parse_measures(&names.join(" "))
}

fn ranked(
    run: &Run,
    qrels: &Qrels,
    measures: &[Measure],
    part: &str,
) -> Result<Vec<Column>, Error> {
    Ok(evaluate(measures, &RankedRun::new(run), qrels)?.columns(part))
}

fn of_sets(evaluated: &EvaluatedRun, qrels: &Qrels, names: &[&str], part: &str) -> Vec<Column> {
    let values = set_values(&evaluated.chosen, qrels);
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let values = values.iter().map(|(turn, set)| (turn.clone(), set_figure(name, set)));
        columns.push(Column::new(part, *name, values.collect()));
    }
    columns
}

fn set_figure(name: &str, set: &SetAverage) -> f64 {
    match name {
        "P" => set.precision,
        "R" => set.recall,
        _ => set.f1,
    }
}

/// A turn without a response counts 0.
fn of_responses(evaluated: &EvaluatedRun, labels: &IkatLabels, name: &str, n: usize) -> Column {
    let mut values = Vec::with_capacity(labels.responses.len());
    for (turn, reference) in &labels.responses {
        let response = evaluated.responses.get(turn).map_or("", String::as_str);
        values.push((RequestId::from(turn.as_str()), rouge_f1(response, reference, n)));
    }
    Column::new("responses", name, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{figures, graded, provenance, sets};
    use crate::run::{RankedStatement, Response, Submission, SubmittedTurn};
    use crate::{Ikat, IkatSplit};

    /// A run that names statement 1 and the passage cited first for every other turn.
    fn sample() -> (EvaluatedRun, IkatLabels) {
        let ikat = Ikat::open(crate::SAMPLE, None).unwrap();
        let split = IkatSplit::TEST_2023;
        let cited = |turn: &crate::IkatTurn| {
            turn.citations.iter().flatten().next().cloned().unwrap_or_default()
        };
        let turns = ikat.topics(split).unwrap().turns().step_by(2).map(|(_, turn)| {
            let statement = RankedStatement { id: "1".to_owned(), ..Default::default() };
            let passage =
                crate::run::RankedPassage { id: cited(turn), score: 1.0, ..Default::default() };
            let response = Response {
                text: turn.response.clone(),
                statements: vec![statement],
                passages: vec![passage],
                ..Default::default()
            };
            SubmittedTurn {
                id: turn.id.as_str().to_owned(),
                responses: vec![response],
                ..Default::default()
            }
        });
        let submission = Submission {
            run_name: "r".to_owned(),
            run_type: "automatic".to_owned(),
            turns: turns.collect(),
            ..Submission::default()
        };
        let labels = IkatLabels::read(&ikat, split).unwrap();
        (EvaluatedRun::of_submission(&ikat, split, &submission), labels)
    }

    #[test]
    fn the_means_of_the_columns_are_the_figures_of_eval() {
        let (evaluated, labels) = sample();
        let mut known = figures(&evaluated, &labels).unwrap();
        known.extend(provenance(&evaluated, &labels).unwrap());
        known.extend(sets(&evaluated, &labels));
        known.extend(graded(&evaluated, &labels).unwrap());
        for part in RunPart::ALL {
            let columns = columns(&evaluated, &labels, Some(part), &[]).unwrap();
            // The rankings of statements are not part of a submission.
            assert_eq!(columns.is_empty(), part == RunPart::Statements);
            for column in columns {
                let name = match part {
                    RunPart::Passages if column.part == CITED => {
                        format!("passages {}", column.measure)
                    }
                    RunPart::Responses => format!("response {}", column.measure),
                    RunPart::Sets => format!("{} macro {}", column.part, column.measure),
                    RunPart::Statements | RunPart::Provenance | RunPart::Passages => column.name(),
                };
                let (_, expected) = known.iter().find(|(known, _)| *known == name).expect(&name);
                assert!(column.mean() == *expected && *expected > 0.0, "{name}");
            }
        }
    }

    #[test]
    fn measures_by_name_apply_to_rankings_only() {
        let (evaluated, labels) = sample();
        let measures = parse(&["P@1"]).unwrap();
        let names = |only| {
            let columns = columns(&evaluated, &labels, only, &measures).unwrap();
            columns.iter().map(Column::name).collect::<Vec<_>>()
        };
        let of_statements = ["ptkb_provenance (organisers) P@1", "ptkb_provenance (NIST) P@1"];
        assert_eq!(names(Some(RunPart::Provenance)), of_statements);
        assert_eq!(names(None)[..2], of_statements);
        assert!(names(None)[2..].iter().all(|name| name.starts_with("passages (")));
    }
}
