//! Requests as JSON lines or as a table.

use crate::NeedLabel;
use crate::columns::{IdTextTable, begins_as_json_object};
use crate::documents::is_id;
use crate::keys::{Object, id_of, text_of};
use crate::text_or_number::{IdOrNumber, TextOrNumber};
use clariq_core::{
    Doc, Documents, Error, Location, Problem, ProblemKind, Request, RequestId, Speaker, Utterance,
    bail, parse_python_json, problem, similar,
};
use clariq_files::columns::Role;
use clariq_files::{
    FileContent, MOST_LINES, MOST_OF_A_RUN, MOST_OF_A_TABLE, Sink, Source, has_few_lines, is_blank,
    not_utf8, quoted, read_strictly, shorten, strictly, until_too_many_errors,
};
use serde::Deserialize;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The maximum number of requests in a file; MS MARCO's training set has fewer.
const MOST_REQUESTS: usize = 1 << 20;

const FORM: &str = "a line is {\"id\": …, \"text\": …}, {\"id\": …, \"said\": [{\"user\": …}, …]}, or an \
                    id, a tab and a text; a table or CSV may name its columns in the first line";

/// Whole numbers below this are exact in double precision.
const WHOLE: f64 = 9e15;

const LABELS: &str = "`need` is a number or a name, `answer` a text";

const FORM_OF_TEXTS: &str = "a line is {\"id\": …, \"text\": …}, or an id, a tab and a text";

/// Finds a candidate by its id; `None` ignores candidates and statements.
type FindDocument<'f> = Option<&'f dyn Fn(&str) -> Option<Doc>>;

/// Reads requests in the order of their file; the first problem is the error.
pub(crate) fn read(source: &Source, documents: &dyn Documents) -> Result<Vec<Request>, Error> {
    let find = |id: &str| documents.find(id);
    read_strictly(source, MOST_OF_A_TABLE, |input, sink| parse(input, Some(&find), sink))
}

/// A line without white space around it, but for the tabs of a table, as a stream's lines are read.
fn trim(line: &[u8]) -> &[u8] {
    str::from_utf8(line).map_or(line.trim_ascii(), |text| text.trim_matches(is_blank).as_bytes())
}

/// The user's last utterance of every request of a file.
pub fn last_said_in(source: &Source) -> Result<HashMap<RequestId, String>, Error> {
    let requests = read_strictly(source, MOST_OF_A_RUN, |input, sink| parse(input, None, sink))?;
    Ok(requests.into_iter().map(|request| (request.id.clone(), request.last_said())).collect())
}

/// Reads texts by their ids from a file in the form of requests. A conversation in place of a text is
/// an error.
pub fn texts_in(input: &FileContent) -> Result<HashMap<String, String>, Error> {
    let requests = strictly(|sink| parse(input, Some(&|_| None), sink))?;
    let is_text =
        |request: &Request| matches!(&request.said[..], [said] if said.speaker == Speaker::User);
    if let Some(request) = requests.iter().find(|request| !is_text(request)) {
        let found = format!("a conversation, `{}`", shorten(request.id.as_str()));
        bail!(&*input.name, "a text for every id", found, FORM_OF_TEXTS);
    }
    Ok(requests.into_iter().map(|request| (request.id.to_string(), request.last_said())).collect())
}

/// The labels of a request, which systems do not see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestLabels {
    pub(crate) id: String,
    pub(crate) need: Option<NeedLabel>,
    pub(crate) answer: Option<String>,
}

#[derive(Deserialize)]
struct LabelKeys {
    need: Option<TextOrNumber>,
    answer: Option<String>,
}

/// Reads the labels of the requests of a file that have any; the first problem is the error.
pub(crate) fn labels(source: &Source) -> Result<Vec<RequestLabels>, Error> {
    read_strictly(source, MOST_OF_A_TABLE, parse_labels)
}

/// Reads the labels of the requests of a file that have any. Rows of a table have none. Every problem
/// goes to `sink`.
pub(crate) fn parse_labels(input: &FileContent, sink: Sink) -> Vec<RequestLabels> {
    let mut labels = Vec::new();
    let lines = input.bytes.split(|&byte| byte == b'\n').map(trim);
    for (number, line) in (1..).zip(lines).filter(|(_, line)| begins_as_json_object(line)) {
        match labels_of_line(line, &Location::line(&*input.name, number)) {
            Ok(of_request) => labels.extend(of_request),
            Err(problem) => sink(*problem),
        }
    }
    labels
}

