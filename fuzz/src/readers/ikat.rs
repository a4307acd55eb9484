//! Topics and submissions of iKAT: whatever is accepted can be used.

use super::NAME;
use clariq_collections::SystemClass;
use clariq_collections::validation::ValidationOptions;
use clariq_files::Source;
use clariq_track_ikat::run::Submission;
use clariq_track_ikat::validate::{MAX_WARNINGS, validate};
use clariq_track_ikat::{
    SAMPLE, TopicFile, Year, citation_judgements, read_topics, splits, statement_judgements,
};

/// The topics have utterances for every class, and labels. A run in the form of any year has a best
/// response for each turn, and a verdict.
pub fn ikat(bytes: &[u8]) {
    let source = Source::memory(NAME, bytes);
    let Ok(input) = source.read() else { return };
    let topics = TopicFile::parse(&input, &mut |problem| assert!(!problem.expected.is_empty()));
    for conversation in &topics.conversations {
        for index in 0..conversation.turns.len() {
            for class in [SystemClass::Automatic, SystemClass::Manual, SystemClass::OnlyResponse] {
                let said = conversation.utterances(index, class);
                assert_eq!(said.len(), 2 * index + 1);
                conversation.given_passages(index, class);
            }
        }
    }
    drop((citation_judgements(&topics), statement_judgements(&topics)));
    for year in [Year::Y2023, Year::Y2024, Year::Y2025] {
        let run = Submission::parse(&input, Some(year), &mut |problem| {
            assert!(!problem.expected.is_empty());
        });
        for turn in &run.turns {
            assert_eq!(turn.best_response().is_some(), !turn.responses.is_empty());
        }
    }
    let sample = read_topics(&SAMPLE, splits::TEST_2023).unwrap_or_else(|error| panic!("{error}"));
    let tokens = |text: &str| text.len();
    let options = ValidationOptions::new(&tokens, MAX_WARNINGS);
    for topics in [&sample, &topics] {
        drop(validate(&source, topics, &options));
    }
}
