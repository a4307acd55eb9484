//! The table of iKAT's scores: a row for each part of a run and the labels that it is scored by.

use super::evaluate::{EvaluatedRun, IkatLabels};
use clariq_core::{Error, RequestId};
use clariq_eval::{
    Aggregate, Measure, RankedRun, Score, SetAverage, Unjudged, evaluate, micro_average,
    parse_measures, rouge_f1, set_values,
};
use clariq_files::{Qrels, Run};
use std::collections::HashSet;

/// The part of runs that is scored.
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
}

/// Labels of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Labels {
    /// The organisers' labels of statements. They only label turns with a relevant statement, so that in
    /// a turn without labels, every statement is wrong.
    Organisers,
    /// The same, over the turns whose passages people judged.
    OrganisersJudged,
    /// NIST's labels of statements. Turns without labels are left out.
    Nist,
    /// The citations of the organisers' responses.
    Cited,
    /// Graded passages, by each of their assessors. Only pooled passages were judged, so the scores are
    /// reliable only if the share of judged passages is high.
    Graded,
    /// Responses that people wrote.
    Answers,
}

struct ScoreRow {
    part: RunPart,
    by: Labels,
    /// The part and its labels in comparisons; those of graded passages name themselves.
    name: &'static str,
    /// The same in configurations and in the scores of a whole submission.
    known_as: &'static str,
    measures: &'static [&'static str],
    /// The rows by which whole submissions are compared.
    few: &'static [&'static str],
}

const OF_STATEMENTS: &[&str] = &["nDCG@3", "P@3", "R@3", "AP", "RR"];
const OF_SETS: &[&str] = &["P", "R", "F1"];

/// nDCG counts all grades, the others those from 2, as the track's published scores do.
const BY_GRADE: &[&str] =
    &["nDCG@3", "nDCG@5", "nDCG@10", "RR(rel=2)", "R(rel=2)@10", "R(rel=2)@100", "Judged@10"];

const fn statements(part: RunPart, by: Labels, name: &'static str) -> ScoreRow {
    ScoreRow { part, by, name, known_as: name, measures: OF_STATEMENTS, few: &["nDCG@3"] }
}

