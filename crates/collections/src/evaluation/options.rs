//! Options of `clariq eval` that one collection defines.

use clariq_core::{Problem, problem};
use std::ffi::{OsStr, OsString};

/// An option of a collection's evaluation, as the command line shows it.
pub struct EvalOption {
    /// Its name, without the dashes.
    pub name: &'static str,
    /// Other spellings, such as that of an official program; help shows the first.
    pub aliases: &'static [&'static str],
    pub help: &'static str,
    /// The value behind the name.
    pub value: OptionValue,
    /// Options that cannot be given beside it.
    pub conflicts: &'static [&'static str],
    /// The output formats that can be chosen beside it.
    pub formats: Formats,
}

impl EvalOption {
    /// A flag that can be given beside all other options.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        let value = OptionValue::None;
        Self { name, aliases: &[], help, value, conflicts: &[], formats: Formats::All }
    }
}

/// The value of an option.
#[derive(Clone, Copy)]
pub enum OptionValue {
    /// No value.
    None,
    File,
    /// One of these names, each with its help text; the first is the default.
    OneOf(&'static [(&'static str, &'static str)]),
}

/// The output formats that can be chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Formats {
    /// All of them.
    All,
    /// All but those that can only hold a single table.
    SeveralTables,
    /// None: the output is always the same text.
    Text,
}

/// The options that were given, by name, with their values. A flag has an empty value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvalOptions(Vec<(&'static str, OsString)>);

impl EvalOptions {
    /// Adds an option.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// The names of the options.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(name, _)| *name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_os_str())
    }

    /// The value of an option with named values; the first is the default.
    pub fn one_of<T: Copy>(&self, name: &str, values: &[(&str, T)]) -> Result<T, Problem> {
        let Some(given) = self.get(name) else { return Ok(values[0].1) };
        let found = values.iter().find(|(value, _)| given == *value);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = values.iter().map(|(value, _)| *value).collect();
            let hint = "`clariq eval --help` lists the values";
            let expected = names.join(", ");
            problem!(format!("--{name}"), expected, "{given:?}", hint)
        })
    }
}
