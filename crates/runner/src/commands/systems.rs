//! `clariq systems`: the built-in systems, what each needs, and their files.

use crate::failure::Outcome;
use crate::output::{Cell, Sheet, print, terminal_width};
use crate::settings::Settings;
use clap::{Args, Subcommand};
use clariq_core::Result;
use clariq_experiment::installed::DEFAULT_MODEL;
use clariq_files::MOST_OF_A_CONFIGURATION;
use clariq_rank::{Prompt, Uses};
use clariq_systems::{SystemConfig, built_in, recipes};
use std::io::{self, Write};
use textwrap::{Options, WordSeparator, WordSplitter};

#[derive(Args)]
pub(crate) struct SystemsArgs {
    #[command(subcommand)]
    command: Option<SystemsCommand>,
}

#[derive(Subcommand)]
enum SystemsCommand {
    /// Print the file of a system, and its prompts
    Show {
        /// Built-in system or configuration file
        #[arg(value_name = "SYSTEM")]
        system: String,
    },
}

pub(crate) fn systems(settings: &Settings, arguments: &SystemsArgs) -> Result<Outcome> {
    match &arguments.command {
        Some(SystemsCommand::Show { system }) => show(system),
        None => list(settings),
    }
}

fn show(name: &str) -> Result<Outcome> {
    let source = built_in::source(name)?;
    let text = source.read_at_most(MOST_OF_A_CONFIGURATION)?.bytes;
    let prompts = SystemConfig::read(&source, &[])?.prompts();
    print(|out| {
        out.write_all(&text)?;
        prompts.iter().try_for_each(|prompt| put_prompt(prompt, out))
    })
}

/// Writes a prompt as comments, so that the output is a configuration file.
fn put_prompt(prompt: &Prompt, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n# The prompt `{}`:\n#", prompt.name)?;
    for line in prompt.text.lines() {
        writeln!(out, "{}", format!("# {line}").trim_end())?;
    }
    Ok(())
}

fn list(settings: &Settings) -> Result<Outcome> {
    if settings.format.is_none() {
        let text = grouped(terminal_width().min(WIDTH))?;
        return print(|out| write!(out, "{text}"));
    }
    let all: Vec<SystemConfig> =
        built_in::names().map(|name| SystemConfig::open_any(name, &[])).collect::<Result<_>>()?;
    let mut sheet = Sheet::new(&["system", "ranks", "needs", "chosen on", "description"]);
    for config in &all {
        let ranks = if config.answers() { "statements, passages" } else { "documents" };
        let needs = needs(config)?;
        let needs = if needs.is_empty() { Cell::Nothing } else { Cell::text(needs.join(", ")) };
        let chosen_on = config.chosen_on.as_ref().map_or(Cell::Nothing, Cell::text);
        let description = Cell::text(&config.description);
        sheet.row(vec![Cell::text(&config.name), Cell::text(ranks), needs, chosen_on, description]);
    }
    sheet.print(settings.format)
}

/// The column of the descriptions, and the most columns of a line.
const INDENT: usize = 25;
const WIDTH: usize = 80;

/// All systems in their groups, in lines of at most `width` columns.
fn grouped(width: usize) -> Result<String> {
    let mut text = String::new();
    for (title, names, advice) in built_in::groups() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(title);
        text.push('\n');
        text.push_str(&textwrap::fill(advice, wrapping(width)));
        text.push('\n');
        for name in names {
            text.push_str(&line(&SystemConfig::open_any(name, &[])?, width)?);
            text.push('\n');
        }
    }
    Ok(text)
}

/// Lines of whole words.
fn wrapping(width: usize) -> Options<'static> {
    Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false)
}

/// A system with its description and needs, wrapped.
fn line(config: &SystemConfig, width: usize) -> Result<String> {
    let needs = needs(config)?;
    let needs =
        if needs.is_empty() { String::new() } else { format!(" [needs {}]", needs.join(", ")) };
    let name = format!("{:INDENT$}", config.name);
    let indent = " ".repeat(INDENT);
    let options = wrapping(width).initial_indent(&name).subsequent_indent(&indent);
    Ok(textwrap::fill(&format!("{}{needs}", config.description), options))
}

/// The requirements of a system beyond documents and requests.
fn needs(config: &SystemConfig) -> Result<Vec<String>> {
    let mut needs = Vec::new();
    let models = config.models();
    if config.needs_models() {
        needs.push("learned models".to_owned());
    }
    let behind_endpoints = models.iter().filter(|model| config.is_behind_endpoint(&model.name));
    needs.extend(behind_endpoints.map(|model| format!("a server for `{}`", model.name)));
    needs.extend(config.bases()?.into_iter().filter(|name| name != DEFAULT_MODEL));
    if models.iter().any(|model| recipes::is_recipe(&model.name)) {
        needs.push("labels of train".to_owned());
    }
    if config.uses.contains(&Uses::Batch) {
        needs.push("all requests at once".to_owned());
    }
    Ok(needs)
}