const fn sets(by: Labels, name: &'static str, few: &'static [&'static str]) -> ScoreRow {
    ScoreRow { part: RunPart::Sets, by, name, known_as: name, measures: OF_SETS, few }
}

const ROWS: [ScoreRow; 10] = [
    statements(RunPart::Statements, Labels::Organisers, "statements (organisers)"),
    statements(RunPart::Statements, Labels::Nist, "statements (NIST)"),
    statements(RunPart::Provenance, Labels::Organisers, "ptkb_provenance (organisers)"),
    statements(RunPart::Provenance, Labels::Nist, "ptkb_provenance (NIST)"),
    sets(Labels::Organisers, "sets (organisers)", &["F1"]),
    sets(Labels::OrganisersJudged, "sets (organisers, judged turns)", &[]),
    sets(Labels::Nist, "sets (NIST)", &["F1"]),
    ScoreRow {
        part: RunPart::Passages,
        by: Labels::Cited,
        name: "passages (cited)",
        known_as: "passages",
        measures: &["nDCG@3", "nDCG@5", "RR", "R@10", "R@100"],
        few: &["nDCG@3", "R@10"],
    },
    ScoreRow {
        part: RunPart::Passages,
        by: Labels::Graded,
        name: "",
        known_as: "",
        measures: BY_GRADE,
        few: &["nDCG@3", "nDCG@5", "Judged@10"],
    },
    ScoreRow {
        part: RunPart::Responses,
        by: Labels::Answers,
        name: "responses",
        known_as: "response",
        measures: &["ROUGE-1", "ROUGE-2"],
        few: &["ROUGE-1"],
    },
];

/// The names of the scores that configurations may expect.
pub fn names() -> impl Iterator<Item = String> {
    let expected =
        ROWS.iter().filter(|row| row.part != RunPart::Provenance && row.by != Labels::Graded);
    expected.flat_map(|row| {
        let measures: &[&str] =
            if row.part == RunPart::Sets { &["micro F1", "macro F1"] } else { row.measures };
        measures.iter().map(move |measure| format!("{} {measure}", row.known_as))
    })
}

/// The scores of a run for every turn that the labels judge: of one part, or of all.
///
/// If `measures` are named, rankings are scored by them, and sets and responses are left out unless
/// they are the only part. Sets and responses have measures of their own. P, R and F1 of sets are over
/// the turns with a relevant statement: their means are macro averages.
pub fn scores(
    evaluated: &EvaluatedRun,
    labels: &IkatLabels,
    only: Option<RunPart>,
    measures: &[Measure],
) -> Result<Vec<Score>, Error> {
    let is_wanted = |row: &&ScoreRow| {
        only.map_or(measures.is_empty() || row.part.is_ranking(), |only| only == row.part)
    };
    let is_whole = only.is_none() && measures.is_empty();
    let mut all = Vec::new();
    for row in ROWS.iter().filter(is_wanted) {
        let mut of_row = row.scores(evaluated, labels, measures)?;
        if is_whole {
            for score in &mut of_row {
                score.is_compared &= row.few.contains(&&*score.measure);
                if row.known_as != row.name {
                    score.known_as = Some(format!("{} {}", row.known_as, score.measure));
                }
            }
        }
        all.extend(of_row);
    }
    Ok(all)
}

impl ScoreRow {
    fn scores(
        &self,
        evaluated: &EvaluatedRun,
        labels: &IkatLabels,
        measures: &[Measure],
    ) -> Result<Vec<Score>, Error> {
        if self.part == RunPart::Responses {
            return Ok(self.of_responses(evaluated, labels));
        }
        let usual;
        let by = if measures.is_empty() && self.part.is_ranking() {
            usual = parse_measures(&self.measures.join(" "))?;
            &usual
        } else {
            measures
        };
        let mut scores = Vec::new();
        for (name, qrels) in self.labels(labels) {
            match self.part {
                RunPart::Sets => scores.extend(self.of_sets(evaluated, labels, qrels)),
                RunPart::Passages => {
                    scores.extend(ranked(&evaluated.passages, qrels, by, name)?);
                }
                RunPart::Provenance => {
                    let Some(lists) = &evaluated.provenance else { continue };
                    // The lists are as long as their turns need, and not cut.
                    let lists = ranked(lists, qrels, by, name)?.into_iter();
                    scores.extend(lists.map(|list| Score { short_of: None, ..list }));
                }
                RunPart::Statements | RunPart::Responses => {
                    let Some(run) = &evaluated.statements else { continue };
                    scores.extend(ranked(run, qrels, by, name)?);
                }
            }
        }
        Ok(scores)
    }

    /// The labels that a split has, each with its name and that of the part.
    fn labels<'l>(&self, labels: &'l IkatLabels) -> Vec<(&'static str, &'l Qrels)> {
        let qrels = match self.by {
            Labels::Organisers => labels.organisers.as_ref(),
            Labels::OrganisersJudged => {
                labels.organisers.as_ref().filter(|_| labels.graded_by_people().is_some())
            }
            Labels::Nist => labels.nist.as_ref(),
            Labels::Cited => labels.cited.as_ref(),
            Labels::Graded => {
                return labels.graded.iter().map(|(name, qrels)| (*name, qrels)).collect();
            }
            Labels::Answers => None,
        };
        qrels.map(|qrels| (self.name, qrels)).into_iter().collect()
    }

    /// Micro averages of all turns, and the values of each turn with something relevant.
    fn of_sets(&self, evaluated: &EvaluatedRun, labels: &IkatLabels, qrels: &Qrels) -> Vec<Score> {
        let judged: Option<HashSet<&RequestId>> = labels
            .graded_by_people()
            .filter(|_| self.by == Labels::OrganisersJudged)
            .map(|graded| graded.topics().map(|(turn, _)| turn).collect());
        let is_counted = |turn: &RequestId| judged.as_ref().is_none_or(|it| it.contains(turn));
        let unjudged = if self.by == Labels::Nist { Unjudged::LeftOut } else { Unjudged::Wrong };
        let micro = micro_average(&evaluated.chosen, qrels, unjudged, is_counted);
        let mut turns = set_values(&evaluated.chosen, qrels);
        turns.retain(|(turn, _)| is_counted(turn));
        let mut scores = Vec::with_capacity(2 * self.measures.len());
        for name in self.measures {
            let value = Aggregate::Micro(set_measure(name, &micro));
            scores.push(Score::of_all(format!("{} micro", self.name), *name, value));
        }
        for name in self.measures {
            let values = turns.iter().map(|(turn, set)| (turn.clone(), set_measure(name, set)));
            let score = Score::new(self.name, *name, values.collect());
            scores.push(Score {
                known_as: Some(format!("{} macro {name}", self.name)),
                is_compared: judged.is_none(),
                ..score
            });
        }
        scores
    }

    /// A turn without a response counts 0.
    fn of_responses(&self, evaluated: &EvaluatedRun, labels: &IkatLabels) -> Vec<Score> {
        let has_responses = evaluated.responses.values().any(|text| !text.is_empty());
        if !has_responses || labels.responses.is_empty() {
            return Vec::new();
        }
        let mut scores = Vec::with_capacity(self.measures.len());
        for (n, name) in (1..).zip(self.measures) {
            let mut values = Vec::with_capacity(labels.responses.len());
            for (turn, reference) in &labels.responses {
                let response = evaluated.responses.get(turn).map_or("", String::as_str);
                values.push((RequestId::from(turn.as_str()), rouge_f1(response, reference, n)));
            }
            scores.push(Score::new(self.name, *name, values));
        }
        scores
    }
}

