//! Resolved utterances of all four years, of which conversational encoders learn.

use super::topics::{Topics, parse_resolved};
use crate::{CheckReport, ResolvedTurn};
use clariq_core::{Error, ProblemKind, problem};
use clariq_files::{Input, Sink, Source};

/// The topics of each year with what was answered, as far as the track released it; of 2022 the
/// tree, in which every turn is once.
const TOPICS: [(u16, &str); 4] = [
    (2019, "2019_evaluation_topics_v1.0.json"),
    (2020, "2020_manual_evaluation_topics_v1.0.json"),
    (2021, "2021_manual_evaluation_topics_v1.0.json"),
    (2022, "2022_evaluation_topics_tree_v1.0.json"),
];
/// 2019 has its resolved utterances in a file of their own.
pub(super) const RESOLVED_2019: &str = "2019_evaluation_topics_annotated_resolved_v1.0.tsv";

/// The names of all files that resolved utterances are read from.
pub(crate) fn training_files() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|(_, name)| *name).chain([RESOLVED_2019])
}

/// Reads the resolved utterances of all years, turns in file order. `find` finds a file by its
/// name, and `location` is where it looks.
///
/// # Errors
///
/// A file that is not there, because fewer examples would make another model, or that cannot be
/// read.
pub(crate) fn resolved_turns(
    location: &str,
    find: impl Fn(&str) -> Option<Source>,
) -> Result<Vec<ResolvedTurn>, Error> {
    let require = |name: &str| {
        find(name).ok_or_else(|| {
            let names = training_files().collect::<Vec<_>>().join(", ");
            problem!(
                location,
                "`{name}`, of which a conversational encoder learns",
                "nothing",
                "put the files of TREC CAsT into the data folder, or into `cast` below it: {names}; \
                 configs/README.md says where they are released"
            )
            .kind(ProblemKind::MissingFile)
        })
    };
    let mut turns = Vec::new();
    for (year, name) in TOPICS {
        let mut topics = Topics::read(&require(name)?)?;
        if year == 2019 {
            topics.add_resolved(&require(RESOLVED_2019)?)?;
        }
        add_turns(&topics, year, &mut turns);
    }
    Ok(turns)
}

/// Reads a file of topics or of resolved utterances, whose problems become findings of a report.
pub(crate) fn check_file(
    report: &mut CheckReport,
    name: &str,
    source: Option<Source>,
) -> Result<(), Error> {
    let parse = |input: &Input, sink: Sink| match name {
        RESOLVED_2019 => drop(parse_resolved(input, sink)),
        _ => drop(Topics::parse(input, sink)),
    };
    report.read(name, source, parse).map(drop)
}

fn add_turns(topics: &Topics, year: u16, turns: &mut Vec<ResolvedTurn>) {
    for (conversation, index) in topics.user_turns() {
        let turn = &conversation.turns[index];
        let Some(resolved) = &turn.resolved else { continue };
        let resolved = resolved.trim();
        if resolved.is_empty() {
            continue;
        }
        turns.push(ResolvedTurn {
            id: format!("{year}/{}", turn.id),
            conversation: format!("{year}/{}", conversation.number),
            said: conversation.said(index),
            resolved: resolved.to_owned(),
        });
    }
}
