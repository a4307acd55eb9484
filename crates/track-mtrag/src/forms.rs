//! The requests of `retrieval_tasks`, which are texts: each utterance begins with its speaker, as in
//! `|user|: what did he do?`.

use crate::tasks::for_each_line;
use clariq_collections::documents::is_id;
use clariq_core::{Utterance, parse_json, problem, without_nan};
use clariq_files::{FileContent, Sink, shorten};
use serde::Deserialize;

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
    for_each_line(input, sink, |at, line, sink| {
        match parse_json::<FormLine>(&at, &without_nan(line)) {
            Ok(FormLine { id, text }) if is_id(&id) => requests.push((id, utterances(&text))),
            Ok(FormLine { id, .. }) => {
                let found = format!("`{}`", shorten(&id));
                sink(problem!(at, "an id without blanks", found, FORM));
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
