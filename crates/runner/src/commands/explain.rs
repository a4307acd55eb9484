//! `clariq explain`: where the score of a question comes from.

use crate::arguments::{IndexPlace, Parameters};
use crate::failure::{Failure, Outcome};
use crate::learned;
use crate::output::{Cell, Format, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::Around;
use clariq_core::{
    Doc, Documents, Location, Problem, ProblemKind, Ranking, Request, fixed, printable,
};
use clariq_experiment::needs::need_model;
use clariq_experiment::{Loaded, Registry};
use clariq_rank::{Batch, StageTrace};
use serde_json::{Value, json};
use std::io::{self, Write};

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// What the user asked
    pub(crate) request: String,
    /// The question whose score is explained
    #[arg(value_name = "QUESTION_ID")]
    pub(crate) question: String,
    /// System: a configuration file, or the name of a built-in one
    #[arg(long, value_name = "CONFIG", default_value = "bm25")]
    pub(crate) system: String,
    /// Split that the request is taken to be of: stages that look at other requests or at earlier
    /// labels need one
    /// [default: dev, or the only split of the collection]
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

impl ExplainArgs {
    /// Whether the system asks for a learned model.
    pub(crate) fn needs_models(&self) -> bool {
        let overrides = self.parameters.overrides().unwrap_or_default();
        learned::is_needed_by(&self.system, &overrides)
    }
}

pub(crate) fn explain(settings: &Settings, arguments: &ExplainArgs) -> Result<Outcome, Failure> {
    let loaded = Loaded::open(&arguments.system, &arguments.parameters.overrides()?)?;
    let collection = settings.collection()?;
    let split = collection.find_split_or_usual(arguments.split.as_deref())?;
    let session = settings.session(&*collection, &arguments.place)?.answering(split);
    let documents = session.documents;
    let Some(question) = documents.find(&arguments.question) else {
        return Err(unknown_question(documents, &arguments.question).into());
    };
    let models = Registry::new(&session);
    let around = Around::new(&*collection, session.task, split);
    let context = session.context().with_models(&models).within(&around);
    let mut request = Request::new("request", arguments.request.as_str());
    let system = &loaded.system;
    let looked_at = system.pipeline.sees_need();
    let model = if looked_at { need_model(&session, &context, system)? } else { None };
    let need = model.map(|model| model.predict(&[&arguments.request])).transpose()?;
    request.need = need.and_then(|predictions| Some(predictions.first()?.need));
    let one = Batch::new(&context, std::slice::from_ref(&request));
    let traces = system.pipeline.explain(&one, question, &Ranking::new())?;
    if let Some(format) = settings.format.filter(|format| *format != Format::Json) {
        return Ok(stages(&traces).print(Some(format)).map(|()| Outcome::Done)?);
    }
    let text = documents.text(question)?;
    let mut out = io::stdout().lock();
    if settings.format == Some(Format::Json) {
        let stages: Vec<Value> = traces.iter().map(trace_json).collect();
        let all = json!({
            "request": arguments.request, "question_id": arguments.question, "question": text, "stages": stages,
        });
        serde_json::to_writer_pretty(&mut out, &all).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(Outcome::Done);
    }
    writeln!(out, "request   {}", printable(&arguments.request, usize::MAX))?;
    writeln!(out, "question  {} {text:?}", printable(&arguments.question, usize::MAX))?;
    for trace in &traces {
        write!(out, "\n{}: {}", trace.stage, place(trace))?;
        writeln!(out)?;
        let explanation = trace.explanation.as_ref().map(ToString::to_string);
        for line in explanation.iter().flat_map(|text| text.lines()) {
            writeln!(out, "{}", printable(line, usize::MAX))?;
        }
    }
    Ok(Outcome::Done)
}

/// Where the question is after each stage, as a table.
fn stages(traces: &[StageTrace]) -> Sheet {
    let mut sheet = Sheet::new(&["stage", "rank", "of", "score"]);
    for trace in traces {
        let rank = trace.rank.map_or(Cell::Nothing, Cell::count);
        let score = trace.score.map_or(Cell::Nothing, |score| Cell::Figure(score, 6));
        sheet.row(vec![Cell::text(trace.stage), rank, Cell::count(trace.length), score]);
    }
    sheet
}

fn unknown_question(documents: &dyn Documents, id: &str) -> Problem {
    let example = documents.id(Doc(documents.len() as u32 / 2));
    let expected = "the id of a document of the collection";
    let at = Location::file("QUESTION_ID");
    Problem::new(at, ProblemKind::UnknownQuestion, expected, format!("`{id}`"))
        .hint(format!("ids look like {example}; `clariq run … -o -` shows those of a ranking"))
}

/// Where the question is after a stage.
pub(super) fn place(trace: &StageTrace) -> String {
    match (trace.rank, trace.score) {
        (Some(rank), Some(score)) => {
            format!("rank {rank} of {}, score {}", trace.length, fixed(score, 6))
        }
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
