//! `clariq ask`: a conversation with a system that asks questions or answers, at the terminal,
//! through a pipe, or in JSON lines.

mod moves;
mod protocol;

use super::calls::AnswerArgs;
use crate::arguments::{IndexPlace, ParameterArguments};
use crate::failure::Outcome;
use crate::learned;
use crate::messages::say_all;
use crate::output::print;
use crate::settings::Settings;
use crate::target::collection_for;
use clap::Args;
use clariq_core::{Request, Result, Utterance, bail, printable};
use clariq_experiment::ask::{Asker, Move};
use clariq_experiment::{Contexts, Statements, UserRequest};
use clariq_files::{
    BoundedLines, MOST_OF_A_CONFIGURATION, MOST_OF_A_LINE, Source, not_utf8, stdin,
};
use clariq_systems::{built_in, has_answered};
use clariq_tracks::TRACKS;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::slice;

/// The most questions of a conversation; those of ClariQ have up to three.
const MOST_TURNS: usize = 20;

#[derive(Args)]
pub(crate) struct AskArgs {
    /// First utterance of the user. Replies are read from standard input, one per line
    #[arg(value_name = "REQUEST", required_unless_present = "json")]
    request: Option<String>,
    /// Built-in system or configuration file [default: dense-conversation, or bm25-conversation
    /// without learned models; for iKAT, ikat-automatic or ikat-bm25]
    #[arg(long, value_name = "NAME", aliases = ["config", "model"])]
    system: Option<String>,
    /// Maximum number of questions to ask
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_turns: usize,
    /// File of statements about the user, one per line, for a system that ranks statements
    #[arg(long, value_name = "FILE")]
    statements: Option<PathBuf>,
    /// Show the candidates, and the rank of the question after each stage
    #[arg(long)]
    explain: bool,
    /// Read requests and replies as JSON lines, and write questions or answers as JSON lines
    #[arg(long)]
    json: bool,
    /// Use this need model, saved by `clariq need train -o`, instead of the system's own
    #[arg(long, value_name = "FILE")]
    need_model: Option<PathBuf>,
    #[command(flatten)]
    parameters: ParameterArguments,
    #[command(flatten)]
    calls: AnswerArgs,
    #[command(flatten)]
    place: IndexPlace,
}

/// The default system: one with learned models if they are installed.
fn default_system(settings: &Settings) -> &'static str {
    let tasks = TRACKS.kind_of(&settings.data.first).map_or(&[][..], |kind| kind.tasks);
    match (has_answered(tasks), settings.engine.is_some() || learned::program().is_some()) {
        (true, true) => "ikat-automatic",
        (true, false) => "ikat-bm25",
        (false, true) => "dense-conversation",
        (false, false) => "bm25-conversation",
    }
}

pub(crate) fn ask(settings: &Settings, arguments: &AskArgs) -> Result<Outcome> {
    if !(1..=MOST_TURNS).contains(&arguments.max_turns) {
        let found = arguments.max_turns;
        let hint = "no conversation has more questions";
        bail!("--max-turns", "1 to {MOST_TURNS}", "{found}", hint);
    }
    if arguments.request.as_ref().is_some_and(|request| request.trim().is_empty()) {
        let hint = "for example: clariq ask \"tell me about saturn\"";
        bail!("REQUEST", "a request", "nothing", hint);
    }
    let name = arguments.system.as_deref().unwrap_or_else(|| default_system(settings));
    let config = settings.load(name, &arguments.parameters.overrides()?)?;
    let collection = collection_for(settings, slice::from_ref(&config), None)?;
    let mut session = settings.session(&*collection, Some(&arguments.place))?;
    session.options.need_model.clone_from(&arguments.need_model);
    session.registry = arguments.calls.registry()?;
    // The user's own request belongs to no split: nothing was judged before it.
    let session = match collection.splits().first() {
        Some(first) => session.answering(*first),
        None => session,
    };
    if let Some(request) = &arguments.request
        && arguments.system.is_none()
        && built_in::names().any(|name| name == request)
    {
        settings.note(&format!(
            "note: `{request}` is taken for what the user says; the system is named by --system"
        ));
    }
    let contexts = Contexts::new(&session);
    let asker = Asker::open(&contexts, &config, arguments.max_turns, arguments.explain)?;
    let statements = read_statements(arguments, &asker)?;
    match &arguments.request {
        Some(request) if !arguments.json => {
            let request = Request::new("0", request.as_str());
            talk(
                settings,
                &asker,
                UserRequest { request, statements: Statements::Own(statements) },
            )?;
        }
        request => protocol::serve(settings, &asker, request.as_deref(), &statements)?,
    }
    Ok(Outcome::Done)
}

/// The lines of `--statements`; blank lines are skipped.
fn read_statements(arguments: &AskArgs, asker: &Asker) -> Result<Vec<String>> {
    let Some(file) = &arguments.statements else { return Ok(Vec::new()) };
    if !asker.system.config.ranks_statements() {
        let expected = "a system that ranks statements";
        let found = "one that ranks none";
        bail!("--statements", expected, found, "`ikat-bm25` is one");
    }
    let input = Source::new(file).read_at_most(MOST_OF_A_CONFIGURATION)?;
    let text = str::from_utf8(&input.bytes)
        .map_err(|_| not_utf8(&*input.name, "statements", &input.bytes))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// A conversation in plain text: questions on standard output, all else on standard error.
fn talk(settings: &Settings, asker: &Asker, mut conversation: UserRequest) -> Result<()> {
    let prompts = io::stdin().is_terminal() && io::stderr().is_terminal();
    let mut replies = replies()?;
    loop {
        let is_new = conversation.request.need.is_none();
        let next = asker.next(&mut conversation)?;
        if let Some(need) = conversation.request.need.filter(|_| is_new) {
            settings.note(&format!("need for clarification: {need} of 4"));
        }
        let reasons = moves::reasons(asker, &conversation, &next)?;
        let unfit = match &next {
            Move::Answer { unfit: Some(reason), .. } => Some(format!("nothing fits: {reason}")),
            _ => None,
        };
        let Some(said) = unfit.as_deref().or_else(|| next.text()) else {
            print(|out| write!(out, "{reasons}"))?;
            match &next {
                Move::Stop { reason, .. } => {
                    settings.note(&format!("stopped: {reason}"));
                }
                _ => settings.note("stopped: the system has no answer"),
            }
            return Ok(());
        };
        print(|out| write!(out, "{}\n{reasons}", printable(said, usize::MAX)))?;
        if prompts {
            say_all("> ");
        }
        let reply = replies
            .read_next()?
            .transpose()
            .map_err(|problem| problem.hint("a reply is one line of UTF-8 text"))?;
        let Some(reply) = reply.filter(|reply| !reply.is_empty()) else {
            settings.note("no reply");
            return Ok(());
        };
        conversation.request.said.extend([Utterance::system(said), Utterance::user(reply)]);
    }
}

fn replies() -> Result<BoundedLines<'static>> {
    Ok(BoundedLines::new("<stdin>", stdin()?, MOST_OF_A_LINE))
}
