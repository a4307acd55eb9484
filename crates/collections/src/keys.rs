//! Objects of JSON whose keys are found by their roles, as the columns of a table are.

use crate::entries::Entries;
use crate::text_or_number::IdOrNumber;
use clariq_core::{Location, Problem, parse_python_json, problem};
use clariq_files::columns::Role;
use clariq_files::{quoted, shorten};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The keys of an object, in their order, apart from those with `null`. A key may be there twice.
pub(crate) struct Object {
    keys: Vec<String>,
    values: Vec<Value>,
    /// The keys with `null`, which is what pandas writes where a value is missing.
    nulls: Vec<String>,
}

impl Object {
    /// Parses an object, also as Python writes it.
    pub(crate) fn parse(at: impl Into<Location>, json: &[u8]) -> Result<Self, Box<Problem>> {
        parse_python_json(at, json)
    }

    /// The names of its keys, for messages.
    pub(crate) fn described(&self) -> String {
        const SHOWN: usize = 6;
        let nulls = self.nulls.iter().map(|key| format!("`{}` (null)", shorten(key)));
        let keys = self.keys.iter().map(|key| quoted(key)).chain(nulls);
        let keys: Vec<String> = keys.take(SHOWN).collect();
        match &keys[..] {
            [] => String::new(),
            [only] => format!(": its key is {only}"),
            _ => format!(": its keys are {}", keys.join(", ")),
        }
    }

    /// The key with a role and its value; `None` if no key has it.
    ///
    /// # Errors
    ///
    /// Two keys that may be meant.
    pub(crate) fn find(
        &self,
        at: impl Into<Location>,
        role: Role,
    ) -> Result<Option<(&str, &Value)>, Box<Problem>> {
        match role.place_in(&self.keys) {
            Ok(place) => Ok(place.and_then(|place| self.at(place))),
            Err([one, other]) => {
                let what = if matches!(role, Role::Text | Role::Title) { "text" } else { "id" };
                let [one, other] = [one, other].map(|place| self.keys.get(place));
                let found = format!(
                    "`{}` and `{}`",
                    one.map_or("", String::as_str),
                    other.map_or("", String::as_str)
                );
                let expected = format!("one key for the {what}");
                Err(Box::new(problem!(at, expected, found, "leave the one that is meant")))
            }
        }
    }

    /// The value of the key of exactly this name.
    pub(crate) fn get(&self, name: &str) -> Option<(&str, &Value)> {
        self.at(self.keys.iter().position(|key| key == name)?)
    }

    /// True if a key with this role has `null`.
    pub(crate) fn has_null(&self, role: Role) -> bool {
        role.place_in(&self.nulls) != Ok(None)
    }

    /// The names of the keys that are not `null`.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(String::as_str)
    }

    fn at(&self, place: usize) -> Option<(&str, &Value)> {
        Some((self.keys.get(place)?, self.values.get(place)?))
    }
}

/// The id that is the value of a key.
pub(crate) fn id_of(
    at: impl Into<Location>,
    (key, value): (&str, &Value),
) -> Result<String, Box<Problem>> {
    IdOrNumber::deserialize(value).map(IdOrNumber::into_text).map_err(|_| {
        Box::new(problem!(at, "a text or a whole number at `{key}`", (quoted(&value.to_string()))))
    })
}

/// The text that is the value of a key.
pub(crate) fn text_of<'v>(
    at: impl Into<Location>,
    (key, value): (&str, &'v Value),
) -> Result<&'v str, Box<Problem>> {
    value
        .as_str()
        .ok_or_else(|| Box::new(problem!(at, "a text at `{key}`", (quoted(&value.to_string())))))
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Entries(entries) = Entries::<Value>::deserialize(deserializer)?;
        let (nulls, entries): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(_, value)| value.is_null());
        let (keys, values) = entries.into_iter().unzip();
        let nulls = nulls.into_iter().map(|(key, _)| key).collect();
        Ok(Self { keys, values, nulls })
    }
}
