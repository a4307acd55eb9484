//! Requests as JSON lines or as a table.

use crate::json::{self, Node, Parsed, Value};
use clariq_core::{Doc, Documents, Error, Problem, Request, Speaker, TopicId, Utterance, bail};
use clariq_files::{
    Input, MOST_OF_A_RUN, MOST_OF_A_TABLE, MOST_TOPICS, Sink, Source, read_strictly, shorten,
    strictly,
};
use std::borrow::Cow;
use std::collections::HashMap;

const FORM: &str = "a line is {\"id\": …, \"text\": …}, {\"id\": …, \"said\": [{\"user\": …}, …]}, or an \
                    id, a tab and a text";

const FORM_OF_TEXTS: &str = "a line is {\"id\": …, \"text\": …}, or an id, a tab and a text";

/// Finds a document by its id; nothing where what is ranked for a request is of no interest.
type Find<'f> = Option<&'f dyn Fn(&str) -> Option<Doc>>;

/// Reads requests in the order of their file; the first problem is the error.
pub(crate) fn read(source: &Source, documents: &dyn Documents) -> Result<Vec<Request>, Error> {
    let find = |id: &str| documents.find(id);
    read_strictly(source, MOST_OF_A_TABLE, |input, sink| parse(input, Some(&find), sink))
}

/// What the user said last in every request of a file, whatever it is to be ranked for it.
pub fn last_said_in(source: &Source) -> Result<HashMap<TopicId, String>, Error> {
    let requests = read_strictly(source, MOST_OF_A_RUN, |input, sink| parse(input, None, sink))?;
    Ok(requests.iter().map(|request| (request.id.as_str().into(), request.last_said())).collect())
}

/// The texts of a file in the form of requests, by their ids. A conversation in place of a text is an
/// error.
pub fn texts_in(input: &Input) -> Result<HashMap<String, String>, Error> {
    let requests = strictly(|sink| parse(input, Some(&|_| None), sink))?;
    let is_text =
        |request: &Request| matches!(&request.said[..], [said] if said.speaker == Speaker::User);
    if let Some(request) = requests.iter().find(|request| !is_text(request)) {
        let found = format!("a conversation, `{}`", shorten(request.id.as_str()));
        bail!(&*input.name, "a text for every id", found, FORM_OF_TEXTS);
    }
    let pair = |request: Request| (request.id.to_string(), request.last_said());
    Ok(requests.into_iter().map(pair).collect())
}

/// The keys of a request; the last are texts of its user, for systems that rank them.
const KEYS: [&str; 5] = ["id", "text", "said", "candidates", "statements"];

/// The request of a line of JSON, and the statements of its user, if there are any. Unlike in the
/// file of a collection, other keys are an error.
pub fn request_in(
    line: &str,
    find: &dyn Fn(&str) -> Option<Doc>,
) -> Result<(Request, Option<Vec<String>>), Problem> {
    let parsed = json::parse_unique(line).and_then(|mut node| {
        let mut statements = None;
        if let Value::Object(fields) = &mut node.value {
            fields.retain(|(_, node)| node.value != Value::Null);
            let at = fields.iter().position(|(key, _)| key == "statements");
            statements = at.map(|at| fields.remove(at).1);
        }
        let foreign = |(key, _): &&(Cow<str>, Node)| !KEYS.contains(&&**key);
        if let Some((key, node)) = node.object().and_then(|fields| fields.iter().find(foreign)) {
            let expected = format!("a key that is one of {}", KEYS.join(", "));
            return Err(node.fault(expected, format!("`{}`", shorten(key))));
        }
        let said = node.get("said");
        if said.is_some() == node.get("text").is_some() {
            let found = if said.is_some() { "both" } else { "neither" };
            return Err(node.fault("either `text` or `said`", found));
        }
        if let Some(said) = said {
            let several = |said: &&Node| said.object().is_some_and(|fields| fields.len() != 1);
            if let Some(several) = said.as_list("said")?.iter().find(several) {
                return Err(several.unlike("{\"user\": …} or {\"system\": …}"));
            }
        }
        let text = |node: &Node| Ok(node.as_text("statements")?.to_owned());
        let texts = |all: Node| all.as_list("statements")?.iter().map(text).collect();
        Ok((request(&node, Some(find))?, statements.map(texts).transpose()?))
    });
    parsed.map_err(|fault| fault.in_file("", FORM))
}

