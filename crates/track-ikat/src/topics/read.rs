//! Reads the three forms of topics into one.

use super::{IkatConversation, IkatTurn, TopicFile, Year};
use clariq_collections::entries::Entries;
use clariq_collections::text_or_number::IdOrNumber;
use clariq_core::{Problem, ProblemKind, RequestId, parse_json, problem};
use clariq_files::{FileContent, Sink, quoted, shorten};
use serde::Deserialize;
use std::collections::HashSet;

const FORM: &str =
    "topics are the JSON files that the track releases, such as 2023_test_topics.json";

const ONE_LIST: &str =
    "topics are one JSON list of conversations; `jq -s .` makes one of JSON lines";

/// A conversation of any year. Other fields are ignored.
#[derive(Deserialize)]
struct AnyConversation {
    number: IdOrNumber,
    title: Option<String>,
    ptkb: StatementsField,
    turns: Option<Vec<AnyTurn>>,
    /// The turns of 2025.
    responses: Option<Vec<AnyTurn>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "statements as a list of texts or as an object of numbers and texts")]
enum StatementsField {
    List(Vec<String>),
    Numbered(Entries<String>),
}

/// A turn of any year.
#[derive(Deserialize)]
struct AnyTurn {
    turn_id: IdOrNumber,
    /// 2025 has another name for it.
    #[serde(alias = "user_utterance")]
    utterance: String,
    resolved_utterance: Option<String>,
    response: Option<String>,
    /// The relevant statements, by number; in 2025 by text.
    #[serde(alias = "relevant_ptkbs")]
    ptkb_provenance: Option<Vec<IdOrNumber>>,
    #[serde(alias = "citations")]
    response_provenance: Option<Vec<String>>,
    sample_passage_ranking: Option<Vec<String>>,
}

impl AnyConversation {
    fn year(&self) -> Year {
        match self {
            Self { responses: Some(_), .. } => Year::Y2025,
            Self { number: IdOrNumber::Number(_), .. } => Year::Y2024,
            // The example of the guidelines of 2024 has numbers as in 2023.
            Self { turns: Some(turns), .. }
                if turns.iter().any(|turn| turn.sample_passage_ranking.is_some()) =>
            {
                Year::Y2024
            }
            _ => Year::Y2023,
        }
    }
}

pub(super) fn topics(input: &FileContent, sink: Sink) -> TopicFile {
    let mut topics =
        TopicFile { name: input.name.clone(), year: Year::Y2023, conversations: Vec::new() };
    let conversations: Vec<AnyConversation> = match parse_json(&*input.name, &input.bytes) {
        Ok(conversations) => conversations,
        Err(problem) => {
            let is_object = input.bytes.trim_ascii_start().first() == Some(&b'{');
            sink(problem.hint(if is_object { ONE_LIST } else { FORM }));
            return topics;
        }
    };
    if let Some(first) = conversations.first() {
        topics.year = first.year();
    } else {
        let problem = problem!(&*input.name, "at least one conversation", "an empty list", FORM);
        sink(problem.kind(ProblemKind::Empty));
    }
    let mut seen = HashSet::new();
    for conversation in conversations {
        let mut reader = TopicReader { file: &input.name, year: topics.year, warnings: Vec::new() };
        match reader.conversation(conversation, &mut seen) {
            Ok(conversation) => topics.conversations.push(conversation),
            Err(problem) => sink(problem),
        }
        for warning in reader.warnings {
            sink(warning.hint("nothing has to be done: this changes no score").warning());
        }
    }
    topics
}

struct TopicReader<'a> {
    file: &'a str,
    year: Year,
    /// Oddities of a conversation that change no figure.
    warnings: Vec<Problem>,
}

