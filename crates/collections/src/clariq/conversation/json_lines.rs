//! One record a line, as a JSON object with the keys of the released dictionaries and, optionally, a
//! `record_id`. A line `{"2287": {…}}` is the record 2287.

use super::draft::{Draft, Raw};
use super::{Reader, Turn};
use crate::json::{self, Node, Value};
use crate::lines::Lines;
use clariq_core::Error;
use clariq_files::MOST_OF_A_LINE;
use clariq_files::archive::Archive;

pub(super) fn read(archive: &Archive, reader: &mut Reader) -> Result<(), Error> {
    archive.with_content(|content| {
        let mut lines = Lines::new(archive, content, MOST_OF_A_LINE);
        while let Some(line) = lines.next("record")? {
            let draft = match line.map(str::trim_ascii) {
                Ok("") => continue,
                Ok(line) => Ok(parse(line)),
                Err(problem) => Err(problem),
            };
            let ended = match draft {
                Ok(mut draft) => {
                    if draft.id.is_empty() {
                        draft.id = lines.number().to_string();
                    }
                    reader.finish(draft, lines.at())
                }
                Err(problem) => reader.take(Err(problem)),
            };
            if ended.is_break() {
                break;
            }
        }
        Ok(())
    })
}

fn parse(line: &str) -> Draft {
    let mut draft = Draft::default();
    let node = match json::parse_unique(line) {
        Ok(node) => node,
        Err(fault) => {
            draft.wrong(format!("a record as a JSON object: {}", fault.expected), fault.found);
            return draft;
        }
    };
    match node.object() {
        Some([(id, inner)]) if inner.object().is_some() => {
            fill(&mut draft, inner);
            draft.id = id.to_string();
        }
        _ => fill(&mut draft, &node),
    }
    draft
}

fn fill(draft: &mut Draft, node: &Node) {
    let Some(fields) = node.object() else {
        return draft.wrong("a record as a JSON object", node.describe());
    };
    for (key, value) in fields {
        if key == "record_id" {
            draft.id = draft.id_of(key, value).unwrap_or_default();
        } else if key == "facet_id" {
            draft.facet = draft.text_of(key, value);
        } else if !draft.set(key, value) {
            draft.wrong_key(key);
        }
    }
}

impl Raw for Node<'_> {
    fn is_none(&self) -> bool {
        self.value == Value::Null
    }

    fn text(&self) -> Option<&str> {
        self.text()
    }

    fn number(&self) -> Option<i64> {
        self.integer()
    }

    fn turns(&self) -> Result<Vec<Turn>, String> {
        let turn = |node: &Node| {
            let text = |key| Some(node.get(key)?.text()?.to_owned());
            match (node.object().map(<[_]>::len), text("question"), text("answer")) {
                (Some(2), Some(question), Some(answer)) => Ok(Turn { question, answer }),
                _ => Err(format!("{} in it", node.describe())),
            }
        };
        self.list().ok_or_else(|| self.describe())?.iter().map(turn).collect()
    }

    fn describe(&self) -> String {
        self.describe()
    }
}
