//! A file that is another one with other values of some keys: `based_on` and `[set]`.

use crate::system::{ExpectedScores, check_name};
use crate::table::{ConfigFile, Table};
use clariq_core::{Location, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Value;

/// A system or training recipe that is another one with other values of some keys.
pub struct BasedOn {
    /// The name of the system itself.
    pub name: String,
    /// Its own description in one line.
    pub description: String,
    /// The data on which its own parameters were chosen, if any were.
    pub chosen_on: Option<String>,
    /// The name or file of the other.
    pub base: String,
    /// The line that names the other.
    pub at: Location,
    /// The line of the values.
    pub set_at: Location,
    /// The other values, as TOML, by key: those of a table `[set.NAME]` are `NAME.KEY`.
    pub set: Vec<(String, String)>,
    /// The scores it should reach; it has none of the other's.
    pub expected: Vec<ExpectedScores>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    name: String,
    #[serde(default)]
    description: String,
    chosen_on: Option<String>,
    /// Other words for it, for who looks for a built-in system.
    #[serde(default, rename = "also")]
    _also: Vec<String>,
    based_on: String,
    #[serde(default)]
    set: BTreeMap<String, Value>,
}

impl BasedOn {
    /// Reads a file that has a key `based_on`; any other is `None`, and so is what is no TOML, which
    /// whoever reads the whole file refuses. `file` is for messages.
    pub fn read(file: &str, text: &str) -> Result<Option<Self>> {
        let Ok(mut table) = Table::parse(ConfigFile { name: file, text, overrides: &[] }) else {
            return Ok(None);
        };
        if !table.has("based_on") {
            return Ok(None);
        }
        let expected = table.take_tables("expected")?;
        let expected = expected.into_iter().map(ExpectedScores::read).collect::<Result<_>>()?;
        let (at, set_at) = (table.at("based_on"), table.at("set"));
        let Header { name, description, chosen_on, based_on: base, set: tables, .. } =
            table.read()?;
        check_name(&name, &Location::line(file, 1))?;
        let mut set = Vec::new();
        for (key, value) in tables {
            match value {
                Value::Table(inner) => {
                    for (inner, value) in inner {
                        set.push((format!("{key}.{inner}"), value.to_string()));
                    }
                }
                value => set.push((key, value.to_string())),
            }
        }
        Ok(Some(Self { name, description, chosen_on, base, at, set_at, set, expected }))
    }
}