impl TopicReader<'_> {
    fn conversation(
        &mut self,
        conversation: AnyConversation,
        seen: &mut HashSet<String>,
    ) -> Result<IkatConversation, Problem> {
        let year = conversation.year();
        let number = conversation.number.into_text();
        if year != self.year {
            let expected = format!("a conversation in the form of {}, as the first one", self.year);
            let found = format!("one of {year}, `{}`", shorten(&number));
            let hint = "the years have different forms: keep them in files of their own";
            return Err(problem!(self.file, expected, found, hint));
        }
        // Ids of turns are `<conversation>_<turn>`.
        if number.is_empty()
            || number.contains(|c: char| c == '_' || c.is_whitespace() || c.is_control())
        {
            let expected = "a number of a conversation without blanks and without `_`";
            return Err(problem!(self.file, expected, (quoted(&number)), FORM));
        }
        if !seen.insert(number.clone()) {
            let hint = "remove one of the two, or give it a new number";
            let expected = "a number that no other conversation has";
            return Err(problem!(self.file, expected, "`{number}` again", hint));
        }
        let statements = match conversation.ptkb {
            StatementsField::List(statements) => statements,
            StatementsField::Numbered(statements) => {
                self.numbered_statements(&number, &statements)?
            }
        };
        let mut texts = HashSet::new();
        for statement in statements.iter().filter(|statement| !texts.insert(*statement)) {
            let found = format!("`{}` again in conversation {number}", shorten(statement));
            self.warnings.push(problem!(self.file, "statements that differ", found));
        }
        let turns = conversation.turns.or(conversation.responses);
        let Some(turns) = turns.filter(|turns| !turns.is_empty()) else {
            let found = format!("none in conversation {number}");
            return Err(problem!(self.file, "a list `turns` that is not empty", found, FORM));
        };
        let turns = self.turns(turns, &number, &statements)?;
        let title = conversation.title.unwrap_or_default();
        Ok(IkatConversation { number, title, statements, turns })
    }

    /// Statements by number, `"1"` to `"n"` in any order.
    fn numbered_statements(
        &self,
        conversation: &str,
        Entries(numbered): &Entries<String>,
    ) -> Result<Vec<String>, Problem> {
        let mut statements = vec![None; numbered.len()];
        for (key, text) in numbered {
            let index = key.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            if let Some(slot) = index.and_then(|index| statements.get_mut(index)) {
                *slot = Some(text.clone());
            }
        }
        // A number that is repeated, also as `1` and `01`, leaves another one without a text.
        let whole: Option<Vec<String>> = statements.into_iter().collect();
        whole.ok_or_else(|| {
            let keys: Vec<&str> = numbered.iter().map(|(key, _)| key.as_str()).collect();
            let expected = format!("statements with the numbers 1 to {}", numbered.len());
            let found = format!("{} in conversation {conversation}", shorten(&keys.join(", ")));
            let hint = "labels name statements by number: number them without gaps, each once";
            problem!(self.file, expected, found, hint)
        })
    }

    fn turns(
        &mut self,
        all: Vec<AnyTurn>,
        conversation: &str,
        statements: &[String],
    ) -> Result<Vec<IkatTurn>, Problem> {
        let mut turns: Vec<IkatTurn> = Vec::with_capacity(all.len());
        for turn in all {
            let turn = self.turn(turn, conversation, statements)?;
            let last = turns.last().map_or(0, |last| last.number);
            let found = format!("{} after {last} in conversation {conversation}", turn.number);
            if turn.number <= last {
                let hint = "the history of a turn is read from the order of the turns";
                return Err(problem!(self.file, "turn numbers that rise", found, hint));
            }
            if last.checked_add(1) != Some(turn.number) {
                self.warnings.push(problem!(self.file, "turn numbers without gaps", found));
            }
            turns.push(turn);
        }
        Ok(turns)
    }

    fn turn(
        &mut self,
        turn: AnyTurn,
        conversation: &str,
        statements: &[String],
    ) -> Result<IkatTurn, Problem> {
        let number = turn.turn_id.into_text();
        let Some(index) = number.parse().ok().filter(|&index: &u32| index > 0) else {
            let found = format!("`{}` in conversation {conversation}", shorten(&number));
            return Err(problem!(self.file, "a turn number from 1", found, FORM));
        };
        let id = format!("{conversation}_{index}");
        let resolved = turn.resolved_utterance.unwrap_or_default();
        for (name, text) in [("an utterance", &turn.utterance), ("a resolved utterance", &resolved)]
        {
            if text.trim().is_empty() {
                self.warnings.push(problem!(self.file, name, "nothing in turn {id}"));
            }
        }
        let relevant_statements = match turn.ptkb_provenance {
            Some(labels) => Some(self.relevant(labels, &id, statements)?),
            None => None,
        };
        Ok(IkatTurn {
            number: index,
            utterance: turn.utterance,
            resolved,
            response: turn.response.unwrap_or_default(),
            relevant_statements,
            citations: turn.response_provenance.map(|passages| self.citations(passages, &id)),
            sample_ranking: turn.sample_passage_ranking,
            id: RequestId::from(id.as_str()),
        })
    }

    /// The numbers of the labelled statements.
    fn relevant(
        &mut self,
        labels: Vec<IdOrNumber>,
        turn: &str,
        statements: &[String],
    ) -> Result<Vec<u32>, Problem> {
        let mut relevant = Vec::new();
        for label in labels {
            let number = match &label {
                IdOrNumber::Number(number) => usize::try_from(*number).ok(),
                // Of equal statements, the first.
                IdOrNumber::Id(text) => statements
                    .iter()
                    .position(|other| other == text)
                    .and_then(|place| place.checked_add(1))
                    .or_else(|| text.parse().ok()),
            };
            let Some(number) = number.filter(|number| (1..=statements.len()).contains(number))
            else {
                let expected = format!("one of the {} statements of this user", statements.len());
                let found = format!("`{}` in turn {turn}", shorten(&label.into_text()));
                let hint = "a label that names no statement counts against every system";
                return Err(problem!(self.file, expected, found, hint));
            };
            if relevant.contains(&(number as u32)) {
                let found = format!("statement {number} twice in turn {turn}");
                self.warnings.push(problem!(self.file, "every statement once", found));
            } else {
                relevant.push(number as u32);
            }
        }
        Ok(relevant)
    }

    fn citations(&mut self, cited: Vec<String>, turn: &str) -> Vec<String> {
        let mut passages: Vec<String> = Vec::new();
        for passage in cited {
            if passages.contains(&passage) {
                let found = format!("`{}` twice in turn {turn}", shorten(&passage));
                self.warnings.push(problem!(self.file, "every cited passage once", found));
            } else {
                passages.push(passage);
            }
        }
        passages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_files::Source;

    fn refused(text: &str) -> (String, String) {
        let error = TopicFile::read(&Source::memory("t.json", text.as_bytes())).unwrap_err();
        let problem = error.to_problem();
        (problem.to_string(), problem.hint.to_string())
    }

    #[test]
    fn statements_of_one_number_are_refused() {
        let (says, hint) = refused(
            r#"[{"number": "1-1", "ptkb": {"1": "a", "2": "b", "1": "c"},
                 "turns": [{"turn_id": 1, "utterance": "u"}]}]"#,
        );
        let expected = "t.json: expected statements with the numbers 1 to 3, found 1, 2, 1 in conversation 1-1";
        assert_eq!(says, expected);
        assert!(hint.ends_with("each once"), "{hint}");
    }

    #[test]
    fn topics_as_json_lines_are_refused_with_what_makes_a_list() {
        let (says, hint) = refused("{\"number\": \"1-1\"}\n{\"number\": \"1-2\"}\n");
        assert_eq!(says, "t.json:1: expected a list, found an object");
        assert_eq!(hint, ONE_LIST);
    }

    #[test]
    fn numbers_with_control_characters_are_refused() {
        let (says, _) = refused(
            r#"[{"number": "1\u0007", "ptkb": [], "turns": [{"turn_id": 1, "utterance": "u"}]}]"#,
        );
        assert!(says.contains("a number of a conversation"), "{says}");
    }
}
