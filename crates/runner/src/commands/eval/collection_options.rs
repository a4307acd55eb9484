//! The options of `clariq eval` that collections define, as arguments of the command line.

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, value_parser};
use clariq_collections::evaluation::{EvalOption, EvalOptions, OptionValue};
use clariq_tracks::TRACKS;
use std::ffi::OsString;

/// The options on the command line.
pub(super) struct CollectionOptions(pub(super) EvalOptions);

impl clap::Args for CollectionOptions {
    fn augment_args(mut command: Command) -> Command {
        for kind in TRACKS.kinds() {
            for option in kind.eval_options {
                command = command.arg(argument(option).help_heading(kind.name));
            }
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CollectionOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = EvalOptions::default();
        for option in all() {
            if let Some(value) = given(option, matches) {
                options = options.with(option.name, value);
            }
        }
        Ok(Self(options))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The options of all collections.
pub(super) fn all() -> impl Iterator<Item = &'static EvalOption> {
    TRACKS.kinds().iter().flat_map(|kind| kind.eval_options)
}

fn argument(option: &'static EvalOption) -> Arg {
    let mut argument = Arg::new(option.name)
        .long(option.name)
        .help(option.help)
        .conflicts_with_all(option.conflicts);
    if let [shown, hidden @ ..] = option.aliases {
        argument = argument.visible_alias(shown).aliases(hidden);
    }
    match option.value {
        OptionValue::None => argument.action(ArgAction::SetTrue),
        OptionValue::File => argument.value_name("FILE").value_parser(value_parser!(OsString)),
        OptionValue::OneOf(values) => {
            let shown = values.iter().map(|(name, help)| PossibleValue::new(*name).help(*help));
            argument
                .value_name("NAME")
                .value_parser(shown.collect::<Vec<_>>())
                .default_value(values[0].0)
        }
    }
}

/// The value of an option; `None` if it was not given, or is the default.
fn given(option: &EvalOption, matches: &ArgMatches) -> Option<OsString> {
    match option.value {
        OptionValue::None => matches.get_flag(option.name).then(OsString::new),
        OptionValue::File => matches.get_one::<OsString>(option.name).cloned(),
        OptionValue::OneOf(values) => {
            let value = matches.get_one::<String>(option.name)?;
            (value != values[0].0).then(|| value.into())
        }
    }
}
