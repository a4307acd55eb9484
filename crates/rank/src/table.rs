//! Tables of a configuration, with errors that have their line.

mod syntax;

use crate::prompt::Prompt;
use clariq_core::{Error, Location, Problem, Result, bail, meant, problem, shorten, similar};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use syntax::{BRACKETS, hint_of};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const HINT: &str = "the documentation lists all stages and their keys (reference, Stages)";

/// A parameter given on the command line, which replaces the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The stage or table of the parameter, or the task of the stage.
    pub stage: String,
    /// The key of the parameter: `key`, `table.key` for a nested table, `stage.key` for a task.
    pub key: String,
    /// Its value, as TOML.
    pub value: String,
}

impl Override {
    /// The key to set in the table of this stage, if the override is for it.
    pub(crate) fn key_of(&self, task: Option<&str>, stage: &str) -> Option<&str> {
        if self.stage == stage {
            return Some(&self.key);
        }
        let of_task = task.is_some_and(|task| self.stage == task);
        self.key.strip_prefix(stage)?.strip_prefix('.').filter(|_| of_task)
    }

    /// Its parameter, as it was named.
    fn path(&self) -> String {
        format!("{}.{}", self.stage, self.key)
    }

    /// Its location, for messages.
    pub fn location(&self) -> Location {
        Location::file(format!("command line, {}={}", self.path(), self.value))
    }
}

/// The text of a configuration, and the parameters that override it. The value of the override at
/// `index` has an empty span, `index + 1` bytes after the end of the text.
#[derive(Clone, Copy)]
pub(crate) struct ConfigFile<'i> {
    pub(crate) name: &'i str,
    pub(crate) text: &'i str,
    pub(crate) overrides: &'i [Override],
}

impl<'i> ConfigFile<'i> {
    fn override_at(self, span: &Range<usize>) -> Option<&'i Override> {
        self.overrides.get(span.start.checked_sub(self.text.len() + 1)?)
    }

    /// The location of a value or key.
    pub(crate) fn at(self, span: Range<usize>) -> Location {
        if let Some(parameter) = self.override_at(&span) {
            return parameter.location();
        }
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        Location::line(self.name, before.split(|&byte| byte == b'\n').count() as u64)
    }

    /// The problem of a text that is no TOML, with its line.
    fn no_toml(self, error: &toml::de::Error) -> Problem {
        const SHOWN: usize = 80;
        let at = self.at(error.span().unwrap_or_default());
        let number = at.line.map_or(0, |line| line as usize - 1);
        let line = self.text.lines().nth(number).unwrap_or_default();
        let found = format!("`{}`: {}", shorten(line.trim(), SHOWN), error.message());
        problem!(at, "valid TOML", found, (hint_of(line, error.message())))
    }

    /// toml's message ("unknown field `x`, expected one of …") as a problem of this file. `taken` are
    /// further keys of the table.
    fn problem(self, error: &toml::de::Error, fallback: Range<usize>, taken: &[String]) -> Problem {
        let span = error.span().filter(|span| *span != (0..0)).unwrap_or(fallback);
        let message = all_keys(error.message(), taken);
        let mut problem = Problem::of_serde(self.at(span.clone()), &message, "valid TOML");
        let text = self.text.get(span).and_then(|text| text.lines().next()).unwrap_or_default();
        if text == problem.found {
            problem.found = format!("`{text}`");
        } else if !text.is_empty() {
            problem.found = format!("`{text}`: {}", problem.found);
        }
        problem.hint(
            meant(&message).map_or(HINT.to_owned(), |known| format!("did you mean `{known}`?")),
        )
    }
}

/// The problem of a table with a hint of its own in place of the general one.
pub fn hint_of_table(error: &Error, hint: &str) -> Problem {
    let problem = error.to_problem();
    if problem.hint == HINT { problem.hint(hint) } else { problem }
}

/// Rewords a message about unknown keys of an enum variant as serde words it for a struct.
fn plain_keys(message: &str) -> Cow<'_, str> {
    let keys = message
        .strip_prefix("unexpected keys in table: ")
        .and_then(|keys| keys.split_once(", available keys: "));
    match keys {
        Some((unknown, known)) => {
            let known = known.replace(", ", "`, `");
            Cow::Owned(format!("unknown field `{unknown}`, expected one of `{known}`"))
        }
        None => Cow::Borrowed(message),
    }
}

/// A message about an unknown key, with further keys among those that are known.
fn all_keys<'m>(message: &'m str, taken: &[String]) -> Cow<'m, str> {
    let message = plain_keys(message);
    let Some(rest) = message.strip_prefix("unknown field `").filter(|_| !taken.is_empty()) else {
        return message;
    };
    let Some((unknown, known)) = rest.split_once("`, ") else { return message };
    let mut keys: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    keys.extend(taken.iter().map(String::as_str));
    Cow::Owned(format!("unknown field `{unknown}`, expected one of `{}`", keys.join("`, `")))
}

