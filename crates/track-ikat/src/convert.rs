//! Converts runs to TREC runs, byte for byte as the official `generate_run.py` of each year.
//!
//! The fields are separated by tabs: turn, `Q0`, passage, rank, score, name of the run. 2023 and
//! 2024 take each passage where it comes first, multiply its score by 1 / (rank of the response + 1),
//! and number the passages in this order, so that the scores of a second response lie between those of
//! the first. 2025 sorts the references of a turn by score.

use super::run::{Submission, SubmittedTurn};
use clariq_collections::documents::is_id;
use clariq_core::{Error, IoAction, bail};
use clariq_files::{Source, Target, python_float, shorten};
use std::collections::HashSet;
use std::io::Write;

/// Writes the passages of a run of any year as a TREC run, atomically if the target is a file.
pub fn convert_to_trec(run: &Source, target: &Target) -> Result<(), Error> {
    let mut lines = Vec::new();
    put_trec(&mut lines, &Submission::read(run, None)?, &run.name())?;
    target.write(|out| out.write_all(&lines))
}

/// Writes the passages of a run as a TREC run; `file` is its name for messages.
pub fn put_trec(out: &mut dyn Write, submission: &Submission, file: &str) -> Result<(), Error> {
    let cannot_write = Error::io(IoAction::Write, "<trec run>");
    let mut turns = HashSet::new();
    for turn in &submission.turns {
        if !turns.insert(&*turn.id) {
            let hint =
                "trec_eval stops at a passage that is given twice: leave one of the turns out";
            bail!(file, "every turn once", (format!("`{}` again", turn.id)), hint);
        }
        let passages = if submission.year.has_line_runs() {
            by_score(turn)
        } else {
            by_appearance(turn, file)?
        };
        let id = &turn.id;
        let name = &submission.run_name;
        for (rank, (passage, score)) in (1..).zip(passages) {
            if !is_id(passage) {
                let found = format!("`{}` in turn {id}", shorten(passage));
                let hint =
                    "fields of a TREC run are separated by blanks: it could not be read again";
                bail!(file, "an id of a passage without blanks", found, hint);
            }
            writeln!(out, "{id}\tQ0\t{passage}\t{rank}\t{score}\t{name}").map_err(&cannot_write)?;
        }
    }
    Ok(())
}

fn by_appearance<'a>(turn: &'a SubmittedTurn, name: &str) -> Result<Vec<(&'a str, String)>, Error> {
    let mut seen = HashSet::new();
    let mut passages = Vec::new();
    for response in &turn.responses {
        if response.rank == -1 && !response.passages.is_empty() {
            let expected = "a rank from 1: scores are divided by the rank plus 1";
            let hint = "number the responses of a turn from 1";
            bail!(name, expected, (format!("the rank -1 in turn {}", turn.id)), hint);
        }
        let weight = 1.0 / (f64::from(response.rank) + 1.0);
        for passage in &response.passages {
            if seen.insert(passage.id.as_str()) {
                let score = f64::from((weight * passage.score) as f32);
                passages.push((passage.id.as_str(), python_float(score)));
            }
        }
    }
    Ok(passages)
}

/// The passages by descending score; among equal scores, the first in the file stays first.
fn by_score(turn: &SubmittedTurn) -> Vec<(&str, String)> {
    let mut references: Vec<_> = turn.references.iter().collect();
    references.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(std::cmp::Ordering::Equal));
    references
        .iter()
        .map(|reference| (reference.id.as_str(), format!("{:.6}", reference.score)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Year;
    use crate::run::{RankedPassage, Response};

    fn passage(id: &str, score: f64) -> RankedPassage {
        RankedPassage { id: id.to_owned(), score, ..Default::default() }
    }

    fn converted(year: Year, turn: SubmittedTurn) -> Result<String, Error> {
        let run_name = "r".to_owned();
        let submission = Submission { year, run_name, turns: vec![turn], ..Submission::default() };
        let mut out = Vec::new();
        put_trec(&mut out, &submission, "r.json")?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_passage_is_taken_once_and_ranks_follow_the_file() {
        let response = |rank, passages| Response { rank, passages, ..Default::default() };
        let turn = |rank| SubmittedTurn {
            id: "0_1".to_owned(),
            responses: vec![
                response(1, vec![passage("a", 1.0), passage("b", 0.5)]),
                response(rank, vec![passage("b", 9.0), passage("c", 3.0)]),
            ],
            ..Default::default()
        };
        assert_eq!(
            converted(Year::Y2024, turn(2)).unwrap(),
            "0_1\tQ0\ta\t1\t0.5\tr\n0_1\tQ0\tb\t2\t0.25\tr\n0_1\tQ0\tc\t3\t1.0\tr\n"
        );
        assert!(converted(Year::Y2024, turn(-1)).is_err());
    }

    #[test]
    fn what_could_not_be_read_again_is_refused() {
        let response =
            Response { rank: 1, passages: vec![passage("a b", 1.0)], ..Default::default() };
        let turn = SubmittedTurn { responses: vec![response], ..Default::default() };
        assert!(converted(Year::Y2024, turn).unwrap_err().to_string().contains("found `a b`"));
        let turn = SubmittedTurn { id: "0_1".to_owned(), ..Default::default() };
        let turns = vec![turn.clone(), turn];
        let submission = Submission { year: Year::Y2024, turns, ..Submission::default() };
        let refused = put_trec(&mut Vec::new(), &submission, "r.json").unwrap_err().to_string();
        assert!(refused.contains("found `0_1` again"), "{refused}");
    }

    #[test]
    fn references_are_sorted_and_keep_the_order_of_equal_scores() {
        let references = [("a", 0.1), ("b", 2.0), ("c", 0.1), ("d", 0.000_000_5)];
        let references = references.map(|(id, score)| passage(id, score)).to_vec();
        let turn = SubmittedTurn { id: "1-1_1".to_owned(), references, ..Default::default() };
        let text = converted(Year::Y2025, turn).unwrap();
        let fields: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        let column = |index: usize| fields.iter().map(|line| line[index]).collect::<Vec<_>>();
        assert_eq!(column(2), ["b", "a", "c", "d"]);
        assert_eq!(column(4), ["2.000000", "0.100000", "0.100000", "0.000000"]);
    }
}