fn labels_of_line(line: &[u8], at: &Location) -> Result<Option<RequestLabels>, Box<Problem>> {
    let LabelKeys { need, answer } =
        parse_python_json(at, line).map_err(|problem| problem.hint(LABELS))?;
    let need = need.map(|need| need_label(need, at)).transpose()?;
    if need.is_none() && answer.is_none() {
        return Ok(None);
    }
    let object = Object::parse(at, line).map_err(|problem| problem.hint(FORM))?;
    let id = object.find(at, Role::RequestId)?.map(|key| id_of(at, key)).transpose();
    let id = id.map_err(|problem| problem.hint(FORM))?;
    Ok(id.map(|id| RequestLabels { id, need, answer }))
}

/// A label of the need. As 1 needs no clarification, labels of 0 and 1 are those of another scale, by
/// which no request would need any.
fn need_label(need: TextOrNumber, at: &Location) -> Result<NeedLabel, Box<Problem>> {
    let label = match need {
        TextOrNumber::Whole(number) => NeedLabel::Number(number),
        // Frames of pandas have whole numbers as `3.0` beside missing ones.
        TextOrNumber::Float(number) if number.fract() == 0.0 && number.abs() < WHOLE => {
            NeedLabel::Number(number as i64)
        }
        TextOrNumber::Text(name) => NeedLabel::Name(name),
        TextOrNumber::Float(_) | TextOrNumber::Large(_) => {
            return Err(problem!(
                at,
                "a whole number or a name at `need`",
                "another number",
                LABELS
            )
            .into());
        }
    };
    let is_below_1 = match &label {
        NeedLabel::Number(number) => *number < 1,
        NeedLabel::Name(name) => name.parse::<f64>().is_ok_and(|number| number < 1.0),
    };
    if is_below_1 {
        let hint = "1 needs no clarification, and numbers from 2 on do: write 1 and 2 in place of 0 and \
                    1, or names such as `clear` and `vague`";
        let expected = "a number of at least 1 or a name at `need`";
        return Err(problem!(at, expected, (format!("`{label}`")), hint).into());
    }
    Ok(label)
}

/// A line of a file of requests.
struct AnyRequest {
    id: String,
    said: Vec<Utterance>,
    own: OwnKeys,
}

/// The keys of requests that no other form has. An id and a text are found by their roles, and all other
/// keys are ignored.
#[derive(Default, Deserialize)]
struct OwnKeys {
    said: Option<Vec<UtteranceObject>>,
    candidates: Option<Vec<IdOrNumber>>,
    /// Texts of the user, for systems that rank them.
    statements: Option<Vec<String>>,
}

/// The keys that change what is ranked: a key that is spelt nearly so is not ignored.
const THAT_CHANGE_RANKINGS: [&str; 2] = ["candidates", "statements"];

/// `{"user": …}` or `{"system": …}`.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum UtteranceObject {
    User(String),
    System(String),
}

/// Parses a line of JSON or of a table: a request, and the statements of its user, if there are any.
pub fn request_in(
    table: &IdTextTable,
    line: &str,
    find: &dyn Fn(&str) -> Option<Doc>,
) -> Result<(Request, Option<Vec<String>>), Problem> {
    let at = Location::line("", 1);
    let mut any = parse_line(table, line.as_bytes(), &at)?;
    let statements = any.own.statements.take();
    Ok((request(any, Some(find), &at)?, statements))
}

/// Reads the valid requests of a file. Every problem goes to `sink`, and its request is left out.
pub(crate) fn parse(input: &FileContent, find: FindDocument, sink: Sink) -> Vec<Request> {
    let mut requests = Vec::new();
    if !has_few_lines(input, MOST_LINES, sink) {
        return requests;
    }
    let mut first_lines: HashMap<String, u64> = HashMap::new();
    let mut lines = (1..).zip(input.bytes.split(|&byte| byte == b'\n').map(trim));
    let mut table = IdTextTable::of_requests();
    until_too_many_errors(&input.name, sink, |sink| {
        let Some((number, line)) = lines.next() else { return ControlFlow::Break(()) };
        if line.trim_ascii().is_empty() {
            return ControlFlow::Continue(());
        }
        let at = Location::line(&*input.name, number);
        if let Ok(text) = str::from_utf8(line) {
            match table.begin(&at, text) {
                Ok(false) => {}
                Ok(true) => return ControlFlow::Continue(()),
                Err(problem) => {
                    sink(*problem);
                    return ControlFlow::Continue(());
                }
            }
        }
        match parse_line(&table, line, &at).and_then(|any| request(any, find, &at)) {
            Ok(request) => {
                if let Some(first) = first_lines.get(request.id.as_str()) {
                    let found = format!("`{}`, which is on line {first} already", request.id);
                    let hint = "remove one of the two, or give it an id of its own";
                    sink(problem!(at, "an id that no other request has", found, hint));
                } else if first_lines.len() == MOST_REQUESTS {
                    sink(problem!(at, "at most {MOST_REQUESTS} requests", "more", FORM));
                } else {
                    first_lines.insert(request.id.to_string(), number);
                    requests.push(request);
                }
            }
            Err(problem) => sink(problem),
        }
        ControlFlow::Continue(())
    });
    if input.bytes.trim_ascii().is_empty() {
        let expected = "lines with requests";
        let problem = problem!((&*input.name, 1), expected, "nothing", FORM);
        sink(problem.kind(ProblemKind::Empty));
    }
    requests
}

