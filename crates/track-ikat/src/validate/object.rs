//! The rules of 2023 and 2024.

mod turns;

use super::{CheckedRun, Rejected, Rule, Violations, Warned, passage_not_in_the_collection};
use crate::run::{Response, SubmittedTurn};
use crate::topics::{IkatConversation, Year};
use clariq_collections::SubmittedAnswer;
use clariq_files::{quoted, shorten};
use turns::{
    conversation_of, other_number_of_conversations, other_number_of_turns,
    other_number_of_turns_in_a_conversation, turn_id_of_another_form, turn_id_of_no_integers,
    unknown_conversation, unknown_turn,
};

/// The official programs compare the first score of a list with this one.
const FIRST: f64 = 1e9;

pub(super) const RULES: &[Rule] = &[
    Rule { reaction: Warned, expected: "a run_name", hint: "name the run", find: no_run_name },
    Rule {
        reaction: Warned,
        expected: "a run_type",
        hint: "name the class of the system",
        find: no_run_type,
    },
    Rule {
        reaction: Warned,
        expected: "a run_type of automatic, manual or, in 2024, only_response",
        hint: "use one of these names",
        find: unknown_run_type,
    },
    Rule {
        reaction: Rejected,
        expected: "as many turns as in the topics",
        hint: "a run answers every turn of the topics once",
        find: other_number_of_turns,
    },
    Rule {
        reaction: Rejected,
        expected: "as many conversations as in the topics",
        hint: "a run answers every turn of the topics once",
        find: other_number_of_conversations,
    },
    Rule {
        reaction: Rejected,
        expected: "as many turns of each conversation as in the topics",
        hint: "a run answers every turn of the topics once",
        find: other_number_of_turns_in_a_conversation,
    },
    Rule {
        reaction: Rejected,
        expected: "a turn id `<conversation>_<turn>`",
        hint: "such as 9-1_3",
        find: turn_id_of_another_form,
    },
    Rule {
        reaction: Rejected,
        expected: "a turn id of two whole numbers, `<conversation>_<turn>`",
        hint: "the official validator of 2024 reads conversations as integers, such as 0_3, and fails \
               on topics that name them by texts",
        find: turn_id_of_no_integers,
    },
    Rule {
        reaction: Rejected,
        expected: "a conversation of the topics",
        hint: "a run only answers the turns of these topics: is it of another year?",
        find: unknown_conversation,
    },
    Rule {
        reaction: Rejected,
        expected: "a turn of the conversation, from 1",
        hint: "turns are numbered from 1",
        find: unknown_turn,
    },
    Rule {
        reaction: Warned,
        expected: "a rank",
        hint: "the best response has rank 1",
        find: no_rank,
    },
    Rule {
        reaction: Warned,
        expected: "a rank above 0",
        hint: "the best response has rank 1",
        find: rank_not_above_0,
    },
    Rule {
        reaction: Warned,
        expected: "the text of a response",
        hint: "write the text that the user reads",
        find: no_text,
    },
    Rule {
        reaction: Warned,
        expected: "scores of passages that do not rise",
        hint: "order passages by score",
        find: rising_scores_of_passages,
    },
    Rule {
        reaction: Warned,
        expected: "a passage id that begins with `clueweb22-`",
        hint: "the passages of the track are those of ClueWeb22",
        find: passage_of_another_collection,
    },
    Rule {
        reaction: Warned,
        expected: "a passage id `page:number` with one colon",
        hint: "such as clueweb22-en0004-50-00170:0",
        find: passage_id_of_another_form,
    },
    Rule {
        reaction: Warned,
        expected: "a passage of the collection",
        hint: "the list of --passages does not have it",
        find: passage_not_in_the_collection,
    },
    Rule {
        reaction: Warned,
        expected: "a passage that is used",
        hint: "set `used` for the passages of the response; otherwise the first five count",
        find: no_used_passage,
    },
    Rule {
        reaction: Warned,
        expected: "passages",
        hint: "give passage_provenance, best first",
        find: no_passages,
    },
    Rule {
        reaction: Warned,
        expected: "at most 1000 passages",
        hint: "leave out the last ones",
        find: too_many_passages,
    },
    Rule {
        reaction: Warned,
        expected: "statements",
        hint: "give ptkb_provenance, even if no statement seems to matter",
        find: no_statements,
    },
    Rule {
        reaction: Rejected,
        expected: "a statement of this user, from 1",
        hint: "statements are numbered from 1, as in the topics",
        find: unknown_statement,
    },
    Rule {
        reaction: Rejected,
        expected: "the text of the statement",
        hint: "give the text as it is in the topics",
        find: other_text_of_a_statement,
    },
    Rule {
        reaction: Warned,
        expected: "scores of statements that do not rise",
        hint: "order statements by score",
        find: rising_scores_of_statements,
    },
];

fn no_run_name(run: &CheckedRun, found: &mut Violations) {
    if run.submission.run_name.is_empty() {
        found.push((None, "an empty text".to_owned()));
    }
}

