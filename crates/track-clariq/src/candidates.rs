//! `top10k_docs_dict.pkl.tar.gz`: the documents that a search finds for each topic, as a TREC run of
//! candidates.

use super::read_dictionaries;
use clariq_collections::entries::Entries;
use clariq_collections::text_or_number::IdOrNumber;
use clariq_core::{Error, IoAction, parse_json};
use clariq_files::archive::{Archive, ExpectedContent};
use clariq_files::{Source, Target};
use serde::Deserialize;
use std::io::Write as _;
use std::ops::ControlFlow;

pub(super) const FORM: ExpectedContent = ExpectedContent {
    what: "documents of topics",
    hint: "they are `{topic: [document, …]}` or `{topic: {document: score}}`, written by Python's pickle",
};

/// The number of keys above the documents of a topic: its id.
pub(super) const DEPTH: usize = 1;

/// The documents of a topic.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a list of documents, best first, or their scores")]
enum TopicDocuments {
    Ranked(Vec<String>),
    Scored(Entries<f64>),
}

/// Writes the documents of every topic as a TREC run, which `--candidates` takes.
pub fn write_candidates(source: &Source, target: &Target) -> Result<(), Error> {
    let file = Archive::of_at_most(crate::MOST_OF_A_PICKLE, std::slice::from_ref(source), &FORM)?;
    let mut lines = Vec::new();
    read_dictionaries(&file, DEPTH, &mut |line| {
        let (topic, documents): (IdOrNumber, TopicDocuments) = parse_json(file.name(), line)
            .map_err(|problem| file.problem(&problem.expected, problem.found))?;
        let topic = topic.into_text();
        let documents = ranked(documents);
        for (index, document) in documents.iter().enumerate() {
            let score = documents.len() - index;
            let rank = index + 1;
            writeln!(lines, "{topic} Q0 {document} {rank} {score} top10k")
                .map_err(Error::io(IoAction::Write, "<candidates>"))?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    target.write(|out| out.write_all(&lines))
}

/// Documents best first; of equal scores, the first in the file.
fn ranked(documents: TopicDocuments) -> Vec<String> {
    match documents {
        TopicDocuments::Ranked(documents) => documents,
        TopicDocuments::Scored(Entries(mut scored)) => {
            scored.sort_by(|a, b| b.1.total_cmp(&a.1));
            scored.into_iter().map(|(document, _)| document).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_topics_become_a_run() {
        // pickle.dumps({8: ["d1", "d2"], "9": {"d3": 1.5, "d4": 2.5}}, 0)
        let pickle = b"(dI8\n(lVd1\naVd2\nasV9\n(dVd3\nF1.5\nsVd4\nF2.5\nss.";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("top10k.run");
        write_candidates(&Source::memory("x.pkl", *pickle), &Target::new(&path)).unwrap();
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            "8 Q0 d1 1 2 top10k\n8 Q0 d2 2 1 top10k\n9 Q0 d4 1 2 top10k\n9 Q0 d3 2 1 top10k\n"
        );
        let bad = Source::memory("x.pkl", *b"(dI8\nI7\ns.");
        let error = write_candidates(&bad, &Target::Stdout).unwrap_err().to_problem();
        assert!(error.expected.contains("a list of documents"), "{error}");
    }
}
