//! The requests of `retrieval_tasks`, which are texts: each utterance begins with its speaker, as in
//! `|user|: what did he do?`.

use crate::ids::key;
use clariq_collections::documents::is_id;
use clariq_core::{Utterance, parse_python_json, problem};
use clariq_files::{FileContent, Sink, for_each_filled_line, quoted};
use serde::Deserialize;
use std::collections::HashMap;

const FORM: &str = "a line is {\"_id\": …, \"text\": \"|user|: …\"}";

#[derive(Deserialize)]
struct FormLine {
    #[serde(rename = "_id", alias = "id")]
    id: String,
    text: String,
}

/// Reads the ids of requests and what was said.
pub(crate) fn parse(input: &FileContent, sink: Sink) -> Vec<(String, Vec<Utterance>)> {
    let mut requests = Vec::new();
    let mut texts: HashMap<String, String> = HashMap::new();
    for_each_filled_line(input, sink, |at, line, sink| {
        match parse_python_json::<FormLine>(at, line) {
            Ok(FormLine { id, text }) if is_id(&id) => match texts.get(&key(&id)) {
                Some(first) if *first == text => {}
                Some(_) => {
                    let found = format!("`{id}` with another one before");
                    sink(problem!(at, "one text for every id", found, FORM));
                }
                None => {
                    texts.insert(key(&id), text.clone());
                    requests.push((id, utterances(&text)));
                }
            },
            Ok(FormLine { id, .. }) => {
                sink(problem!(at, "an id without blanks", (quoted(&id)), FORM));
            }
            Err(problem) => sink(problem.hint(FORM)),
        }
    });
    requests
}

/// The utterances of a text. A line without a speaker continues the utterance before it.
fn utterances(text: &str) -> Vec<Utterance> {
    let mut said: Vec<Utterance> = Vec::new();
    for line in text.split('\n') {
        if let Some(text) = line.strip_prefix("|user|:") {
            said.push(Utterance::user(text.trim_start()));
        } else if let Some(text) = line.strip_prefix("|agent|:") {
            said.push(Utterance::system(text.trim_start()));
        } else if let Some(last) = said.last_mut() {
            last.text.push('\n');
            last.text.push_str(line);
        } else {
            said.push(Utterance::user(line));
        }
    }
    for utterance in &mut said {
        utterance.text.truncate(utterance.text.trim_end().len());
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_text() {
        let line = |id: &str, text: &str| format!("{{\"_id\": \"{id}\", \"text\": \"{text}\"}}\n");
        let read = |text: String| {
            let input = FileContent { name: "f".to_owned(), bytes: text.into_bytes().into() };
            let mut problems = Vec::new();
            let requests = parse(&input, &mut |problem| problems.push(problem));
            (requests.len(), problems.into_iter().map(|problem| problem.found).collect::<Vec<_>>())
        };
        assert_eq!(read(line("a::1", "x") + &line("a<::>1", "x")), (1, vec![]));
        let found = vec!["`a<::>1` with another one before".to_owned()];
        assert_eq!(read(line("a::1", "x") + &line("a<::>1", "y")), (1, found));
    }

    #[test]
    fn speakers_are_no_words() {
        let text = "|user|: a question\nof two lines\n|agent|: an answer\n|user|: |user| again ";
        assert_eq!(
            utterances(text),
            [
                Utterance::user("a question\nof two lines"),
                Utterance::system("an answer"),
                Utterance::user("|user| again"),
            ]
        );
        assert_eq!(utterances("no speaker"), [Utterance::user("no speaker")]);
    }
}
