//! Arguments that the parser refuses, as problems with a hint.

#[cfg(test)]
mod tests;

use crate::cli;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clariq_core::{Problem, problem, similar};
use std::error::Error as _;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::Path;

/// A refused value, or flags that exclude each other; `None` for errors that clap reports itself.
pub(crate) fn refused_value(error: &clap::Error) -> Option<Problem> {
    if error.kind() == ErrorKind::ArgumentConflict {
        return conflict(error);
    }
    if error.kind() == ErrorKind::InvalidSubcommand {
        return unknown_command(error);
    }
    if error.kind() == ErrorKind::MissingSubcommand {
        let hint = "`clariq --help` lists the commands";
        return Some(Problem::at("COMMAND", "a command", "nothing").hint(hint));
    }
    if error.kind() == ErrorKind::MissingRequiredArgument {
        return missing_arguments(error);
    }
    if error.kind() == ErrorKind::UnknownArgument {
        return unknown_argument(error);
    }
    if error.kind() == ErrorKind::TooManyValues {
        let value = context_text(error, ContextKind::InvalidValue)?;
        let hint = form_of(&usage(error)?);
        return Some(Problem::at(value, NO_MORE, format!("`{value}`")).hint(hint));
    }
    if !matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) {
        return None;
    }
    let argument = context_text(error, ContextKind::InvalidArg)?;
    let value = context_text(error, ContextKind::InvalidValue)?;
    let at = argument.split(' ').next().unwrap_or(argument);
    let found = if value.is_empty() { "nothing".to_owned() } else { format!("`{value}`") };
    let expected = expected_of(error);
    let hint = match context_text(error, ContextKind::SuggestedValue) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None if value.is_empty() => format!("the value follows the option: `{argument}`"),
        None if cli::is_common(at) => format!("`clariq help options` describes `{argument}`"),
        None => format!("--help describes `{argument}`"),
    };
    Some(Problem::at(at, expected, found).hint(hint))
}

fn missing_arguments(error: &clap::Error) -> Option<Problem> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let bare = |argument: &String| {
        let is_option = argument.starts_with('-');
        let name = argument.trim_end_matches("...").replace(['<', '>', '[', ']'], "");
        if is_option { argument.clone() } else { name }
    };
    // A value is missing where it is named alone, an option with its value elsewhere.
    let first = missing.first().map(|first| match first.split_once(' ') {
        Some((option, _)) if option.starts_with('-') => option.to_owned(),
        _ => bare(first),
    })?;
    let expected = missing.iter().map(bare).collect::<Vec<_>>().join(" and ");
    let usage = usage(error)?;
    let help = command_of(&usage);
    let hint = format!("write `{usage}`; `{help} --help` describes each");
    Some(Problem::at(first, expected, "nothing").hint(hint))
}

fn unknown_argument(error: &clap::Error) -> Option<Problem> {
    let argument = context_text(error, ContextKind::InvalidArg)?;
    let usage = usage(error)?;
    let command = command_of(&usage);
    let is_option = argument.starts_with('-') && argument.len() > 1;
    let meant = if is_option { meant_option(&command, argument) } else { None };
    let hint = match (meant, context_text(error, ContextKind::SuggestedArg)) {
        (Some(meant), _) => meant,
        (None, Some(similar)) if is_option => {
            format!("did you mean `{}`?", similar.split(' ').next().unwrap_or(similar))
        }
        _ if is_option => format!(
            "`{command} --help` lists its options, and `clariq help options` those of all commands"
        ),
        _ if Path::new(argument).is_dir() => {
            format!("an option names the folder: `{command} --data {argument}`")
        }
        _ if command == "clariq ask" => {
            format!("{}, and a system the value of an option: `--system NAME`", form_of(&usage))
        }
        _ => form_of(&usage),
    };
    let expected = if is_option { format!("an option of `{command}`") } else { NO_MORE.to_owned() };
    Some(Problem::at(argument, expected, format!("`{argument}`")).hint(hint))
}

const NO_MORE: &str = "no more arguments";

fn form_of(usage: &str) -> String {
    format!("write `{usage}`; a text with blanks is one argument in quotes")
}

