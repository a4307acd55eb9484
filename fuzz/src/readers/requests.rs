//! Requests of documents of your own.

use clariq_collections::DataDir;
use clariq_core::{Error, Request};
use clariq_tracks::TRACKS;
use std::fs;

/// Requests have ids without blanks and texts that are not blank, and name documents that exist. The check reports errors if
/// and only if the reader refuses the file.
pub fn requests(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let documents =
        "{\"id\": \"a/1\", \"contents\": \"tea\"}\n{\"id\": \"b:2\", \"contents\": \"a car\"}\n";
    fs::write(folder.path().join("documents.jsonl"), documents).expect("written");
    fs::write(folder.path().join("requests.dev.jsonl"), bytes).expect("written");
    let data = DataDir::Folder(folder.path().to_owned());
    let own = TRACKS.open(&data).expect("documents");
    let read = own
        .requests(own.find_split("dev").expect("a split"), own.tasks()[0])
        .and_then(Iterator::collect::<Result<Vec<Request>, _>>);
    let report = TRACKS.check(&data).expect("a report");
    assert_eq!(read.is_err(), report.findings.has_errors());
    match read {
        Ok(requests) => {
            for request in requests {
                let id = request.id.as_str();
                assert!(!id.is_empty() && !id.contains(char::is_whitespace), "{id:?}");
                assert!(!request.opening().trim().is_empty());
                let docs = request.candidates.unwrap_or_default();
                assert!(docs.iter().all(|doc| doc.0 < 2) && docs.is_sorted());
            }
        }
        Err(Error::Problem(problem)) => assert!(!problem.hint.is_empty(), "{problem}"),
        Err(error) => assert!(matches!(error, Error::Problem(_)), "{error}"),
    }
}