/// A table that is not deserialized yet.
pub(crate) struct Table<'i> {
    pub(crate) file: ConfigFile<'i>,
    span: Range<usize>,
    entries: DeTable<'i>,
    /// The keys that were taken out, whether or not they were there.
    taken: Vec<String>,
}

impl<'i> Table<'i> {
    pub(crate) fn parse(file: ConfigFile<'i>) -> Result<Self> {
        let table = DeTable::parse(file.text).map_err(|error| file.no_toml(&error))?;
        Ok(Self { file, span: table.span(), entries: table.into_inner(), taken: Vec::new() })
    }

    fn of(file: ConfigFile<'i>, value: Spanned<DeValue<'i>>) -> Result<Self> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(entries) => Ok(Self { file, span, entries, taken: Vec::new() }),
            other => Err(wrong_type(file.at(span), "a table", &other)),
        }
    }

    /// The location of a key's value, or of the table if it has no such key.
    pub(crate) fn at(&self, key: &str) -> Location {
        self.file.at(self.entries.get(key).map_or(self.span.clone(), Spanned::span))
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Refuses the number under a key if it is out of range.
    pub(crate) fn check_number(
        &self,
        key: &str,
        range: RangeInclusive<f64>,
        expected: &str,
        hint: &str,
    ) -> Result<()> {
        let number: Option<f64> = match self.entries.get(key).map(Spanned::get_ref) {
            Some(DeValue::Float(float)) => float.as_str().parse().ok(),
            Some(DeValue::Integer(integer)) => integer.as_str().parse().ok(),
            _ => None,
        };
        if let Some(number) = number
            && !range.contains(&number)
        {
            bail!((self.at(key)), expected, (number.to_string()), hint);
        }
        Ok(())
    }

    /// The keys of a table in this one, with their lines; empty if there is no such table.
    pub(crate) fn keys_of(&self, key: &str) -> Vec<(String, Location)> {
        let table = self.entries.get(key).and_then(|value| value.get_ref().as_table());
        let keys = table.into_iter().flat_map(DeTable::keys);
        keys.map(|key| (key.get_ref().to_string(), self.file.at(key.span()))).collect()
    }

    /// Takes out a key, which must be a string.
    pub(crate) fn take_string(&mut self, key: &str) -> Result<(String, Range<usize>)> {
        let Some(value) = self.entries.remove(key) else {
            bail!((self.file.at(self.span.clone())), "a key `{key}`", "a table without it", HINT)
        };
        let span = value.span();
        match value.into_inner() {
            DeValue::String(text) => Ok((text.into_owned(), span)),
            other => Err(wrong_type(self.file.at(span), "a string", &other)),
        }
    }

    /// Takes out the prompt that the key `prompt` names, or else the built-in prompt `default`. A
    /// file is relative to the configuration, or to the current folder if the command line names
    /// it.
    pub(crate) fn take_prompt(&mut self, default: &str, variables: &[&str]) -> Result<Prompt> {
        self.taken.push("prompt".to_owned());
        if !self.has("prompt") {
            return Prompt::open(self.at("prompt"), Path::new(""), default, variables);
        }
        let (name, span) = self.take_string("prompt")?;
        let folder = match self.file.override_at(&span) {
            Some(_) => None,
            None => Path::new(self.file.name).parent(),
        };
        Prompt::open(self.file.at(span), folder.unwrap_or(Path::new("")), &name, variables)
    }

    /// Takes out those of the keys that are present, as a table of their own.
    pub(crate) fn take_keys(&mut self, keys: &[&str]) -> Self {
        let taken = keys.iter().filter_map(|key| self.entries.remove_entry(*key)).collect();
        self.taken.extend(keys.iter().map(|key| (*key).to_owned()));
        Self { file: self.file, span: self.span.clone(), entries: taken, taken: Vec::new() }
    }

    /// Takes out a key that holds a table, if it is present.
    pub(crate) fn take_table(&mut self, key: &str) -> Result<Option<Self>> {
        self.taken.push(key.to_owned());
        self.entries.remove(key).map(|value| Self::of(self.file, value)).transpose()
    }

    /// Takes out a key that holds a list of tables; an absent one is an empty list.
    pub(crate) fn take_tables(&mut self, key: &str) -> Result<Vec<Self>> {
        self.taken.push(key.to_owned());
        let Some(value) = self.entries.remove(key) else { return Ok(Vec::new()) };
        let span = value.span();
        match value.into_inner() {
            DeValue::Array(values) => {
                values.into_iter().map(|value| Self::of(self.file, value)).collect()
            }
            other => Err(wrong_type(self.file.at(span), "a list of tables", &other)),
        }
    }

    /// Takes out a key that holds tables by name; an absent one holds none.
    pub(crate) fn take_named_tables(&mut self, key: &str) -> Result<Vec<(String, Self)>> {
        self.take_table(key)?.map_or_else(|| Ok(Vec::new()), Self::into_tables)
    }

    /// The tables in this one by name; it must hold nothing else.
    fn into_tables(self) -> Result<Vec<(String, Self)>> {
        let mut tables = Vec::new();
        for (name, value) in self.entries {
            tables.push((name.into_inner().into_owned(), Self::of(self.file, value)?));
        }
        Ok(tables)
    }

    /// Sets a key, or `table.key`, to the value of the override at `index`: TOML, or else a string.
    pub(crate) fn set(&mut self, key: &'i str, index: usize) -> Result<()> {
        let change = &self.file.overrides[index];
        if let Some((table, rest)) = key.split_once('.')
            && self.entries.get(table).is_none_or(|value| value.get_ref().as_table().is_none())
        {
            let path = change.path();
            let outer = path.strip_suffix(rest).unwrap_or_default().trim_end_matches('.');
            let expected = format!("a table `{outer}` in {}", self.file.name);
            let tables = self.entries.iter().filter(|(_, value)| value.get_ref().is_table());
            let hint = match similar(table, tables.map(|(name, _)| name.get_ref().as_ref())) {
                Some(known) => format!("did you mean `{known}`?"),
                None => HINT.to_owned(),
            };
            bail!((change.location()), expected, "a system without it", hint);
        }
        let text = change.value.as_str();
        let value =
            DeValue::parse(text).map_or(DeValue::String(Cow::Borrowed(text)), Spanned::into_inner);
        let position = self.file.text.len() + 1 + index;
        insert(&mut self.entries, key, Spanned::new(position..position, value));
        Ok(())
    }

    /// Reads the remaining keys of the table; a key that `T` does not have is an error.
    pub(crate) fn read<T: for<'de> Deserialize<'de>>(self) -> Result<T> {
        let Self { file, span, entries, taken } = self;
        let keys: Vec<Range<usize>> = entries.keys().map(Spanned::span).collect();
        T::deserialize(Spanned::new(span.clone(), entries).into_deserializer()).map_err(|error| {
            let is_own = error.span().is_some_and(|span| keys.contains(&span));
            file.problem(&error, span, if is_own { &taken } else { &[] }).into()
        })
    }
}

