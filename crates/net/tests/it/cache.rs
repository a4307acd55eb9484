//! The cache has answers of one model, and tells if it cannot keep them.

use crate::models::{ask, changing, chat_config, opened};
use crate::stub::{Stub, dialects};
use crate::{Notes, parts, requests, session};
use clariq_core::Checksum;
use clariq_net::CallOptions;
use serde_json::json;

#[test]
fn the_cache_never_serves_the_answers_of_another_model() {
    let folder = tempfile::tempdir().unwrap();
    for lists in [false, true] {
        let (stub, model) = changing(lists);
        let config = chat_config(&stub, json!({ "model": "default" }));
        let session = || {
            let registry = session(CallOptions::default());
            let notes = Notes::default();
            let text = ask(&*opened(&config, &registry, folder.path(), &notes)).text;
            let told = notes.0.into_inner().unwrap();
            (text, [told, registry.calls().take_notes()].concat())
        };
        assert_eq!(session(), ("I am one".to_owned(), Vec::new()));
        assert_eq!(session(), ("I am one".to_owned(), Vec::new()));
        *model.lock().unwrap() = "two";
        let (text, notes) = session();
        assert_eq!(text, "I am two");
        let expected = "note: the server of `far` has the model `two`, and had `one`: answers of that \
                        one are not used";
        assert_eq!(notes, [expected]);
        *model.lock().unwrap() = "one";
        let before = stub.received().len();
        assert_eq!(session().0, "I am one");
        let learnt = usize::from(!lists);
        assert_eq!(stub.received().len(), before + learnt, "a call where the name is not listed");
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_told_and_so_is_what_it_costs() {
    let folder = tempfile::tempdir().unwrap();
    let stub = Stub::start(|received, _| dialects(received));
    let config = chat_config(&stub, json!({}));
    let file = folder.path().join("a file in place of the folder");
    std::fs::write(&file, "").unwrap();
    let notes = Notes::default();
    let registry = session(CallOptions { max_calls: Some(1), ..CallOptions::default() });
    let model = opened(&config, &registry, &file, &notes);
    let told = notes.0.into_inner().unwrap();
    assert!(told[0].starts_with("note: answers cannot be kept in "), "{told:?}");
    let found = parts(model.complete(&requests(&["a", "b"]), &|_, _| Ok(())));
    assert!(found.contains("the cache could not be written"), "{found}");
    assert!(!found.contains("continues"), "{found}");
}

#[test]
fn a_full_cache_is_told_with_the_first_value_that_does_not_fit() {
    for lists in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let (stub, _) = changing(lists);
        let config = chat_config(&stub, json!({}));
        let journal = Checksum::of(format!("{}/v1/chat/completions", stub.url).as_bytes());
        let journal = folder.path().join(format!("{journal}.jsonl"));
        std::os::unix::fs::symlink("/dev/full", journal).unwrap();
        let notes = Notes::default();
        let registry = session(CallOptions::default());
        let model = opened(&config, &registry, folder.path(), &notes);
        // The first value is the name of the model, where the server lists it.
        assert_eq!(notes.0.lock().unwrap().len(), usize::from(lists));
        assert_eq!(ask(&*model).text, "I am one");
        let told = [notes.0.into_inner().unwrap(), registry.calls().take_notes()].concat();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("(No space left on device (os error 28))"), "{told:?}");
    }
}
