//! Submissions: statements, passages and responses for every turn, in the form of each year.
//!
//! 2023 and 2024: one JSON object. 2025: JSON lines, one per turn. The readers of this module refuse
//! the same files as the official programs; [`validate`](crate::validate) lists the warnings of
//! these programs, too.

pub(super) mod lines;
mod object;
mod write;

pub use write::put_submission;
pub(super) use write::{put_end, put_turn};

use super::topics::Year;
use clariq_core::Error;
use clariq_files::{FileContent, MOST_OF_A_RUN, Sink, Source, parse_run, read_strictly};

/// A run of one system over the turns of a year.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Submission {
    /// The year whose form it has.
    pub year: Year,
    /// The name of the run; 2025 calls it `run_id`.
    pub run_name: String,
    /// The class of the system in the year's terms, see
    /// [`run_type`](super::run_type).
    pub run_type: String,
    /// The team; only in 2025.
    pub team: String,
    /// True if the responses are to be judged; only in 2024.
    pub eval_response: bool,
    /// The turns, in file order.
    pub turns: Vec<SubmittedTurn>,
}

impl Submission {
    /// True if no ranking has passages of different scores, although some have several.
    pub(crate) fn has_one_score(&self) -> bool {
        let responses = self.turns.iter().flat_map(|turn| &turn.responses);
        let rankings = responses.map(|response| &response.passages);
        let mut several = rankings
            .chain(self.turns.iter().map(|turn| &turn.references))
            .filter(|passages| passages.len() > 1)
            .peekable();
        let is_flat = |passages: &Vec<RankedPassage>| {
            let scores = passages.iter().map(|passage| passage.score);
            scores.clone().zip(scores.skip(1)).all(|(one, next)| one == next)
        };
        several.peek().is_some() && several.all(is_flat)
    }
}

/// A turn of a submission.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SubmittedTurn {
    /// The turn, `9-1_3`.
    pub id: String,
    /// The responses, best first.
    pub responses: Vec<Response>,
    /// The ranked passages; only in 2025. The other years have them in each response.
    pub references: Vec<RankedPassage>,
    /// The line, if it was read from JSON lines.
    pub line: Option<u64>,
}

/// A response with its provenance.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Response {
    /// From 1.
    pub rank: i32,
    /// The text that the user reads.
    pub text: String,
    /// The ranked passages; in 2025 the cited ones.
    pub passages: Vec<RankedPassage>,
    pub statements: Vec<RankedStatement>,
}

/// A passage of a response or, in 2025, of a turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankedPassage {
    /// Its id, `clueweb22-en0004-50-00170:0`.
    pub id: String,
    /// Its text, which is optional.
    pub text: String,
    /// Higher is better. 2023 and 2024 are read in single precision, as the official parser does.
    pub score: f64,
    /// True if the response was written from the passage.
    pub used: bool,
}

/// A statement of a response.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankedStatement {
    /// Its number as text; empty in 2025, which names statements by their text.
    pub id: String,
    /// Its text; empty in 2024, which names statements by their number.
    pub text: String,
    /// Higher is better; only in 2023.
    pub score: f64,
}

impl SubmittedTurn {
    /// The response with the lowest rank from 1, which is the one that is judged; of equal ranks
    /// the first.
    pub fn best_response(&self) -> Option<&Response> {
        let rank = |response: &&Response| if response.rank > 0 { response.rank } else { i32::MAX };
        self.responses.iter().min_by_key(rank)
    }
}

impl Submission {
    /// Reads a run in the form of `year`; the first problem is the error.
    ///
    /// Without a year, the form is recognised: 2025 is JSON lines, 2023 has statements as objects, 2024
    /// as numbers. A run of 2023 or 2024 without any statement has both forms, and counts as one of
    /// 2024.
    pub fn read(source: &Source, year: Option<Year>) -> Result<Self, Error> {
        read_strictly(source, MOST_OF_A_RUN, |input, sink| Self::parse(input, year, sink))
    }

    /// Reads the valid turns of a run. Every problem goes to `sink`, and its turn is left out.
    pub fn parse(input: &FileContent, year: Option<Year>, sink: Sink) -> Self {
        let is_lines = match year {
            Some(year) => year.has_line_runs(),
            None => lines::is_json_lines(input),
        };
        if is_lines { lines::read(input, sink) } else { object::read(input, year, sink) }
    }
}

/// The hint about a file without the form of a submission: that of the form, or that it is a TREC run.
fn hint_of(input: &FileContent, form: &'static str) -> &'static str {
    if parse_run(input, &mut |_| {}).lines.is_empty() {
        form
    } else {
        "this looks like a TREC run, and a submission is in JSON: is the run for another split or collection?"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_response_has_the_lowest_rank() {
        let best = |ranks: &[i32]| {
            let response = |(place, rank): (usize, &i32)| Response {
                rank: *rank,
                text: place.to_string(),
                ..Response::default()
            };
            let responses = ranks.iter().enumerate().map(response).collect();
            let turn = SubmittedTurn { responses, ..SubmittedTurn::default() };
            turn.best_response().map(|best| best.text.clone())
        };
        assert_eq!(best(&[]), None);
        assert_eq!(best(&[2, 1, 3]).as_deref(), Some("1"));
        assert_eq!(best(&[0, 4, 4]).as_deref(), Some("1"));
        assert_eq!(best(&[0, 0]).as_deref(), Some("0"));
    }
}