fn no_run_type(run: &CheckedRun, found: &mut Violations) {
    if run.submission.run_type.is_empty() {
        found.push((None, "an empty text".to_owned()));
    }
}

fn unknown_run_type(run: &CheckedRun, found: &mut Violations) {
    let run_type = run.submission.run_type.as_str();
    let is_known = match run_type {
        "automatic" | "manual" => true,
        "only_response" => run.submission.year == Year::Y2024,
        _ => false,
    };
    if !is_known {
        found.push((None, quoted(run_type)));
    }
}

fn in_turn(turn: &SubmittedTurn, value: &str) -> String {
    format!("`{}` in turn {}", shorten(value), turn.id)
}

fn none_in_turn(turn: &SubmittedTurn) -> (Option<u64>, String) {
    (None, format!("none in turn {}", turn.id))
}

fn no_rank(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        if response.rank == 0 {
            found.push((None, format!("none, or 0, in turn {}", turn.id)));
        }
    }
}

/// The official programs never remember the previous rank, so that every rank is compared with 0.
fn rank_not_above_0(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        if response.rank <= 0 {
            found.push((None, format!("{} in turn {}", response.rank, turn.id)));
        }
    }
}

fn no_text(run: &CheckedRun, found: &mut Violations) {
    let submission = run.submission;
    if submission.year == Year::Y2024 && submission.run_type == "only_response" {
        return;
    }
    for (turn, response) in run.responses() {
        if response.text.is_empty() {
            found.push(none_in_turn(turn));
        }
    }
}

/// Lists the scores that are above the one before.
fn rising<'a>(
    turn: &SubmittedTurn,
    scores: impl Iterator<Item = (&'a str, f64)>,
    found: &mut Violations,
) {
    let mut previous = FIRST;
    for (id, score) in scores {
        if score > previous {
            let id = shorten(id);
            found.push((None, format!("{score} after {previous} for `{id}` in turn {}", turn.id)));
        }
        previous = score;
    }
}

fn rising_scores_of_passages(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        let passages = response.passages.iter();
        rising(turn, passages.map(|passage| (passage.id.as_str(), passage.score)), found);
    }
}

fn passage_of_another_collection(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        for passage in &response.passages {
            if !passage.id.starts_with("clueweb22-") {
                found.push((None, in_turn(turn, &passage.id)));
            }
        }
    }
}

fn passage_id_of_another_form(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        for passage in &response.passages {
            if passage.id.matches(':').count() != 1 {
                found.push((None, in_turn(turn, &passage.id)));
            }
        }
    }
}

fn no_used_passage(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        if !response.passages.iter().any(|passage| passage.used) {
            found.push(none_in_turn(turn));
        }
    }
}

fn no_passages(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        if response.passages.is_empty() {
            found.push(none_in_turn(turn));
        }
    }
}

fn too_many_passages(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        if response.passages.len() > SubmittedAnswer::MOST_PASSAGES {
            found.push((None, format!("{} in turn {}", response.passages.len(), turn.id)));
        }
    }
}

fn no_statements(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        if response.statements.is_empty() {
            found.push((None, format!("none for a response in turn {}", turn.id)));
        }
    }
}

/// The text of a statement of 2023 in the topics.
fn known_text<'c>(conversation: &'c IkatConversation, id: &str) -> Option<&'c str> {
    let number: usize = id.parse().ok()?;
    if number.to_string() != id {
        return None;
    }
    conversation.statements.get(number.checked_sub(1)?).map(String::as_str)
}

/// The official program of 2024 lets the number 0 through.
fn unknown_statement(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        let Some(conversation) = conversation_of(run, turn) else { continue };
        let last = conversation.statements.len();
        for statement in &response.statements {
            let is_known = match run.submission.year {
                Year::Y2024 => statement.id.parse().is_ok_and(|number: usize| number <= last),
                _ => known_text(conversation, &statement.id).is_some(),
            };
            if !is_known {
                found.push((None, format!("{}, of {last}", in_turn(turn, &statement.id))));
            }
        }
    }
}

fn other_text_of_a_statement(run: &CheckedRun, found: &mut Violations) {
    if run.submission.year != Year::Y2023 {
        return;
    }
    for (turn, response) in run.responses() {
        let Some(conversation) = conversation_of(run, turn) else { continue };
        for statement in &response.statements {
            if let Some(known) = known_text(conversation, &statement.id)
                && known != statement.text
            {
                let text = in_turn(turn, &statement.text);
                found.push((None, format!("{text}, in the topics `{}`", shorten(known))));
            }
        }
    }
}

fn rising_scores_of_statements(run: &CheckedRun, found: &mut Violations) {
    if run.submission.year != Year::Y2023 {
        return;
    }
    for (turn, Response { statements, .. }) in run.responses() {
        let scores = statements.iter().map(|statement| (statement.id.as_str(), statement.score));
        rising(turn, scores, found);
    }
}
