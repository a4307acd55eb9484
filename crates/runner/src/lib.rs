//! The command line of `clariq`: arguments, calls of `clariq_experiment`, printed tables.
//!
//! It is part of two programs: `clariq`, which has no engine for learned models and starts in
//! milliseconds, and `clariq-learned`, which has one and takes over if a model is needed.

// These panic where nothing can be written: `messages` and `output` write instead.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod advice;
mod arguments;
mod cli;
mod closed_output;
mod commands;
mod data_folders;
mod depth;
mod failure;
mod kept_scores;
mod labels;
mod learned;
mod messages;
mod output;
mod progress;
mod refused_arguments;
mod run_names;
mod runs;
mod settings;
mod several;
mod target;

use clariq_core::{Engine, Error, Hint, Problem, ProblemKind};
use clariq_systems::built_in;
use failure::{Outcome, print_problem};
use parking_lot::Mutex;
use std::io::{self, Write as _};
use std::sync::Arc;

/// Runs the command of the arguments and ends the process; `engine` opens and trains learned models.
pub fn main(engine: Option<&'static dyn Engine>) -> ! {
    clean_up_on_signals();
    if closed_output::is_closed() {
        print_problem("error", &closed_output::problem());
        exit(2)
    }
    let arguments = cli::parse().map_err(|error| {
        if let Some(problem) = refused_arguments::refused_value(&error) {
            return problem.into();
        }
        // clap prints everything else; the status is 2, or 0 after help.
        match error.print().and_then(|()| io::stdout().flush()) {
            Err(refused) if !error.use_stderr() => output::refused(refused),
            _ => exit(error.exit_code()),
        }
    });
    let split = arguments.as_ref().ok().and_then(cli::Cli::split_of_runs);
    let mut outcome = arguments.and_then(|cli| cli::dispatch(cli, engine));
    // A model that needed no engine so far: no request was read, and nothing was printed.
    if engine.is_none()
        && outcome.as_ref().is_err_and(|error| error.kind() == Some(ProblemKind::NoEngine))
        && let Err(error) = learned::take_over()
    {
        outcome = Err(error);
    }
    exit(match outcome {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::CheckFailed) => 1,
        // `clariq eval … | head` closes the pipe early, which is no error.
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            print_problem("error", &with_system_hint(error.to_problem(), split.as_deref()));
            2
        }
    })
}

/// A missing file with the name of a system is what the system has yet to write.
fn with_system_hint(problem: Problem, split: Option<&str>) -> Problem {
    let name = &problem.at.file;
    if problem.kind != ProblemKind::MissingFile || built_in::names().all(|known| known != name) {
        return problem;
    }
    let of_split = split.map(|split| format!(" --split {split}")).unwrap_or_default();
    let hint = Hint::from(format!("`{name}` is a system: "))
        .and(Hint::on_all_data(format!("run {name}{of_split}")))
        .and(" writes its run; ")
        .and(problem.hint.clone());
    Problem { expected: "a run".to_owned(), ..problem }.hint(hint)
}

/// Called once when the user interrupts the command.
type OnInterrupt = Box<dyn FnOnce() + Send>;

static ON_INTERRUPT: Mutex<Option<OnInterrupt>> = Mutex::new(None);

/// Sets the action of an interrupt before it ends the process.
pub(crate) fn on_interrupt(act: impl FnOnce() + Send + 'static) {
    *ON_INTERRUPT.lock() = Some(Box::new(act));
}

/// Removes temporary files and ends the process by the signal (for a shell, status 130 or 143).
/// Checkpoints of trainings stay.
fn clean_up_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    // With a handler, writing beyond the limit on file sizes is an error like that of a full disk.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());

    // Without a handler, a signal only leaves temporary files, which a later command removes.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _no_more = clariq_files::temporary::remove_temporaries();
            if signal == SIGINT
                && let Some(act) = ON_INTERRUPT.lock().take()
            {
                act();
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// Ends the process with a status, without the destructors of the libraries that it is linked with:
/// those of libtorch take a tenth of a second.
fn exit(status: i32) -> ! {
    // Results have been flushed by the functions that print them.
    let _ = std::io::stdout().flush();
    signal_hook::low_level::exit(status)
}
