//! Requests as JSON lines or as a table of ids and texts: `{"id": …, "text": …}` or `{"id": …, "said": [{"user": …}, {"system":
//! …}]}`. For a system that ranks the statements of a user, `"statements": [text, …]` is added.

use crate::ranker::{Statements, UserRequest};
use clariq_collections::IdTextTable;
use clariq_collections::requests::request_in;
use clariq_core::{Documents, Problem, RequestId, Result, printable, problem};
use clariq_files::archive::ExpectedContent;
use clariq_files::{BoundedLines, MOST_OF_A_LINE};
use std::collections::HashMap;
use std::io::BufRead;

/// The form of a file of requests, for messages.
pub const ARCHIVE: ExpectedContent = ExpectedContent {
    what: "requests as JSON lines",
    hint: "a line is {\"id\": …, \"text\": …} or {\"id\": …, \"said\": [{\"user\": …}, …]}",
};

/// The maximum number of characters of a wrong value in a message.
const SHOWN: usize = 200;

/// Reads requests from a stream, a line at a time. Blank lines are skipped.
pub struct RequestReader<'a> {
    lines: BoundedLines<'a>,
    table: IdTextTable,
    documents: &'a dyn Documents,
    takes_statements: bool,
    /// The line of each id so far, if ids must be unique.
    ids: Option<HashMap<RequestId, Option<u64>>>,
}

impl<'a> RequestReader<'a> {
    /// `name` is the name of the stream for messages; `documents` contains the candidates.
    pub fn new(
        name: impl Into<String>,
        lines: Box<dyn BufRead + 'a>,
        documents: &'a dyn Documents,
        takes_statements: bool,
    ) -> Self {
        let lines = BoundedLines::new(name, lines, MOST_OF_A_LINE);
        Self { lines, table: IdTextTable::of_requests(), documents, takes_statements, ids: None }
    }

    /// Refuses repeated ids, as TREC runs require; all ids are then in memory. By default, ids may
    /// repeat and a stream need not end.
    #[must_use]
    pub fn with_unique_ids(self) -> Self {
        Self { ids: Some(HashMap::new()), ..self }
    }

    /// The next request, or the problem of its line; `None` at the end.
    pub fn read_next(&mut self) -> Result<Option<Result<UserRequest, Problem>>> {
        loop {
            let line = match self.lines.read_row()? {
                None => return Ok(None),
                Some(Err(problem)) => return Ok(Some(Err(problem))),
                Some(Ok(line)) if line.trim().is_empty() => continue,
                Some(Ok(line)) => line,
            };
            match self.table.begin(self.lines.location(), &line) {
                Ok(false) => {}
                Ok(true) => continue,
                Err(problem) => return Ok(Some(Err(*problem))),
            }
            let query = match self.parse(&line) {
                Ok(query) => query,
                Err(problem) => {
                    let at = self.lines.location();
                    return Ok(Some(Err(Problem { at, ..problem })));
                }
            };
            return Ok(Some(self.check_id(query)));
        }
    }

    /// The number of the last line that was read.
    pub fn line(&self) -> Option<u64> {
        self.lines.location().line
    }

    /// Refuses an id that an earlier line has, if ids must be unique.
    fn check_id(&mut self, query: UserRequest) -> Result<UserRequest, Problem> {
        let Some(ids) = &mut self.ids else { return Ok(query) };
        let at = self.lines.location();
        let id = &query.request.id;
        if let Some(first) = ids.get(id) {
            let first = first.map_or(String::new(), |line| format!(" in line {line}"));
            let found = format!("`{}`, as{first}", printable(id.as_str(), SHOWN));
            let hint = "a run has one ranking per id; --skip-bad keeps the first request";
            return Err(problem!(at, "a request with an id of its own", found, hint));
        }
        ids.insert(id.clone(), at.line);
        Ok(query)
    }

