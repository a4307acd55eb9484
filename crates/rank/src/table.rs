//! Tables of a configuration, read so that an error names its line.

use clariq_core::{Error, Location, Problem, ProblemKind};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A parameter given on the command line in place of the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The stage whose parameter it is, or the task in which that stage is.
    pub stage: String,
    /// The parameter; of a stage of a task, behind the stage's name and a point. A key of a table
    /// stands behind the key of the table and a point.
    pub key: String,
    /// Its value, as TOML.
    pub value: String,
}

impl Override {
    /// The parameter, if it is one of this stage in a pipeline of this task.
    pub(crate) fn key_of(&self, task: Option<&str>, stage: &str) -> Option<&str> {
        if self.stage == stage {
            return Some(&self.key);
        }
        let of_task = task.is_some_and(|task| self.stage == task);
        self.key.strip_prefix(stage)?.strip_prefix('.').filter(|_| of_task)
    }

    /// Where it was given, for messages.
    pub(crate) fn location(&self) -> Location {
        Location::file(format!("command line, {}.{}={}", self.stage, self.key, self.value))
    }
}

/// The file that tables come from.
#[derive(Clone, Copy)]
pub(crate) struct File<'i> {
    pub(crate) name: &'i str,
    pub(crate) text: &'i str,
}

impl File<'_> {
    pub(crate) fn at(self, span: Range<usize>) -> Location {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        Location::line(self.name, before.split(|&byte| byte == b'\n').count() as u64)
    }

    fn found(self, span: Range<usize>) -> String {
        let text = self.text.get(span).unwrap_or_default();
        format!("`{}`", text.lines().next().unwrap_or_default())
    }

    /// toml's message ("unknown field `x`, expected one of …") as a problem of this file.
    pub(crate) fn problem(self, error: &toml::de::Error, fallback: Range<usize>) -> Problem {
        let span = error.span().filter(|span| *span != (0..0)).unwrap_or(fallback);
        let message = plain_keys(error.message());
        let mut problem = Problem::of_serde(self.at(span.clone()), &message, "valid TOML");
        if self.text.get(span.clone()).is_some_and(|text| !text.is_empty()) {
            problem.found = format!("{}: {}", self.found(span), problem.found);
        }
        problem.hint("configs/README.md lists all stages and their keys")
    }
}

/// Unknown keys of a variant, in the words that serde has for those of a struct.
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

/// A table that is not read yet.
pub(crate) struct Table<'i> {
    pub(crate) file: File<'i>,
    span: Range<usize>,
    entries: DeTable<'i>,
    /// The values that do not come from the file. Their spans lie behind its end, in this order.
    given: Vec<&'i Override>,
}

impl<'i> Table<'i> {
    pub(crate) fn parse(file: File<'i>) -> Result<Self, Error> {
        let table = DeTable::parse(file.text).map_err(|error| file.problem(&error, 0..0))?;
        Ok(Self { file, span: table.span(), entries: table.into_inner(), given: Vec::new() })
    }

    /// The location of a key's value; of the table where the key is left out.
    pub(crate) fn at(&self, key: &str) -> Location {
        self.locate(self.entries.get(key).map_or(self.span.clone(), Spanned::span))
    }

    fn locate(&self, span: Range<usize>) -> Location {
        let given = span
            .start
            .checked_sub(self.file.text.len() + 1)
            .and_then(|place| self.given.get(place));
        given.map_or_else(|| self.file.at(span), |given| given.location())
    }

