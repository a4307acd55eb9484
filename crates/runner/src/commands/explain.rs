//! `clariq explain`: the derivation of a document's score.

use super::run::load_as_run;
use crate::arguments::{IndexPlace, ParameterArguments, RewriteArguments};
use crate::failure::Outcome;
use crate::output::{Cell, Format, Sheet, print as print_text, print_json};
use crate::settings::Settings;
use crate::target::collection_for;
use clap::Args;
use clariq_collections::Split;
use clariq_collections::evaluation::other_spellings;
use clariq_core::{Doc, Hint, Request, Result, SplitRole, bail, count_of, fixed, printable};
use clariq_experiment::run::{check_input, open_split};
use clariq_experiment::{
    Contexts, NeedScope, PipelineTrace, RankedPart, Ranker, Session, Statements, UserRequest,
    open_system,
};
use clariq_rank::StageTrace;
use clariq_systems::SystemConfig;
use serde_json::{Map, json};
use std::ops::ControlFlow;
use std::slice;

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// The request, and the id of the document to explain; with --topic, only the id
    #[arg(value_names = ["REQUEST", "DOCUMENT_ID"], num_args = 1.., required = true)]
    pub(crate) words: Vec<String>,
    /// Id of a request of the split to use instead of a text, such as iKAT's turn 9-1_3
    #[arg(long, value_name = "ID")]
    pub(crate) topic: Option<String>,
    /// Built-in system or configuration file
    #[arg(long, value_name = "CONFIG", default_value = "bm25", aliases = ["config", "model"])]
    pub(crate) system: String,
    /// Split of the request, for stages that use other requests or earlier labels [default: dev, or
    /// the only split]
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    #[command(flatten)]
    rewritten: RewriteArguments,
    #[command(flatten)]
    pub(crate) parameters: ParameterArguments,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

impl ExplainArgs {
    /// The text of a request (unless --topic names one) and the id of a document.
    fn words(&self) -> Result<(Option<&str>, &str)> {
        match (&self.topic, &self.words[..]) {
            (None, [request, document]) => Ok((Some(request), document)),
            (Some(_), [document]) => Ok((None, document)),
            (topic, words) => {
                let expected = match topic {
                    None => "a request and the id of a document, or --topic beside the id",
                    Some(_) => "only the id of a document beside --topic",
                };
                let found = count_of(words.len(), "argument");
                let words = "explain --system bm25 \"how do I pitch a tent\" Q00159";
                let hint = Hint::from(
                    "a text with blanks is one argument in quotes, and --system names a system: ",
                )
                .and(Hint::on_data(words));
                bail!("REQUEST", expected, found, hint)
            }
        }
    }
}

pub(crate) fn explain(settings: &Settings, arguments: &ExplainArgs) -> Result<Outcome> {
    let (text, id) = arguments.words()?;
    let overrides = arguments.parameters.overrides()?;
    let config = load_as_run(settings, &arguments.system, None, &overrides)?;
    let config = config.with_rewrites(arguments.rewritten.read()?.as_ref())?;
    let collection =
        collection_for(settings, slice::from_ref(&config), arguments.split.as_deref())?;
    let session = settings.session(&*collection, Some(&arguments.place))?;
    // A text belongs to no split, so that none need be named for it.
    let (session, split) =
        match collection.find_split_or(arguments.split.as_deref(), SplitRole::Tune) {
            Ok(split) => (session.answering(split), Ok(split)),
            Err(problem) if arguments.split.is_some() => return Err(problem.into()),
            Err(problem) => (session, Err(problem)),
        };
    let contexts = Contexts::new(&session);
    let query = match &arguments.topic {
        Some(topic) => find_topic(&session, &config, split?, topic)?,
        None if config.rewrites.is_some() => {
            let hint = "rewrites are found by the ids of requests";
            bail!("--rewrites", "--topic beside it", "the text of a request", hint)
        }
        None => {
            let text = text.unwrap_or_default();
            if let Ok(split) = split
                && !text.contains(char::is_whitespace)
                && find_topic(&session, &config, split, text).is_ok()
            {
                let found = format!("`{text}`, the id of a request of {split}");
                let words = format!("explain --topic {text} {id} --split {split}");
                let hint = Hint::on_data(words).and(" explains that request");
                bail!("REQUEST", "the text of a request", found, hint)
            }
            Request::new("request", text).into()
        }
    };
    let system = open_system(&contexts, &config, NeedScope::ForStages)?;
    let (part, doc) = find_document(&system, &query, id)?;
    let text = system.documents(part)?.text(doc)?.into_owned();
    let pipelines = system.explain(&query, part, doc)?;
    let request = query.request.said.last().map_or(String::new(), |last| last.text.clone());
    let asks = session.documents.empty_question().is_some();
    let kind = if asks && !config.answers() { "question" } else { "document" };
    print(settings.format, kind, [&request, id, &text], &pipelines, !config.answers())
}

