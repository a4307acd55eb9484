//! Requests as JSON lines: `{"id": …, "text": …}` or `{"id": …, "said": [{"user": …}, {"system": …}]}`.

use clariq_core::{
    Documents, Error, Location, Problem, ProblemKind, Request, Utterance, printable,
};
use serde::Deserialize;
use std::io::{BufRead, Read};
use std::path::PathBuf;

/// How a line looks, for messages.
const FORM: &str = "{\"id\": …, \"text\": …} or {\"id\": …, \"said\": [{\"user\": …}, …]}";

/// A longer line is no request: it would only fill the memory.
const LONGEST: u64 = 1 << 20;

/// So many characters of a wrong value are kept for a message.
const SHOWN: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    id: Id,
    text: Option<String>,
    said: Option<Vec<Said>>,
    candidates: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Said {
    User(String),
    System(String),
}

/// Reads requests from a stream, a line at a time; blank lines are passed over.
pub struct Requests<'a> {
    name: String,
    lines: Box<dyn BufRead + 'a>,
    documents: &'a dyn Documents,
    line: u64,
    buffer: Vec<u8>,
}

impl<'a> Requests<'a> {
    /// `name` is the stream's, for messages; `documents` are what `candidates` names.
    pub fn new(
        name: impl Into<String>,
        lines: Box<dyn BufRead + 'a>,
        documents: &'a dyn Documents,
    ) -> Self {
        Self { name: name.into(), lines, documents, line: 0, buffer: Vec::new() }
    }

    /// The next request, or what is wrong with its line; `None` at the end.
    pub fn read_next(&mut self) -> Result<Option<Result<Request, Problem>>, Error> {
        loop {
            self.line += 1;
            self.buffer.clear();
            let mut limited = self.lines.by_ref().take(LONGEST);
            let count = limited.read_until(b'\n', &mut self.buffer).map_err(|source| {
                Error::Io { action: "read", path: PathBuf::from(&self.name), source }
            })?;
            if count == 0 {
                return Ok(None);
            }
            if count as u64 == LONGEST && !self.buffer.ends_with(b"\n") {
                self.skip_line()?;
                let expected = format!("a line of less than {LONGEST} bytes");
                return Ok(Some(Err(self.problem(&expected, "a longer one"))));
            }
            let text = self.buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.buffer);
            if !text.trim_ascii().is_empty() {
                return Ok(Some(self.parse(text.trim_ascii())));
            }
        }
    }

    /// Passes over the rest of a line that is too long, in pieces.
    fn skip_line(&mut self) -> Result<(), Error> {
        loop {
            self.buffer.clear();
            let mut limited = self.lines.by_ref().take(LONGEST);
            let read = limited.read_until(b'\n', &mut self.buffer).map_err(|source| Error::Io {
                action: "read",
                path: PathBuf::from(&self.name),
                source,
            })?;
            if read == 0 || self.buffer.ends_with(b"\n") {
                return Ok(());
            }
        }
    }

    fn parse(&self, text: &[u8]) -> Result<Request, Problem> {
        let fields: Fields =
            serde_json::from_slice(text).map_err(|error| self.unreadable(text, &error))?;
        let id = match fields.id {
            Id::Number(number) => number.to_string(),
            Id::Text(text) => text,
        };
        if id.is_empty() || id.contains(char::is_whitespace) {
            return Err(self.problem("an id without blanks", &format!("`{id}`")));
        }
        let said = match (fields.text, fields.said) {
            (Some(text), None) => vec![Utterance::user(text)],
            (None, Some(said)) => said.into_iter().map(Utterance::from).collect(),
            (None, None) => return Err(self.problem(FORM, "neither `text` nor `said`")),
            (Some(_), Some(_)) => return Err(self.problem(FORM, "both `text` and `said`")),
        };
        let request = Request { said, ..Request::new(id.as_str(), "") };
        if request.opening().trim().is_empty() {
            return Err(self.problem("a request that says something", "an empty one"));
        }
        let candidates = fields.candidates.map(|ids| self.find(&ids)).transpose()?;
        Ok(Request { candidates, ..request })
    }

    fn find(&self, ids: &[String]) -> Result<Vec<clariq_core::Doc>, Problem> {
        let find = |id: &String| {
            self.documents.find(id).ok_or_else(|| {
                self.problem("candidates of the collection", &format!("the id `{id}`"))
            })
        };
        let mut docs = ids.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        docs.sort_unstable();
        docs.dedup();
        Ok(docs)
    }

    fn unreadable(&self, text: &[u8], error: &serde_json::Error) -> Problem {
        if let Err(error) = str::from_utf8(text) {
            let byte = text[error.valid_up_to()];
            return self.problem("UTF-8 text", &format!("the byte 0x{byte:02x}"));
        }
        let shown = String::from_utf8_lossy(text);
        // What is wrong stands where the parser stopped; its own words are about Rust's types.
        let found = format!("`{}`, wrong at column {}", printable(&shown, SHOWN), error.column());
        self.problem(FORM, &found)
    }

    fn problem(&self, expected: &str, found: &str) -> Problem {
        let at = Location::line(&self.name, self.line);
        let problem = Problem::new(at, ProblemKind::Argument, expected, printable(found, SHOWN));
        problem.hint("one JSON object a line; --skip-bad answers bad lines with an error")
    }
}