fn ranked(run: &Run, qrels: &Qrels, measures: &[Measure], part: &str) -> Result<Vec<Score>, Error> {
    let scores = evaluate(measures, &RankedRun::new(run), qrels)?.into_iter();
    Ok(scores.map(|score| Score { part: part.to_owned(), unit: "turn", ..score }).collect())
}

fn set_measure(name: &str, set: &SetAverage) -> f64 {
    match name {
        "P" => set.precision,
        "R" => set.recall,
        _ => set.f1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RankedStatement, Response, Submission, SubmittedTurn};
    use crate::{Ikat, splits};

    /// A run that names statement 1 and the passage cited first for every other turn.
    fn sample() -> (EvaluatedRun, IkatLabels) {
        let ikat = Ikat::open(crate::SAMPLE, None).unwrap();
        let split = splits::TEST_2023;
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
    fn all_parts_are_scored_as_each_alone() {
        let (evaluated, labels) = sample();
        let all = scores(&evaluated, &labels, None, &[]).unwrap();
        let mut alone = Vec::new();
        for part in RunPart::ALL {
            let of_part = scores(&evaluated, &labels, Some(part), &[]).unwrap();
            // The rankings of statements are not part of a submission.
            assert_eq!(of_part.is_empty(), part == RunPart::Statements);
            alone.extend(of_part);
        }
        let values = |scores: &[Score]| -> Vec<(String, f64)> {
            scores.iter().map(|score| (score.name(), score.value())).collect()
        };
        assert_eq!(values(&all), values(&alone));
        assert!(all.iter().all(|score| score.value() > 0.0));
        let compared = all.iter().filter(|score| score.is_compared).map(Score::name);
        let few = "ptkb_provenance (organisers) nDCG@3|ptkb_provenance (NIST) nDCG@3|\
                   sets (organisers) F1|sets (NIST) F1|passages (cited) nDCG@3|\
                   passages (cited) R@10|passages (graded by NIST) nDCG@3|\
                   passages (graded by NIST) nDCG@5|passages (graded by NIST) Judged@10|\
                   responses ROUGE-1";
        assert_eq!(compared.collect::<Vec<_>>().join("|"), few);
        let is_of_sets = |name: &String| name.starts_with("sets (NIST)");
        let of_sets: Vec<String> = all.iter().map(Score::known_as).filter(is_of_sets).collect();
        let averages = ["micro P", "micro R", "micro F1", "macro P", "macro R", "macro F1"];
        assert_eq!(of_sets, averages.map(|average| format!("sets (NIST) {average}")));
    }

    #[test]
    fn measures_by_name_apply_to_rankings_only() {
        let (evaluated, labels) = sample();
        let measures = parse_measures("P@1").unwrap();
        let names = |only| {
            let scores = scores(&evaluated, &labels, only, &measures).unwrap();
            scores.iter().map(Score::name).collect::<Vec<_>>()
        };
        let of_statements = ["ptkb_provenance (organisers) P@1", "ptkb_provenance (NIST) P@1"];
        assert_eq!(names(Some(RunPart::Provenance)), of_statements);
        assert_eq!(names(None)[..2], of_statements);
        assert!(names(None)[2..].iter().all(|name| name.starts_with("passages (")));
    }
}