fn find_topic(
    session: &Session,
    config: &SystemConfig,
    split: Split,
    topic: &str,
) -> Result<UserRequest> {
    config.check_tasks(session.collection)?;
    let input = open_split(session, config, split, None)?;
    check_input(config, &*input, session.observer)?;
    let mut found = None;
    let mut first = None;
    let _ = input.read(&mut |query| {
        if !session.collection.is_named(&query.request.id, topic) {
            first.get_or_insert(query.request.id);
            return ControlFlow::Continue(());
        }
        found = Some(query);
        ControlFlow::Break(())
    })?;
    let Some(found) = found else {
        let example = first.map_or(String::new(), |id| format!("ids look like {id}; "));
        let hint = Hint::from(example).and(Hint::on_data("data export")).and(" lists them");
        bail!("--topic", (format!("a request of {}", input.location())), "`{topic}`", hint);
    };
    Ok(found)
}

/// The document of that id, and the part that ranks it. A request with documents of its own has ids as
/// in runs.
fn find_document(system: &Ranker, query: &UserRequest, id: &str) -> Result<(RankedPart, Doc)> {
    for &part in system.parts().iter().rev() {
        // The user's own documents have no statements: these come with the requests.
        let (Ok(task), Ok(documents)) = (system.task(part), system.documents(part)) else {
            continue;
        };
        let own = match (part, &query.statements) {
            (RankedPart::Statements, Statements::Known(own)) => own.as_ref(),
            _ => query.request.candidates.as_ref(),
        };
        let own = own.map(|own| &own[..]);
        let collection = system.session().collection;
        let request = query.request.id.as_str();
        if let Some(doc) = collection.find_ranked(request, task, documents, own, id) {
            return Ok((part, doc));
        }
    }
    let documents = system.documents(RankedPart::Documents)?;
    let example = documents.id(Doc(documents.len() as u32 / 2));
    let said = query.request.last_said();
    let hint = if documents.find(&said).is_some() {
        Hint::from("the request stands first: ")
            .and(Hint::on_data(format!("explain \"{id}\" {said}")))
    } else if let Some(meant) = other_spellings(id).find(|other| documents.find(other).is_some()) {
        Hint::meant(meant)
    } else {
        Hint::from(format!("ids look like {example}; "))
            .and(Hint::on_data("rank --format trec"))
            .and(" prints those of a ranking")
    };
    bail!("DOCUMENT_ID", "the id of a document of the collection", "`{id}`", hint)
}

fn print(
    format: Option<Format>,
    kind: &str,
    [request, id, text]: [&str; 3],
    pipelines: &[PipelineTrace],
    is_of_one_task: bool,
) -> Result<Outcome> {
    if let Some(format) = format.filter(|format| *format != Format::Json) {
        return stages(pipelines).print(Some(format));
    }
    if format == Some(Format::Json) {
        let mut all = json!({ "request": request, "question_id": id, "question": text });
        match pipelines {
            [trace] if is_of_one_task => all["stages"] = json!(trace.stages),
            several => {
                let mut tasks = Map::new();
                for PipelineTrace { task, stages } in several {
                    tasks.insert((*task).to_owned(), json!(stages));
                }
                all["tasks"] = tasks.into();
            }
        }
        return print_json(&all);
    }
    print_text(|out| {
        writeln!(out, "request   {}", printable(request, usize::MAX))?;
        writeln!(out, "{kind}  {} {text:?}", printable(id, usize::MAX))?;
        for PipelineTrace { task, stages } in pipelines {
            for trace in stages {
                let task = if is_of_one_task { String::new() } else { format!("{task}, ") };
                write!(out, "\n{task}{}", trace_lines(trace, usize::MAX, ""))?;
            }
        }
        Ok(())
    })
}

/// The rank of the document after each stage, as a table.
fn stages(pipelines: &[PipelineTrace]) -> Sheet {
    let mut sheet = Sheet::new(&["stage", "rank", "of", "score"]);
    for trace in pipelines.iter().flat_map(|trace| &trace.stages) {
        let rank = trace.rank.map_or(Cell::Nothing, Cell::count);
        let score = trace.score.map_or(Cell::Nothing, |score| Cell::Number(score, 6));
        sheet.row(vec![Cell::text(trace.stage), rank, Cell::count(trace.length), score]);
    }
    sheet
}

/// The rank of the document after a stage, with the given levels of explanation.
pub(super) fn trace_lines(trace: &StageTrace, levels: usize, indent: &str) -> String {
    let StageTrace { stage, length, .. } = trace;
    let mut text = match (trace.rank, trace.score) {
        (Some(rank), Some(score)) => {
            format!("{stage}: rank {rank} of {length}, score {}\n", fixed(score, 6))
        }
        _ => format!("{stage}: not among the {}\n", count_of(*length, "document")),
    };
    let explanation = trace.explanation.as_ref().map(|why| why.cut(levels).to_string());
    for line in explanation.iter().flat_map(|text| text.lines()) {
        text.extend([indent, line, "\n"]);
    }
    text
}
