//! `clariq setup`: libtorch and weights, installed into the user's cache.
//!
//! `python/installer/setup.py` does it, as in the set-up of a clone. This crate has it by a link, which
//! `cargo package` replaces by the file.

use crate::failure::Outcome;
use crate::learned::become_process;
use crate::settings::Settings;
use clap::Args;
use clariq_core::{Error, IoAction, Result, bail, find_python, problem};
use clariq_experiment::installed::{self, model_types};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::{env, io};

const SCRIPT: &str = include_str!("setup.py");
const HUB: &str = include_str!("hub.py");
/// Runs the second of two programs, which imports the first.
const BOTH: &str = "import sys, types
setup = types.ModuleType('setup')
sys.modules['setup'] = setup
exec(sys.argv.pop(1), setup.__dict__)
exec(sys.argv.pop(1))
";

#[derive(Args)]
pub(crate) struct SetupArgs {
    /// Only show what is installed and what is missing; exit status 1 if anything is missing
    #[arg(long)]
    check: bool,
    /// Use this libtorch 2.4 instead of downloading one; it must be built like that of the wheels of
    /// torch for CPUs
    #[arg(long, value_name = "DIR")]
    libtorch: Option<PathBuf>,
    /// Reinstall even if everything is installed
    #[arg(long)]
    force: bool,
    /// Install only this model: all-mpnet-base-v2 (0.4 GB), splade-tiny (17 MB), all-MiniLM-L6-v2, the
    /// folder of --from, or one of the Hugging Face hub, as ORGANISATION/NAME[@REVISION], by the
    /// Python package `huggingface_hub` and its variables `HF_ENDPOINT` and `HF_TOKEN`
    #[arg(long, value_name = "NAME", conflicts_with = "libtorch")]
    model: Option<String>,
    /// Install this Hugging Face or sentence-transformers folder under the name of --model
    #[arg(long, value_name = "DIR", requires = "model", conflicts_with = "check")]
    from: Option<PathBuf>,
}

/// Replaces this process by Python; returns only if that fails.
pub(crate) fn setup(settings: &Settings, arguments: &SetupArgs) -> Result<Outcome> {
    if let (Some(name), Some(from)) = (&arguments.model, &arguments.from) {
        installed::check_model_name(name)?;
        settings.take_over()?;
        installed::check_model_opens(settings.engine, name, from)?;
    }
    if let (Some(name), None) = (&arguments.model, &arguments.from)
        && installed::is_path(name)
    {
        let hint = format!("`clariq setup --model NAME --from {name}` installs a folder");
        bail!("--model", "the name of a model", "`{name}`, the path of a folder", hint);
    }
    let folder = env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    let python = find_python();
    let mut command = Command::new(&python);
    let is_of_hub =
        arguments.from.is_none() && arguments.model.as_ref().is_some_and(|name| name.contains('/'));
    if is_of_hub {
        command.args(["-c", BOTH, SCRIPT, HUB, "--families", &model_types().join(",")]);
        let (files, refused) = installed::files_of_models();
        command.args(["--files", &files.join(","), "--refused", &refused.join(",")]);
    } else {
        command.args(["-c", SCRIPT]);
        command.args(folder.iter().flat_map(|folder| [OsStr::new("--programs"), folder.as_ref()]));
    }
    command.args(arguments.check.then_some("--check"));
    command.args(arguments.force.then_some("--force"));
    let model = arguments.model.as_ref().map(PathBuf::from);
    for (flag, value) in
        [("--libtorch", &arguments.libtorch), ("--model", &model), ("--from", &arguments.from)]
    {
        if let Some(value) = value {
            command.arg(flag).arg(value);
        }
    }
    let source = become_process(&mut command);
    if source.kind() != io::ErrorKind::NotFound {
        return Err(Error::Io { action: IoAction::Start, path: python, source });
    }
    let hint = "install Python with pip, for example `apt install python3-pip`";
    Err(problem!("python3", "Python 3.9 or later", "no such program", hint).into())
}