    /// Parses a line. Its number is added to a problem later.
    fn parse(&self, line: &str) -> Result<UserRequest, Problem> {
        let (request, statements) = request_in(&self.table, line, &|id| self.documents.find(id))?;
        if statements.is_some() && !self.takes_statements {
            let expected = "a request alone: the system ranks no statements";
            let hint = "leave `statements` out, or choose a system that ranks them";
            return Err(problem!("", expected, "`statements` beside it", hint));
        }
        let statements = statements.unwrap_or_default();
        if statements.iter().any(|statement| statement.trim().is_empty()) {
            return Err(problem!("", "statements with a text", "an empty one"));
        }
        Ok(UserRequest { request, statements: Statements::Own(statements) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Request;

    fn read_all(text: &str) -> Vec<Result<Request, Problem>> {
        read(text, false).into_iter().map(|one| one.map(|one| one.request)).collect()
    }

    fn read(text: &str, takes_statements: bool) -> Vec<Result<UserRequest, Problem>> {
        read_by(text, takes_statements, false)
    }

    fn read_by(
        text: &str,
        takes_statements: bool,
        unique: bool,
    ) -> Vec<Result<UserRequest, Problem>> {
        let sample = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE).unwrap();
        let documents = sample.documents(clariq_track_clariq::QUESTIONS).unwrap();
        let lines = Box::new(text.as_bytes());
        let mut requests = RequestReader::new("r", lines, documents, takes_statements);
        if unique {
            requests = requests.with_unique_ids();
        }
        let mut all = Vec::new();
        while let Some(next) = requests.read_next().unwrap() {
            all.push(next);
        }
        all
    }

    #[test]
    fn single_texts_and_conversations_are_read() {
        let text = "\u{feff}{\"id\": 1, \"text\": \"a\"}\n\n{\"id\": \"b\", \"said\": [{\"user\": \"x\"}, \
                    {\"system\": \"y\"}, {\"user\": \"z\"}], \"candidates\": [\"Q00003\", \"Q00002\"]}";
        let all: Vec<Request> = read_all(text).into_iter().map(Result::unwrap).collect();
        assert_eq!(all[0], Request::new("1", "a"));
        assert_eq!(all[1].flatten(), "x y z");
        let candidates = all[1].candidates.as_ref().unwrap();
        assert!(candidates.len() == 2 && candidates[0] < candidates[1]);
    }

    #[test]
    fn the_forms_of_collections_are_read() {
        let text =
            "query_id\tquery\nb\tfirst line\n{\"_id\": \"c\", \"text\": \"x\", \"metadata\": {}}\n";
        let all: Vec<Request> = read_all(text).into_iter().map(Result::unwrap).collect();
        assert_eq!(all, [Request::new("b", "first line"), Request::new("c", "x")]);
        let both = read_all("{\"_id\": \"c\", \"id\": \"d\", \"text\": \"x\"}");
        assert_eq!(both[0].as_ref().unwrap_err().found, "`_id` and `id`");
    }

    #[test]
    fn white_space_around_a_line_is_no_part_of_it_in_a_stream_and_in_a_file() {
        let lines = ["{\"id\": \"a\", \"text\": \"x\"}\u{b}", "\u{a0}b\tx y\u{b}", "\u{b}"];
        let text = lines.join("\n");
        let all: Vec<Request> = read_all(&text).into_iter().map(Result::unwrap).collect();
        assert_eq!(all, [Request::new("a", "x"), Request::new("b", "x y")]);
        let bytes = text.into_bytes().into();
        let input = clariq_files::FileContent { name: "r".to_owned(), bytes };
        let texts = clariq_collections::requests::texts_in(&input).unwrap();
        let expected =
            [("a", "x"), ("b", "x y")].map(|(id, said)| (id.to_owned(), said.to_owned()));
        assert_eq!(texts, HashMap::from(expected));
    }

    #[test]
    fn statements_are_for_systems_that_rank_them() {
        let line = "{\"id\": 1, \"text\": \"a\", \"statements\": [\"I am tall.\"]}";
        let own = Statements::Own(vec!["I am tall.".to_owned()]);
        assert_eq!(read(line, true)[0].as_ref().unwrap().statements, own);
        assert!(read(line, false)[0].as_ref().unwrap_err().expected.contains("no statements"));
        let empty = line.replace("I am tall.", " ");
        assert!(read(&empty, true)[0].as_ref().unwrap_err().found.contains("an empty one"));
    }

    #[test]
    fn a_repeated_id_is_refused_where_ids_must_be_unique() {
        // A number and its digits are the same id in a run.
        let text = "{\"id\": 1, \"text\": \"a\"}\n\n{\"id\": \"2\", \"text\": \"a\"}\n\
                    {\"id\": \"1\", \"text\": \"b\"}\n{\"id\": 3, \"text\": \"a\"}\n";
        assert!(read(text, false).iter().all(Result::is_ok));
        let all = read_by(text, false, true);
        assert_eq!(all.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, false, true]);
        let problem = all[2].as_ref().unwrap_err();
        assert_eq!(problem.at.to_string(), "r:4");
        assert!(problem.found.contains("`1`") && problem.found.contains("line 1"), "{problem}");
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
