//! Requests as JSON lines or as a table.

use crate::NeedLabel;
use crate::columns::{IdTextTable, begins_as_json_object};
use crate::documents::{is_id, only_one};
use crate::text_or_number::IdOrNumber;
use clariq_core::{
    Doc, Documents, Error, Location, Problem, ProblemKind, Request, RequestId, Speaker, Utterance,
    bail, parse_python_json, problem,
};
use clariq_files::{
    FileContent, MOST_LINES, MOST_OF_A_RUN, MOST_OF_A_TABLE, Sink, Source, has_few_lines, is_blank,
    not_utf8, read_strictly, shorten, strictly, until_too_many_errors,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The maximum number of requests in a file; MS MARCO's training set has fewer.
const MOST_REQUESTS: usize = 1 << 20;

const FORM: &str = "a line is {\"id\": …, \"text\": …}, {\"id\": …, \"said\": [{\"user\": …}, …]}, or an \
                    id, a tab and a text";

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
    id: Option<IdOrNumber>,
    #[serde(rename = "_id")]
    beir_id: Option<IdOrNumber>,
    qid: Option<IdOrNumber>,
    query_id: Option<IdOrNumber>,
    need: Option<IdOrNumber>,
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
    let LabelKeys { id, beir_id, qid, query_id, need, answer } =
        parse_python_json(at, line).map_err(|problem| problem.hint(LABELS))?;
    let need = need.map(|need| need_label(need, at)).transpose()?;
    let id = beir_id.or(id).or(qid).or(query_id);
    let id = id.filter(|_| need.is_some() || answer.is_some());
    Ok(id.map(|id| RequestLabels { id: id.into_text(), need, answer }))
}

/// A label of the need. As 1 needs no clarification, labels of 0 and 1 are those of another scale, by
/// which no request would need any.
fn need_label(need: IdOrNumber, at: &Location) -> Result<NeedLabel, Box<Problem>> {
    let label = match need {
        IdOrNumber::Number(number) => NeedLabel::Number(number),
        IdOrNumber::Id(name) => NeedLabel::Name(name),
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

/// A request of a file. Other keys, such as `metadata`, are ignored.
#[derive(Default, Deserialize)]
struct AnyRequest {
    id: Option<IdOrNumber>,
    /// BEIR's name for it.
    #[serde(rename = "_id")]
    beir_id: Option<IdOrNumber>,
    /// The names that `PyTerrier` and `ir_datasets` have for it.
    qid: Option<IdOrNumber>,
    query_id: Option<IdOrNumber>,
    text: Option<String>,
    /// The text, in the same libraries.
    query: Option<String>,
    said: Option<Vec<UtteranceObject>>,
    candidates: Option<Vec<IdOrNumber>>,
    /// Texts of the user, for systems that rank them.
    statements: Option<Vec<String>>,
}

/// A request of `clariq rank`, which refuses keys that are not known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestLine {
    id: Option<IdOrNumber>,
    #[serde(rename = "_id")]
    beir_id: Option<IdOrNumber>,
    qid: Option<IdOrNumber>,
    query_id: Option<IdOrNumber>,
    #[serde(rename = "metadata")]
    _metadata: Option<IgnoredAny>,
    text: Option<String>,
    query: Option<String>,
    said: Option<Vec<UtteranceObject>>,
    candidates: Option<Vec<IdOrNumber>>,
    statements: Option<Vec<String>>,
}

/// `{"user": …}` or `{"system": …}`.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum UtteranceObject {
    User(String),
    System(String),
}