/// A line of JSON, or of a table.
fn parse_line(table: &IdTextTable, line: &[u8], at: &Location) -> Result<AnyRequest, Problem> {
    if begins_as_json_object(line) && line.trim_ascii() != b"{" {
        return parse_object(line, at).map_err(|problem| {
            if problem.hint.is_empty() { problem.hint(FORM) } else { *problem }
        });
    }
    let text = str::from_utf8(line).map_err(|_| not_utf8(at, "request", line))?;
    let Some((id, said)) = table.row(at, text).map_err(|problem| *problem)? else {
        return Err(of_another_form(at, text));
    };
    let said = vec![Utterance::user(said)];
    Ok(AnyRequest { id, said, own: OwnKeys::default() })
}

/// The problem of a line that is neither an object nor a row of a table: topics have many forms.
fn of_another_form(at: &Location, line: &str) -> Problem {
    let found = match line.trim_start().chars().next() {
        Some('<') => "tags, as topics of TREC and XML have them",
        Some('[') => "a JSON list",
        Some('{') => "an object over several lines",
        _ => &quoted(line),
    };
    problem!(at, "a JSON object, or an id, a tab and a text", found, FORM)
}

fn parse_object(line: &[u8], at: &Location) -> Result<AnyRequest, Box<Problem>> {
    let object = Object::parse(at, line)?;
    for key in object.keys().filter(|key| !THAT_CHANGE_RANKINGS.contains(key)) {
        if let Some(meant) = similar(key, THAT_CHANGE_RANKINGS) {
            let hint = "other keys are ignored, but this one may be meant to change the ranking";
            return Err(Box::new(problem!(at, "a key `{meant}`", "`{key}`", hint)));
        }
    }
    let own: OwnKeys = parse_python_json(at, line)?;
    let text = match object.find(at, Role::Text)? {
        None => object.find(at, Role::Title)?,
        text => text,
    };
    let Some(id) = object.find(at, Role::RequestId)? else {
        let found = format!("a request without it{}", object.described());
        return Err(Box::new(problem!(at, "a key `id`", found)));
    };
    let said = match (&own.said, text) {
        (Some(_), Some((key, _))) => {
            let hint = "leave the one that is meant";
            return Err(Box::new(problem!(
                at,
                "one key for the words",
                "`said` and `{key}`",
                hint
            )));
        }
        (Some(said), None) => said.iter().map(Utterance::from).collect(),
        (None, Some(text)) => vec![Utterance::user(text_of(at, text)?)],
        (None, None) => {
            let found = format!("a request without them{}", object.described());
            return Err(Box::new(problem!(at, "a key `text` or `said`", found)));
        }
    };
    Ok(AnyRequest { id: id_of(at, id)?, said, own })
}

fn request(any: AnyRequest, find: FindDocument, at: &Location) -> Result<Request, Problem> {
    let AnyRequest { id, said, own } = any;
    if !is_id(&id) {
        return Err(problem!(at, "an id without blanks", (quoted(&id)), FORM));
    }
    let mut request = Request { said: said.into(), ..Request::new(&*id, "") };
    if request.opening().trim().is_empty() {
        return Err(problem!(at, "a request that is not empty", "an empty one", FORM));
    }
    let Some(find) = find else { return Ok(request) };
    if own.statements.is_some() {
        let hint = "they are taken with a file of requests, by a system that answers";
        return Err(problem!(at, "a request without `statements`", "`statements`", hint));
    }
    if let Some(candidates) = own.candidates {
        let mut docs = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let id = candidate.into_text();
            let Some(doc) = find(&id) else {
                return Err(problem!(at, "a document of the collection", (quoted(&id)), FORM));
            };
            docs.push(doc);
        }
        docs.sort_unstable();
        docs.dedup();
        request.candidates = Some(docs);
    }
    Ok(request)
}

impl From<&UtteranceObject> for Utterance {
    fn from(said: &UtteranceObject) -> Self {
        match said {
            UtteranceObject::User(text) => Self::user(text.as_str()),
            UtteranceObject::System(text) => Self::system(text.as_str()),
        }
    }
}
