//! `clariq completions` and `clariq man`: what a shell and `man` know of the command line.

use crate::failure::Outcome;
use crate::output::print;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use clariq_core::{Error, Result};
use clariq_files::Target;
use std::fs;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write a page per command to this folder [default: print the main page]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn completions(mut command: Command, arguments: &CompletionsArgs) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "clariq", &mut script);
    print(|out| out.write_all(&script))
}

pub(crate) fn man(mut command: Command, arguments: &ManArgs) -> Result<Outcome> {
    let Some(folder) = &arguments.output else {
        return print(|mut out| Man::new(command).render(&mut out));
    };
    let refused = |source| Error::Io { action: "create", path: folder.clone(), source };
    fs::create_dir_all(folder).map_err(refused)?;
    command = command.disable_help_subcommand(true);
    // The names of subcommands' pages are set then.
    command.build();
    for page in pages(&command) {
        let target = Target::Path(folder.join(page.get_filename()));
        target.write(|out| page.render(out))?;
    }
    Ok(Outcome::Done)
}

fn pages(command: &Command) -> Vec<Man> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(Man::new(command.clone())).chain(below.flat_map(pages)).collect()
}