/// Parses a line of JSON or of a table: a request, and the statements of its user, if there are any.
/// Unlike in the file of a collection, other keys are an error.
pub fn request_in(
    table: &IdTextTable,
    line: &str,
    find: &dyn Fn(&str) -> Option<Doc>,
) -> Result<(Request, Option<Vec<String>>), Problem> {
    let at = Location::line("", 1);
    if line.contains('\t') && !begins_as_json_object(line.as_bytes()) {
        return Ok((request(parse_line(table, line.as_bytes(), &at)?, Some(find), &at)?, None));
    }
    if !line.trim_start().starts_with('{') {
        let found = format!("`{}`", shorten(line));
        return Err(problem!(at, "a JSON object, or an id, a tab and a text", found, FORM));
    }
    let line: RequestLine =
        parse_python_json(&at, line.as_bytes()).map_err(|problem| problem.hint(FORM))?;
    let RequestLine {
        id, beir_id, qid, query_id, text, query, said, candidates, statements, ..
    } = line;
    only_one(&at, "text", &[("text", text.is_some()), ("query", query.is_some())])
        .map_err(|problem| *problem)?;
    let text = text.or(query);
    if said.is_some() == text.is_some() {
        let found = if said.is_some() { "both" } else { "neither" };
        return Err(problem!(at, "either `text` or `said`", found, FORM));
    }
    let any =
        AnyRequest { id, beir_id, qid, query_id, text, said, candidates, ..AnyRequest::default() };
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
    let mut table = IdTextTable::default();
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
    if begins_as_json_object(line) {
        return parse_python_json(at, line).map_err(|problem| problem.hint(FORM));
    }
    let text = str::from_utf8(line).map_err(|_| not_utf8(at, "request", line))?;
    let Some((id, said)) = table.row(at, text).map_err(|problem| *problem)? else {
        let found = format!("`{}`", shorten(text));
        return Err(problem!(at, "a JSON object, or an id, a tab and a text", found, FORM));
    };
    Ok(AnyRequest {
        id: Some(IdOrNumber::Id(id.to_owned())),
        text: Some(said),
        ..AnyRequest::default()
    })
}

fn request(any: AnyRequest, find: FindDocument, at: &Location) -> Result<Request, Problem> {
    only_one(at, "id", &[("id", any.id.is_some()), ("_id", any.beir_id.is_some())])
        .map_err(|problem| *problem)?;
    only_one(at, "words", &[("said", any.said.is_some()), ("text", any.text.is_some())])
        .map_err(|problem| *problem)?;
    let mut id = any.beir_id.or(any.id);
    if id.is_none() {
        let others = [("qid", any.qid.is_some()), ("query_id", any.query_id.is_some())];
        only_one(at, "id", &others).map_err(|problem| *problem)?;
        id = any.qid.or(any.query_id);
    }
    let Some(id) = id else {
        return Err(problem!(at, "a key `id`", "a request without it, or `null` there", FORM));
    };
    let id = id.into_text();
    if !is_id(&id) {
        let found = format!("`{}`", shorten(&id));
        return Err(problem!(at, "an id without blanks", found, FORM));
    }
    let said = match (any.said, any.text.or(any.query)) {
        (Some(said), _) => said.into_iter().map(Utterance::from).collect(),
        (None, Some(text)) => vec![Utterance::user(text)].into(),
        (None, None) => {
            return Err(problem!(
                at,
                "a key `text` or `said`",
                "a request without them, or `null` there",
                FORM
            ));
        }
    };
    let mut request = Request { said, ..Request::new(&*id, "") };
    if request.opening().trim().is_empty() {
        return Err(problem!(at, "a request that is not empty", "an empty one", FORM));
    }
    let Some(find) = find else { return Ok(request) };
    if any.statements.is_some() {
        let hint = "`clariq rank --requests FILE` takes them, with a system that answers, such as \
                    `ikat-bm25`";
        return Err(problem!(at, "a request without `statements`", "`statements`", hint));
    }
    if let Some(candidates) = any.candidates {
        let mut docs = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let id = candidate.into_text();
            let Some(doc) = find(&id) else {
                let found = format!("`{}`", shorten(&id));
                return Err(problem!(at, "a document of the collection", found, FORM));
            };
            docs.push(doc);
        }
        docs.sort_unstable();
        docs.dedup();
        request.candidates = Some(docs);
    }
    Ok(request)
}

impl From<UtteranceObject> for Utterance {
    fn from(said: UtteranceObject) -> Self {
        match said {
            UtteranceObject::User(text) => Self::user(text),
            UtteranceObject::System(text) => Self::system(text),
        }
    }
}
