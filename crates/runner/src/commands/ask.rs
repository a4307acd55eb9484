//! `clariq ask`: what to ask back. A conversation at the terminal, through a pipe, or in JSON
//! lines.

mod asker;
mod protocol;

use crate::arguments::IndexPlace;
use crate::failure::{Failure, Outcome};
use crate::learned;
use crate::settings::Settings;
use asker::{Asker, Move};
use clap::Args;
use clariq_collections::Around;
use clariq_collections::clariq::conversation::{MOST_TURNS, Reading, read_records};
use clariq_core::{Location, Problem, ProblemKind, Request, Utterance, printable};
use clariq_experiment::{Loaded, Registry};
use clariq_files::{BoundedLines, MOST_OF_A_LINE, Source};
use serde_json::Value;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct AskArgs {
    /// What the user asks; replies are read from standard input, a line each
    #[arg(value_name = "REQUEST", required_unless_present_any = ["json", "conversations"])]
    request: Option<String>,
    /// System: a configuration file, or the name of a built-in one
    /// [default: dense-conversation, or bm25-conversation in a build without learned stages]
    #[arg(long, value_name = "NAME")]
    system: Option<String>,
    /// Most questions to ask
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_turns: usize,
    /// Show why: the candidates, and what each stage made of the question
    #[arg(long)]
    explain: bool,
    /// JSON lines: a request or an answer in, what to ask or that nothing is to be asked out; see
    /// data/README.md
    #[arg(long)]
    json: bool,
    /// Say what would be asked next in every conversation of a file
    #[arg(long, value_name = "FILE", conflicts_with = "request")]
    conversations: Option<PathBuf>,
    #[command(flatten)]
    place: IndexPlace,
}

impl AskArgs {
    /// Whether the system asks for a learned model; the usual one does where there are any.
    pub(crate) fn needs_models(&self) -> bool {
        match &self.system {
            Some(system) => learned::is_needed_by(system, &[]),
            None => learned::program().is_some(),
        }
    }
}

/// The system that asks if none is named.
fn usual(settings: &Settings) -> &'static str {
    if settings.engine.is_some() { "dense-conversation" } else { "bm25-conversation" }
}

pub(crate) fn ask(settings: &Settings, arguments: &AskArgs) -> Result<Outcome, Failure> {
    if !(1..=MOST_TURNS).contains(&arguments.max_turns) {
        let (expected, found) = (format!("1 to {MOST_TURNS}"), arguments.max_turns.to_string());
        let problem =
            Problem::new(Location::file("--max-turns"), ProblemKind::Argument, expected, found);
        return Err(problem
            .hint("nobody answers more questions than that before an answer")
            .into());
    }
    if arguments.request.as_ref().is_some_and(|request| request.trim().is_empty()) {
        let problem =
            Problem::new(Location::file("REQUEST"), ProblemKind::Argument, "a request", "nothing");
        return Err(problem.hint("for example: clariq ask \"tell me about jaguars\"").into());
    }
    let loaded = Loaded::open(arguments.system.as_deref().unwrap_or_else(|| usual(settings)), &[])?;
    let collection = settings.collection()?;
    let session = settings.session(&*collection, &arguments.place)?;
    let models = Registry::new(&session);
    // A request of one's own is of no split: nothing was judged before it.
    let around = Around::new(&*collection, session.task, collection.splits()[0]);
    let context = session.context().with_models(&models).within(&around);
    let asker = Asker::new(&session, &context, &loaded, arguments.max_turns, arguments.explain)?;
    if let Some(file) = &arguments.conversations {
        return contexts(settings, arguments, &asker, file);
    }
    match &arguments.request {
        Some(request) if !arguments.json => talk(settings, &asker, request)?,
        request => protocol::serve(settings, &asker, request.as_deref())?,
    }
    Ok(Outcome::Done)
}

/// A conversation in plain text: questions go to standard output, everything else to standard
/// error.
fn talk(settings: &Settings, asker: &Asker, request: &str) -> Result<(), Failure> {
    let mut conversation = asker.begin(Request::new("0", request))?;
    if let Some(need) = conversation.need {
        settings.note(&format!("need for clarification: {need} of 4"));
    }
    let prompts = io::stdin().is_terminal() && io::stderr().is_terminal();
    let mut replies = replies();
    loop {
        let next = asker.next(&conversation)?;
        let mut out = io::stdout().lock();
        let Move::Ask { question, .. } = &next else {
            write!(out, "{}", asker.reasons(&next))?;
            settings.note("nothing more to ask");
            return Ok(());
        };
        writeln!(out, "{}", printable(&question.text, usize::MAX))?;
        write!(out, "{}", asker.reasons(&next))?;
        out.flush()?;
        drop(out);
        if prompts {
            eprint!("> ");
        }
        let reply = replies.read_next()?.transpose().map_err(|problem| {
            problem.hint("a reply is one line, in the encoding UTF-8 of the terminal")
        })?;
        let Some(reply) = reply.filter(|reply| !reply.is_empty()) else {
            settings.note("no reply");
            return Ok(());
        };
        let question = Utterance::system(question.text.as_str());
        conversation.said.extend([question, Utterance::user(reply)]);
    }
}

/// The lines of standard input.
fn replies() -> BoundedLines<'static> {
    BoundedLines::new("<stdin>", Box::new(io::stdin().lock()), MOST_OF_A_LINE)
}

/// What would be asked in every context of a file, in its order.
fn contexts(
    settings: &Settings,
    arguments: &AskArgs,
    asker: &Asker,
    file: &Path,
) -> Result<Outcome, Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut failure = None;
    let source = Source::new(file);
    let counts = read_records(&source, &Reading::default(), &mut |record| {
        if record.again {
            return ControlFlow::Continue(());
        }
        let conversation = asker.begin(Request::from(&record.conversation));
        match conversation
            .and_then(|conversation| answer(arguments, asker, &conversation, &mut out))
        {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    out.flush()?;
    settings.detail(&format!("{} records", counts.records));
    failure.map_or(Ok(Outcome::Done), Err)
}

fn answer(
    arguments: &AskArgs,
    asker: &Asker,
    conversation: &Request,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let next = asker.next(conversation)?;
    if arguments.json {
        let mut object = asker.object(conversation, &next);
        // Ids of contexts are whole numbers in every file of conversations.
        object["context_id"] = Value::from(conversation.id.as_str().parse::<i64>().ok());
        return Ok(writeln!(out, "{object}")?);
    }
    let question = printable(next.question().unwrap_or_default(), usize::MAX);
    writeln!(out, "{}\t{question}", conversation.id)?;
    Ok(write!(out, "{}", asker.reasons(&next))?)
}