/// Reads what can be read of a file of requests: every problem goes to `sink`, and its request is
/// left out.
pub(crate) fn parse(input: &Input, find: Find, sink: Sink) -> Vec<Request> {
    let mut requests = Vec::new();
    let mut lines: HashMap<String, u64> = HashMap::new();
    json::for_each_line_as(input, parse_line, sink, |line, node, sink| {
        let request = request(&node, find).and_then(|request| {
            match lines.insert(request.id.to_string(), line) {
                None if lines.len() <= MOST_TOPICS => Ok(request),
                None => Err(node.fault(format!("at most {MOST_TOPICS} requests"), "more")),
                Some(first) => {
                    let found = format!("`{}`, which is on line {first} already", request.id);
                    let fault = node.fault("an id that no other request has", found);
                    Err(fault.hint("remove one of the two, or give it an id of its own"))
                }
            }
        });
        requests.extend(request.map_err(|fault| sink(fault.in_file(&input.name, FORM))));
    });
    requests
}

/// A line of JSON, or of a table: its id, a tab, and its text.
fn parse_line(line: u64, text: &str) -> Parsed<Node<'_>> {
    match text.split_once('\t') {
        Some((id, said)) if !text.starts_with('{') => {
            let node = |text: &str| Node { line, value: Value::Text(text.to_owned().into()) };
            let fields = vec![("id".into(), node(id)), ("text".into(), node(said))];
            Ok(Node { line, value: Value::Object(fields) })
        }
        _ => json::parse_text(line, text),
    }
}

/// A request as `clariq rank` reads it, with `_id` as good as `id`. Other keys, such as `metadata`,
/// are ignored.
fn request(node: &Node, find: Find) -> Parsed<Request> {
    let id = match node.get("_id") {
        Some(id) => id.as_id("_id")?,
        None => node.field("id")?.as_id("id")?,
    };
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err(node.fault("an id without blanks", format!("`{}`", shorten(&id))));
    }
    let said = match node.get("said") {
        Some(said) => said.as_list("said")?.iter().map(utterance).collect::<Parsed<Vec<_>>>()?,
        None => vec![Utterance::user(node.text_of("text")?)],
    };
    let mut request = Request { said, ..Request::new(&*id, "") };
    if request.opening().trim().is_empty() {
        return Err(node.fault("a request that says something", "an empty one"));
    }
    let Some(find) = find else { return Ok(request) };
    if let Some(statements) = node.get("statements") {
        let fault = statements.fault("a request without `statements`", "`statements`");
        let hint = "`clariq rank --requests FILE` takes them, with a system that answers, such as \
                    `ikat-bm25`";
        return Err(fault.hint(hint));
    }
    if let Some(candidates) = node.get("candidates") {
        let document = |node: &Node| {
            let id = node.as_id("candidates")?;
            find(&id).ok_or_else(|| node.unlike("a document of the collection"))
        };
        let ids = candidates.as_list("candidates")?;
        let mut docs = ids.iter().map(document).collect::<Parsed<Vec<Doc>>>()?;
        docs.sort_unstable();
        docs.dedup();
        request.candidates = Some(docs);
    }
    Ok(request)
}

fn utterance(node: &Node) -> Parsed<Utterance> {
    match (node.optional_text("user")?, node.optional_text("system")?) {
        (Some(text), None) => Ok(Utterance::user(text)),
        (None, Some(text)) => Ok(Utterance::system(text)),
        _ => Err(node.unlike("{\"user\": …} or {\"system\": …}")),
    }
}