impl From<Said> for Utterance {
    fn from(said: Said) -> Self {
        match said {
            Said::User(text) => Self::user(text),
            Said::System(text) => Self::system(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::clariq::{ClariQ, DataDir};

    fn read_all(text: &str) -> Vec<Result<Request, Problem>> {
        let sample = ClariQ::open(DataDir::Sample).unwrap();
        let mut requests = Requests::new("r", Box::new(text.as_bytes()), &sample.bank);
        let mut all = Vec::new();
        while let Some(next) = requests.read_next().unwrap() {
            all.push(next);
        }
        all
    }

    #[test]
    fn both_forms_are_read() {
        let text = "\u{feff}{\"id\": 1, \"text\": \"a\"}\n\n{\"id\": \"b\", \"said\": [{\"user\": \"x\"}, \
                    {\"system\": \"y\"}, {\"user\": \"z\"}], \"candidates\": [\"Q00003\", \"Q00002\"]}";
        let all: Vec<Request> = read_all(text).into_iter().map(Result::unwrap).collect();
        assert_eq!(all[0], Request::new("1", "a"));
        assert_eq!(all[1].flatten(), "xy z");
        let candidates = all[1].candidates.as_ref().unwrap();
        assert!(candidates.len() == 2 && candidates[0] < candidates[1]);
    }

    #[test]
    fn a_bad_line_names_its_number_and_the_next_one_is_read() {
        let long = format!("{{\"id\": 1, \"text\": \"{}\"}}", "x".repeat(2 << 20));
        let bad = [
            "{",
            "[]",
            "{\"id\": 1}",
            "{\"id\": 1, \"text\": \" \"}",
            "{\"id\": \"a b\", \"text\": \"x\"}",
            "{\"id\": 1, \"said\": []}",
            "{\"id\": 1, \"text\": \"x\", \"said\": []}",
            &long,
            "{\"id\": 1, \"text\": \"x\", \"candidates\": [\"nothing\"]}",
            "{\"text\": \"x\"}",
        ];
        for line in bad {
            let all = read_all(&format!("\n{line}\n{{\"id\": 2, \"text\": \"a\"}}\n"));
            let problem = all[0].as_ref().unwrap_err();
            assert_eq!(problem.at.to_string(), "r:2", "{problem}");
            assert!(problem.found.chars().count() < 300, "{problem}");
            assert!(all.len() == 2 && all[1].is_ok(), "{problem}");
        }
    }
}