/// The hint about an option that another command has, or that is a parameter of a system.
fn meant_option(command: &str, given: &str) -> Option<String> {
    let program = cli::command();
    let of_command = find_command(&program, command)?;
    let name = given.trim_start_matches('-');
    if matches!(name, "id" | "text") {
        let file = "`collection.toml` in the data folder names the columns of documents: [documents] id = \"sku\", \
                    text = [\"title\", \"body\"]";
        return Some(file.to_owned());
    }
    if name.contains('.') {
        return cli::has_option(of_command, "--set")
            .then(|| format!("did you mean `--set {name}=VALUE`?"));
    }
    // Of `-data`, the parser sees `-d`.
    let typed = std::env::args().find(|word| word.starts_with(given) && word.len() > given.len());
    if let Some(word) = typed.map(|word| format!("-{word}"))
        && !given.starts_with("--")
        && (cli::has_option(of_command, &word) || cli::is_common(&word))
    {
        return Some(format!("two hyphens begin its name: `{word}`"));
    }
    let having = program.get_subcommands().filter(|other| cli::has_option(other, given));
    let having: Vec<String> =
        having.map(|other| format!("`clariq {}`", other.get_name())).collect();
    (!having.is_empty()).then(|| format!("`{given}` is an option of {}", having.join(", ")))
}

/// The command of that name, such as `clariq need train`.
fn find_command<'p>(program: &'p clap::Command, command: &str) -> Option<&'p clap::Command> {
    let mut words = command.split(' ').skip(1);
    words.try_fold(program, |command, word| command.find_subcommand(word))
}

/// The form of a command, such as `clariq run [OPTIONS] <CONFIG>...`.
fn usage(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    let usage = usage.to_string();
    let usage = usage.trim().strip_prefix("Usage: ").unwrap_or(usage.trim());
    Some(usage.lines().next()?.trim().to_owned())
}

/// The words of a usage before its arguments.
fn command_of(usage: &str) -> String {
    let words = usage.split(' ').take_while(|word| !word.starts_with(['[', '<', '-']));
    words.collect::<Vec<_>>().join(" ")
}

fn conflict(error: &clap::Error) -> Option<Problem> {
    let flag = |kind| Some(context_text(error, kind)?.split(' ').next().unwrap_or_default());
    let other = flag(ContextKind::PriorArg)?;
    let flag = flag(ContextKind::InvalidArg)?;
    if flag == other {
        return Some(Problem::at(flag, "one value", "several").hint("name it once"));
    }
    let hint = "--help describes each of them";
    Some(problem!(flag, "no {other} beside it", other, hint))
}

fn unknown_command(error: &clap::Error) -> Option<Problem> {
    let word = context_text(error, ContextKind::InvalidSubcommand)?;
    let usage = usage(error);
    let command = usage.as_deref().map_or_else(|| "clariq".to_owned(), command_of);
    let program = cli::command();
    let commands = find_command(&program, &command)?.get_subcommands();
    let names: Vec<&str> = commands.map(clap::Command::get_name).collect();
    // clap sorts what is similar, the most similar last. Of `clariq help WORD`, it has nothing similar.
    let suggested = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(names)) => names.last().map(String::as_str),
        _ => context_text(error, ContextKind::SuggestedSubcommand),
    };
    let begins = names.iter().copied().find(|name| word.starts_with(name));
    let near = suggested.or(begins).or_else(|| similar(word, names.iter().copied()));
    let near = near.map(|near| format!("{command} {near}"));
    let (expected, of_only) = match &names[..] {
        [only] => (format!("the command {only}"), Some(format!("{command} {only} {word}"))),
        names => (format!("one of the commands {}", names.join(", ")), None),
    };
    let hint = match place_of(word, &program).or(near).or(of_only) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("`{command} --help` describes the commands"),
    };
    Some(Problem::at("COMMAND", expected, format!("`{word}`")).hint(hint))
}

/// The command with that word at another place, such as `clariq data fetch`.
fn place_of(word: &str, program: &clap::Command) -> Option<String> {
    if let Some(found) = program.find_subcommand(word) {
        return Some(format!("clariq {}", found.get_name()));
    }
    let mut above = program.get_subcommands();
    above.find_map(|above| {
        let found = above.find_subcommand(word)?;
        Some(format!("clariq {} {}", above.get_name(), found.get_name()))
    })
}

fn context_text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
        _ => None,
    }
}

fn expected_of(error: &clap::Error) -> String {
    if let Some(ContextValue::Strings(names)) = error.get(ContextKind::ValidValue)
        && !names.is_empty()
    {
        return format!("one of {}", names.join(", "));
    }
    let Some(reason) = error.source() else { return "a value".to_owned() };
    if reason.is::<ParseFloatError>() {
        return "a number".to_owned();
    }
    if let Some(reason) = reason.downcast_ref::<ParseIntError>() {
        let least = u8::from(*reason.kind() == IntErrorKind::Zero);
        return format!("a whole number of at least {least}");
    }
    let reason = reason.to_string();
    reason.strip_prefix("expected ").unwrap_or(&reason).to_owned()
}