/// Inserts a value under a key; for `table.key`, into that table.
fn insert<'i>(entries: &mut DeTable<'i>, key: &'i str, value: Spanned<DeValue<'i>>) {
    if let Some((table, rest)) = key.split_once('.')
        && let Some(DeValue::Table(inner)) = entries.get_mut(table).map(Spanned::get_mut)
    {
        return insert(inner, rest, value);
    }
    entries.remove(key);
    entries.insert(Spanned::new(value.span(), Cow::Borrowed(key)), value);
}

fn wrong_type(at: Location, expected: &str, found: &DeValue) -> clariq_core::Error {
    let (found, hint) = match found {
        DeValue::Table(_) => ("one table".to_owned(), BRACKETS),
        DeValue::Array(_) => ("a list".to_owned(), BRACKETS),
        other => (format!("a value of type {}", other.type_str()), HINT),
    };
    problem!(at, expected, found, hint).into()
}

/// A table of a configuration that another crate reads, once.
pub struct ConfigSection<'i> {
    /// Its location, for messages.
    pub at: Location,
    pub(crate) table: Table<'i>,
}

impl<'i> ConfigSection<'i> {
    /// The tables in this one by name; it must hold nothing else.
    pub fn tables(self) -> Result<Vec<(String, ConfigSection<'i>)>> {
        let mut sections = Vec::new();
        for (name, table) in self.table.into_tables()? {
            let at = table.file.at(table.span.clone());
            sections.push((name, ConfigSection { at, table }));
        }
        Ok(sections)
    }

    /// Reads the table; an unknown key or value is an error with its line.
    pub fn read<T: for<'de> Deserialize<'de>>(self) -> Result<T> {
        self.table.read()
    }

    /// Reads the table as an enum: `tag` names the variant, the other keys are its fields.
    ///
    /// Serde's own tagged enums forget the lines of their fields; this keeps them.
    pub fn read_tagged<T: for<'de> Deserialize<'de>>(self, tag: &str) -> Result<T> {
        let mut table = self.table;
        let (variant, span) = table.take_string(tag)?;
        let fields = Spanned::new(table.span.clone(), DeValue::Table(table.entries));
        let entries = DeTable::from_iter([(Spanned::new(span, Cow::Owned(variant)), fields)]);
        Table { entries, ..table }.read()
    }
}
