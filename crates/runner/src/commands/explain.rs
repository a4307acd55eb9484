//! `clariq explain`: where does the score of a question come from?

use crate::cli::{ExplainArgs, Format};
use crate::commands::Outcome;
use crate::commands::run::need_model;
use crate::configs;
use crate::failure::Failure;
use crate::settings::Settings;
use clariq_collections::clariq::Topic;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_rank::StageTrace;
use serde_json::{Value, json};
use std::io::{self, Write};

pub(crate) fn explain(settings: &Settings, arguments: &ExplainArgs) -> Result<Outcome, Failure> {
    let loaded = configs::load(&arguments.system, &configs::overrides(&arguments.parameters)?)?;
    let collection = settings.collection()?;
    let Some(question) = collection.bank.find(&arguments.question) else {
        let at = Location::file("QUESTION_ID");
        let found = format!("`{}`", arguments.question);
        let problem = Problem::new(
            at,
            ProblemKind::UnknownQuestion,
            "a question id of question_bank.tsv",
            found,
        );
        return Err(problem
            .hint("ids look like Q00697; `clariq run … -o -` shows those of a ranking")
            .into());
    };
    let models = crate::models::of(settings, &collection);
    let context = settings
        .context(&collection.bank, &arguments.place)
        .with_models(models.as_ref())
        .within(&collection, arguments.split);
    let request = arguments.request.clone();
    let topic = Topic { id: "request".into(), request, description: String::new(), need: None };
    let system = &loaded.system;
    let looked_at = system.pipeline.looks_at_need();
    let model = if looked_at { need_model(&collection, &context, system)? } else { None };
    let need = model.map(|model| model.predict(std::slice::from_ref(&topic))).transpose()?;
    let need = need.and_then(|predictions| Some(predictions.first()?.need));
    let traces = system.pipeline.explain(&context, &topic, need, question)?;
    let mut out = io::stdout().lock();
    if settings.format == Some(Format::Json) {
        let stages: Vec<Value> = traces.iter().map(trace_json).collect();
        let text = collection.bank.text(question);
        let all = json!({
            "request": arguments.request, "question_id": arguments.question, "question": text, "stages": stages,
        });
        serde_json::to_writer_pretty(&mut out, &all).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(Outcome::Done);
    }
    writeln!(out, "request   {}", arguments.request)?;
    writeln!(out, "question  {} {:?}", arguments.question, collection.bank.text(question))?;
    for trace in &traces {
        write!(out, "\n{}: {}", trace.stage, place(trace))?;
        match &trace.explanation {
            Some(explanation) => write!(out, "\n{explanation}")?,
            None => writeln!(out)?,
        }
    }
    Ok(Outcome::Done)
}

/// Where the question is after a stage.
pub(super) fn place(trace: &StageTrace) -> String {
    match (trace.rank, trace.score) {
        (Some(rank), Some(score)) => format!("rank {rank} of {}, score {score:.6}", trace.length),
        _ => format!("not among the {} questions", trace.length),
    }
}

/// The same for a program, with where the score comes from.
pub(super) fn trace_json(trace: &StageTrace) -> Value {
    json!({
        "stage": trace.stage,
        "rank": trace.rank,
        "score": trace.score,
        "length": trace.length,
        "explanation": trace.explanation,
    })
}
