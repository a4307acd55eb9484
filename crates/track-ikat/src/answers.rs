//! Writes submissions in the form of each year.

use super::class::run_type;
use super::run::{
    RankedPassage, RankedStatement, Response, Submission, SubmittedTurn, put_end, put_turn,
};
use super::topics::Year;
use clariq_collections::{SubmissionForm, SubmittedAnswer, Submitter, WrittenResponse};
use clariq_core::{Documents, Hit};
use std::io::{self, Write};
use std::slice;

/// The `team_id` of 2025 if no team is named.
const TEAM: &str = "clariq";

/// The number of a statement by the id of its document.
pub fn statement_number(id: &str) -> &str {
    id.rsplit_once('/').map_or(id, |(_, number)| number)
}

/// The form of a year's submissions, with the documents that answers name.
pub(super) struct IkatSubmissionForm<'a> {
    pub(super) year: Year,
    pub(super) submitter: Submitter,
    pub(super) statements: &'a dyn Documents,
    pub(super) passages: &'a dyn Documents,
}

impl SubmissionForm for IkatSubmissionForm<'_> {
    fn ending(&self) -> &'static str {
        if self.year.has_line_runs() { ".jsonl" } else { ".json" }
    }

    fn names_team(&self) -> bool {
        self.year.has_line_runs()
    }

    fn put(&self, out: &mut dyn Write, answer: &SubmittedAnswer) -> io::Result<()> {
        let head = Submission {
            year: self.year,
            run_name: answer.run.to_owned(),
            run_type: run_type(self.submitter.class, self.year).to_owned(),
            team: self.submitter.team.as_deref().unwrap_or(TEAM).to_owned(),
            eval_response: self.year == Year::Y2024 && self.submitter.responds,
            turns: Vec::new(),
        };
        put_turn(out, &head, answer.index, &self.turn(answer)?)
    }

    fn put_end(&self, out: &mut dyn Write) -> io::Result<()> {
        put_end(out, self.year)
    }
}

impl IkatSubmissionForm<'_> {
    fn turn(&self, answer: &SubmittedAnswer) -> io::Result<SubmittedTurn> {
        // Rankings are parts of a response, so a system that only ranks writes an empty response.
        let empty = WrittenResponse::default();
        let texts = match answer.responses {
            [] => slice::from_ref(&empty),
            responses => responses,
        };
        let mut responses = Vec::with_capacity(texts.len());
        for (rank, text) in (1..).zip(texts) {
            let statements = answer.statements.iter().map(|hit| self.statement(hit));
            responses.push(Response {
                rank,
                text: text.text.clone(),
                passages: answer.passages.iter().map(|hit| self.passage(hit, text)).collect(),
                statements: statements.collect::<io::Result<_>>()?,
            });
        }
        let mut references = Vec::new();
        if self.year.has_line_runs() {
            references = responses.first().map_or_else(Vec::new, |best| best.passages.clone());
        }
        let id = answer.request.as_str().to_owned();
        Ok(SubmittedTurn { id, responses, references, ..Default::default() })
    }

    fn passage(&self, hit: &Hit, response: &WrittenResponse) -> RankedPassage {
        RankedPassage {
            id: self.passages.id(hit.doc).into_owned(),
            score: written_score(hit.score),
            used: response.used.contains(&hit.doc),
            ..Default::default()
        }
    }

    fn statement(&self, hit: &Hit) -> io::Result<RankedStatement> {
        Ok(RankedStatement {
            id: statement_number(&self.statements.id(hit.doc)).to_owned(),
            text: self.statements.text(hit.doc).map_err(io::Error::other)?.into_owned(),
            score: written_score(hit.score),
        })
    }
}

/// A score in single precision, as the track's parser reads it, by its shortest decimal.
fn written_score(score: f64) -> f64 {
    let single = score as f32 + 0.0;
    single.to_string().parse().unwrap_or_else(|_| single.into())
}
