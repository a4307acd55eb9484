//! The next move of a conversation as text and as JSON.

use crate::commands::explain::trace_lines;
use crate::commands::rank::response_json;
use clariq_core::{Result, fixed};
use clariq_experiment::ask::{Asker, Move};
use clariq_experiment::{RankedPart, RankedText, RankerOutcome, UserRequest};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The depth of explanations: the parts of the conversation, and their parts.
const LEVELS: usize = 2;

/// The explanation of a move as text; empty without `--explain`.
pub(super) fn reasons(asker: &Asker, conversation: &UserRequest, next: &Move) -> Result<String> {
    let mut text = String::new();
    if !asker.explains {
        return Ok(text);
    }
    let why = match next {
        Move::Answer { outcome, .. } => return sources(asker, conversation, outcome),
        Move::Ask { why, .. } => why,
        Move::Stop { reason, why } => {
            let _ = writeln!(text, "  stops: {reason}");
            why
        }
    };
    for trace in &why.stages {
        let _ = write!(text, "  {}", trace_lines(trace, LEVELS, "    "));
    }
    for RankedText { id, text: question, score } in &why.candidates {
        let _ = writeln!(text, "  {}  {id} {question:?}", fixed(*score, 6));
    }
    Ok(text)
}

/// The best documents for an answer; those that it uses are marked.
fn sources(asker: &Asker, conversation: &UserRequest, outcome: &RankerOutcome) -> Result<String> {
    let mut text = String::new();
    let Some(answer) = &outcome.answer else { return Ok(text) };
    if let Some(reason) = &answer.asks {
        let _ = writeln!(text, "  asks: {reason}");
    }
    for (part, ranking) in asker.sources(conversation, outcome)? {
        let used = match part {
            RankedPart::Statements => answer.chosen.iter().map(|hit| hit.doc).collect(),
            RankedPart::Documents => answer.used(),
        };
        let name = |doc| asker.system.name(conversation, part, doc);
        let used = used.into_iter().map(name).collect::<Result<Vec<String>, _>>()?;
        let _ = writeln!(text, "  {}:", asker.system.task_name(part));
        for RankedText { id, text: document, score } in ranking {
            let mark = if used.contains(&id) { '*' } else { ' ' };
            let _ = writeln!(text, "  {mark} {}  {id} {document:?}", fixed(score, 6));
        }
    }
    Ok(text)
}

pub(super) fn object(asker: &Asker, conversation: &UserRequest, next: &Move) -> Result<Value> {
    let request = &conversation.request;
    let turn = request.turns().count() + 1;
    let mut object = json!({ "turn": turn, "need": request.need });
    let why = match next {
        Move::Answer { outcome, unfit } => {
            let mut object = answer_object(asker, conversation, outcome, turn)?;
            if let Some(reason) = unfit {
                object["unfit"] = reason.as_str().into();
            }
            return Ok(object);
        }
        Move::Ask { question, why } => {
            object["action"] = "ask".into();
            object["question_id"] = json!((!question.id.is_empty()).then_some(&question.id));
            object["question"] = question.text.as_str().into();
            object["score"] = question.score.into();
            why
        }
        Move::Stop { reason, why } => {
            let documents = asker.system.session().documents;
            object["action"] = "stop".into();
            object["question_id"] = documents.empty_question().map(|doc| documents.id(doc)).into();
            object["question"] = "".into();
            object["reason"] = reason.as_str().into();
            why
        }
    };
    if asker.explains {
        let mut candidates = Vec::with_capacity(why.candidates.len());
        for RankedText { id, text, score } in &why.candidates {
            candidates.push(json!({ "question_id": id, "question": text, "score": score }));
        }
        object["candidates"] = candidates.into();
        object["stages"] = json!(why.stages);
    }
    Ok(object)
}

fn answer_object(
    asker: &Asker,
    conversation: &UserRequest,
    outcome: &RankerOutcome,
    turn: usize,
) -> Result<Value> {
    let mut object = json!({ "turn": turn, "action": "answer" });
    if let Some(answer) = &outcome.answer {
        if let Some(reason) = &answer.asks {
            object = json!({
                "turn": turn,
                "need": outcome.need,
                "action": "ask",
                "question_id": null,
                "question": answer.text(),
                "reason": reason,
            });
        }
        object["response"] = response_json(&asker.system, conversation, answer)?;
    }
    if asker.explains {
        for (part, ranking) in asker.sources(conversation, outcome)? {
            object[asker.system.task_name(part)] = json!(ranking);
        }
    }
    Ok(object)
}
