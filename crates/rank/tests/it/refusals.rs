//! Requests that stages refuse to rank.

use crate::common::{Earlier, conversation, system, with_context};
use clariq_core::{Checksum, Doc, Documents, Request};
use clariq_rank::{Batch, Context, SystemFile};
use std::borrow::Cow;

fn run(stage: &str, own: &[&str], said: &[&str]) -> Result<(), String> {
    let requests = [conversation(said)];
    with_context(&Earlier::new(own), |context| {
        let batch = Batch::new(context, &requests);
        let result = system(stage).pipeline.run(&batch, batch.unranked());
        result.map(drop).map_err(|error| error.to_string())
    })
}

#[test]
fn exclude_refuses_judged_requests_without_their_split() {
    let judged = "tell me about blue animals";
    let error = run("stage = \"exclude\"", &[], &[judged]).unwrap_err();
    assert!(error.contains("other requests than those of train.tsv"), "{error}");
    assert!(error.contains(judged), "{error}");
    assert!(run("stage = \"exclude\"", &[judged], &[judged]).is_ok(), "the split has it as well");
    assert!(run("stage = \"exclude\"", &[], &["tell me about red animals"]).is_ok());
}

#[test]
fn conversations_do_not_compete() {
    let stage = "stage = \"competition\"\nrounds = 1";
    let error = run(stage, &[], &["fox", "red fox", "no"]).unwrap_err();
    assert!(error.contains("found conversations"), "{error}");
    assert!(run(stage, &[], &["fox"]).is_ok());
}

/// Two documents, neither of which is the empty question.
struct Passages(Checksum);

impl Documents for Passages {
    fn len(&self) -> usize {
        2
    }

    fn id(&self, doc: Doc) -> Cow<'_, str> {
        format!("p{}", doc.0).into()
    }

    fn text(&self, _doc: Doc) -> Result<Cow<'_, str>, clariq_core::Error> {
        Ok("a passage".into())
    }

    fn find(&self, id: &str) -> Option<Doc> {
        id[1..].parse().ok().map(Doc)
    }

    fn checksum(&self) -> &Checksum {
        &self.0
    }
}

#[test]
fn a_collection_without_an_empty_question_is_ranked() {
    let passages = Passages(Checksum::of_pieces([]));
    let context = Context::new(&passages, |_, _| unreachable!("no index is needed"));
    let requests = [Request::new("1", "r")];
    let batch = Batch::new(&context, &requests);
    let run = |stages: &str| system(stages).pipeline.run(&batch, batch.unranked()).unwrap();
    let dense = "stage = \"dense\"\nspace = { characters = 1 }";
    let ranked = run(dense);
    assert_eq!(ranked[0].len(), 2);
    let before = run(&format!("{dense}\n[[stages]]\nstage = \"no_question\"\nrank = 1"));
    assert_eq!(before, ranked);
    // A system that stops returns an empty ranking.
    let stopped = run(&format!("{dense}\n[[stages]]\nstage = \"stop\"\nturns = 0"));
    assert_eq!(stopped, [vec![]]);
}

#[test]
fn a_parameter_that_a_variant_lacks_is_refused_with_its_line() {
    for (variant, key) in [
        ("okapi", "delta"),
        ("lucene", "delta"),
        ("lucene-default", "mu"),
        ("bm25plus", "mu"),
        ("ql", "k1"),
        ("ql", "delta"),
    ] {
        let text = format!(
            "name = \"one\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 3\n\
             variant = \"{variant}\"\n{key} = 0.5\n"
        );
        let error = SystemFile::parse("one.toml", &text, &[]).err().unwrap().to_string();
        let expected = format!("one.toml:7: expected no `{key}` for this variant, found `{key}`");
        assert_eq!(error, expected, "{variant}");
    }
}
