//! The answers of a system on standard output.

use super::table;
use crate::failure::error_object;
use crate::output::{Format, open_delimited, print, print_file};
use clariq_core::{Hit, Problem, Result};
use clariq_experiment::{Answer, RankedPart, RankedText, Ranker, RankerOutcome, UserRequest};
use clariq_files::show_score;
use serde_json::{Value, json};
use std::cell::Cell;

/// A system, and the form of its answers on standard output.
pub(super) struct Printer<'a> {
    pub(super) system: Ranker<'a>,
    pub(super) format: Format,
    /// `--depth` or its default; `None` if --set sets the depth of a stage.
    pub(super) depth: Option<usize>,
    /// True if all candidates of a request are listed: the default depth does not apply to them.
    pub(super) all_candidates: bool,
    /// The reason why requests without candidates would get fewer documents than `--depth`.
    pub(super) cut: Option<Problem>,
    /// The number of requests that were answered, and of those without a rewrite.
    pub(super) answered: Cell<(u64, u64)>,
}

impl Printer<'_> {
    /// Refuses a request that would get fewer documents than `--depth`.
    pub(super) fn check_depth(&self, query: &UserRequest) -> Result<()> {
        match &self.cut {
            Some(problem) if query.request.candidates.is_none() => Err(problem.clone().into()),
            _ => Ok(()),
        }
    }

    pub(super) fn print(&self, query: &UserRequest, ranked: &RankerOutcome) -> Result<()> {
        let (all, missing) = self.answered.get();
        let rewrites = self.system.config.rewrites.as_ref();
        let is_missing = rewrites.is_some_and(|rewrites| !rewrites.has(&query.request));
        self.answered.set((all + 1, missing + u64::from(is_missing)));
        if self.format == Format::Jsonl {
            let object = self.object(query, ranked)?;
            return print(|out| writeln!(out, "{object}")).map(drop);
        }
        // The other formats have a single ranking.
        let id = &query.request.id;
        let tag = self.system.config.full_name();
        let listed = self.list(query, RankedPart::Documents, &ranked.ranking)?;
        if self.format == Format::Table {
            let response = ranked.answer.as_ref().and_then(|answer| answer.responses.first());
            let response = response.map(|response| response.text.as_str());
            return table::print(&query.request.last_said(), &listed, response).map(drop);
        }
        let mut ranking = (1_u64..).zip(listed);
        let printed = print_file(|out| match self.format {
            Format::Trec => ranking.try_for_each(|(rank, RankedText { id: doc, score, .. })| {
                writeln!(out, "{id} Q0 {doc} {rank} {} {tag}", show_score(score))
            }),
            format => {
                let mut records = open_delimited(delimiter(format), out);
                for (rank, RankedText { id: doc, text, score }) in ranking {
                    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    let rank = rank.to_string();
                    let score = score.to_string();
                    records.write_record([id.as_str(), &rank, &doc, &score, &text])?;
                }
                records.flush()
            }
        });
        printed.map(drop)
    }

    fn list(
        &self,
        query: &UserRequest,
        part: RankedPart,
        ranking: &[Hit],
    ) -> Result<Vec<RankedText>> {
        let length = match self.depth {
            Some(_) if self.all_candidates && query.request.candidates.is_some() => ranking.len(),
            Some(depth) => ranking.len().min(depth),
            None => ranking.len(),
        };
        self.system.list(query, part, &ranking[..length])
    }

    /// An answer in JSON: `ranking`, or the ranking of every task and the response.
    fn object(&self, query: &UserRequest, ranked: &RankerOutcome) -> Result<Value> {
        let mut object = json!({ "id": query.request.id });
        let documents = json!(self.list(query, RankedPart::Documents, &ranked.ranking)?);
        let Some(answer) = &ranked.answer else {
            object["need"] = json!(ranked.need);
            object["ranking"] = documents;
            return Ok(object);
        };
        if self.system.config.ranks_statements() {
            let statements = self.list(query, RankedPart::Statements, &answer.statements)?;
            object[self.system.task_name(RankedPart::Statements)] = json!(statements);
        }
        object[self.system.task_name(RankedPart::Documents)] = documents;
        if !answer.responses.is_empty() {
            object["response"] = response_json(&self.system, query, answer)?;
        }
        Ok(object)
    }

    /// In JSON lines, the error replaces the answer; other formats leave it out.
    pub(super) fn print_bad(&self, line: Option<u64>, problem: &Problem) -> Result<()> {
        if self.format != Format::Jsonl {
            return Ok(());
        }
        print(|out| writeln!(out, "{}", error_object(line, problem))).map(drop)
    }
}

/// The first line of a table: csv and tsv have one.
pub(super) fn print_header(format: Format) -> Result<()> {
    if matches!(format, Format::Csv | Format::Tsv) {
        print(|out| {
            let mut records = open_delimited(delimiter(format), out);
            records.write_record(["id", "rank", "document", "score", "text"])?;
            records.flush()
        })?;
    }
    Ok(())
}

fn delimiter(format: Format) -> u8 {
    if format == Format::Csv { b',' } else { b'\t' }
}

/// The best response with the ids of its sources, and the other responses as `others`. A clarifying
/// question has the reason to ask as `asks`.
pub(in crate::commands) fn response_json(
    system: &Ranker,
    query: &UserRequest,
    answer: &Answer,
) -> Result<Value> {
    let name = |part, doc| system.name(query, part, doc);
    let statements = answer.chosen.iter().map(|hit| name(RankedPart::Statements, hit.doc));
    let statements = statements.collect::<Result<Vec<_>, _>>()?;
    let mut responses = Vec::with_capacity(answer.responses.len());
    for response in &answer.responses {
        let passages = response.used.iter().map(|&doc| name(RankedPart::Documents, doc));
        let passages = passages.collect::<Result<Vec<_>, _>>()?;
        responses
            .push(json!({ "text": response.text, "statements": statements, "passages": passages }));
    }
    let others = responses.split_off(1.min(responses.len()));
    let mut best = responses.pop().unwrap_or_default();
    if !others.is_empty() {
        best["others"] = others.into();
    }
    if let Some(reason) = &answer.asks {
        best["asks"] = reason.as_str().into();
    }
    Ok(best)
}