    fn of(file: File<'i>, value: Spanned<DeValue<'i>>) -> Result<Self, Error> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(entries) => Ok(Self { file, span, entries, given: Vec::new() }),
            other => Err(file.wrong_type(span, "a table", other.type_str()).into()),
        }
    }

    /// Whether a key is there.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Takes a key out of the table.
    pub(crate) fn take(&mut self, key: &str) -> Option<Spanned<DeValue<'i>>> {
        self.entries.remove(key)
    }

    /// Takes a key out that must be a string.
    pub(crate) fn take_string(&mut self, key: &str) -> Result<(String, Range<usize>), Error> {
        let Some(value) = self.take(key) else {
            let expected = format!("a key `{key}`");
            let at = self.file.at(self.span.clone());
            let problem =
                Problem::new(at, ProblemKind::Configuration, expected, "a table without it");
            return Err(problem.hint("configs/README.md lists all stages and their keys").into());
        };
        let span = value.span();
        match value.into_inner() {
            DeValue::String(text) => Ok((text.into_owned(), span)),
            other => Err(self.file.wrong_type(span, "a string", other.type_str()).into()),
        }
    }

    /// Takes a key out that holds a table, if it is there.
    pub(crate) fn take_table(&mut self, key: &str) -> Result<Option<Self>, Error> {
        self.take(key).map(|value| Self::of(self.file, value)).transpose()
    }

    /// Takes a key out that holds a table for another crate to read, if it is there.
    pub(crate) fn take_section(&mut self, key: &str) -> Result<Option<Section>, Error> {
        let at = self.at(key);
        let File { name, text } = self.file;
        let section =
            Section { file: name.to_owned(), text: text.to_owned(), key: key.to_owned(), at };
        Ok(self.take_table(key)?.map(|_| section))
    }

    /// Takes a key out that holds a list of tables; an absent one is an empty list.
    pub(crate) fn take_tables(&mut self, key: &str) -> Result<Vec<Self>, Error> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let span = value.span();
        match value.into_inner() {
            DeValue::Array(values) => {
                values.into_iter().map(|value| Self::of(self.file, value)).collect()
            }
            other => Err(self.file.wrong_type(span, "a list of tables", other.type_str()).into()),
        }
    }

    /// Takes a key out that holds tables by name, each with a list of tables under `inner` and with
    /// nothing beside it; an absent key holds none.
    pub(crate) fn take_named_tables(
        &mut self,
        key: &str,
        inner: &str,
    ) -> Result<Vec<(String, Vec<Self>)>, Error> {
        let Some(named) = self.take_table(key)? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for (name, value) in named.entries {
            let mut table = Self::of(named.file, value)?;
            let tables = table.take_tables(inner)?;
            table.read::<Nothing>()?;
            all.push((name.into_inner().into_owned(), tables));
        }
        Ok(all)
    }

    /// Sets a key, or `table.key`, to a value given as TOML text; text that is not TOML is taken as
    /// a string.
    pub(crate) fn set(&mut self, key: &'i str, given: &'i Override) {
        let text = given.value.as_str();
        let value =
            DeValue::parse(text).map_or(DeValue::String(Cow::Borrowed(text)), Spanned::into_inner);
        let place = self.file.text.len() + 1 + self.given.len();
        self.given.push(given);
        insert(&mut self.entries, key, Spanned::new(place..place, value));
    }

    /// Reads what is left in the table; a key that `T` does not know is an error.
    pub(crate) fn read<T: for<'de> Deserialize<'de>>(self) -> Result<T, Error> {
        let Self { file, span, entries, given } = self;
        let places = Self { file, span: span.clone(), entries: DeTable::new(), given };
        T::deserialize(Spanned::new(span.clone(), entries).into_deserializer()).map_err(|error| {
            let mut problem = file.problem(&error, span.clone());
            problem.at = places.locate(error.span().filter(|span| *span != (0..0)).unwrap_or(span));
            problem.into()
        })
    }
}

/// Puts a value under a key; under `table.key`, into that table.
fn insert<'i>(entries: &mut DeTable<'i>, key: &'i str, value: Spanned<DeValue<'i>>) {
    if let Some((table, rest)) = key.split_once('.')
        && let Some(DeValue::Table(inner)) = entries.get_mut(table).map(Spanned::get_mut)
    {
        return insert(inner, rest, value);
    }
    entries.remove(key);
    entries.insert(Spanned::new(value.span(), Cow::Borrowed(key)), value);
}

/// What a table holds that has nothing left to read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

impl File<'_> {
    fn wrong_type(self, span: Range<usize>, expected: &str, found: &str) -> Problem {
        Problem::new(
            self.at(span),
            ProblemKind::Configuration,
            expected,
            format!("a value of type {found}"),
        )
        .hint("configs/README.md lists all stages and their keys")
    }
}

/// A table of a configuration that another crate reads.
#[derive(Debug, Clone)]
pub struct Section {
    file: String,
    text: String,
    key: String,
    /// Where the table is, for messages.
    pub at: Location,
}

impl Section {
    /// Reads the table.
    ///
    /// # Errors
    ///
    /// An unknown key or value, with its line.
    pub fn read<T: for<'de> Deserialize<'de>>(&self) -> Result<T, Error> {
        let mut whole = Table::parse(File { name: &self.file, text: &self.text })?;
        let table = whole.take_table(&self.key)?;
        table.unwrap_or(whole).read()
    }

    /// Reads the table as an enum: the value of `tag` names the variant, the other keys are its
    /// fields.
    ///
    /// Serde's own tagged enums forget the lines of their fields; this keeps them.
    ///
    /// # Errors
    ///
    /// An unknown variant, key or value, with its line.
    pub fn read_tagged<T: for<'de> Deserialize<'de>>(&self, tag: &str) -> Result<T, Error> {
        let mut whole = Table::parse(File { name: &self.file, text: &self.text })?;
        let Some(mut table) = whole.take_table(&self.key)? else { return whole.read() };
        let (variant, span) = table.take_string(tag)?;
        let fields = Spanned::new(table.span.clone(), DeValue::Table(table.entries));
        table.entries = DeTable::new();
        table.entries.insert(Spanned::new(span, Cow::Owned(variant)), fields);
        table.read()
    }
}
