//! The key `rewrite`: what stages see, which pipelines have it, and what is refused.

use crate::common::{Earlier, conversation, ids, with_context};
use clariq_core::Doc;
use clariq_rank::{Batch, Override, Pipeline, SystemFile};

const BM25: &str = "stage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5\n\
    history = { user = 0, system = 0, decay = 0 }\n";

fn parse(text: &str, overrides: &[Override]) -> Result<SystemFile, String> {
    let text = format!("name = \"one\"\n{text}");
    SystemFile::parse("one.toml", &text, overrides).map_err(|error| error.to_string())
}

/// The models that rewrite requests for a pipeline.
fn models(pipeline: &Pipeline) -> Vec<String> {
    let stages = pipeline.about().filter(|stage| stage.name == "rewrite");
    stages.flat_map(|stage| stage.models).map(|model| model.name).collect()
}

#[test]
fn stages_see_the_utterance_as_the_model_writes_it() {
    let said = |last| conversation(&["fox", "which", last]);
    let requests = [said("about them"), said("hm")];
    let rank = |head: &str| {
        let system = parse(&format!("{head}[[stages]]\n{BM25}"), &[]).unwrap();
        with_context(&Earlier::new(&[]), |context| {
            let batch = Batch::new(context, &requests);
            let ranked = system.pipeline.run(&batch, batch.unranked()).unwrap();
            let one = Batch::new(context, &requests[..1]);
            let traces = system.pipeline.explain(&one, Doc(4), &Vec::new()).unwrap();
            let told = traces.first().and_then(|trace| trace.explanation.clone());
            (ranked.iter().map(ids).collect::<Vec<_>>(), told.unwrap().what)
        })
    };
    let (ranked, _) = rank("");
    assert_eq!(ranked, [[""; 0], [""; 0]]);
    let (ranked, told) = rank("rewrite = { model = \"t5\" }\n");
    assert_eq!(ranked[0], ["Q5", "Q2", "Q4"]);
    assert!(ranked[1].is_empty(), "where the model writes nothing, the utterance stays");
    assert_eq!(told, "the utterance as \"about red boats\", written by `t5`");
}

#[test]
fn pipelines_inherit_the_rewriting_model_of_the_system() {
    let task = |name: &str| format!("[[tasks.{name}.stages]]\n{BM25}");
    let text = format!(
        "rewrite = {{ model = \"a\" }}\n{}[tasks.own]\nrewrite = {{ model = \"b\" }}\n{}",
        task("inherits"),
        task("own")
    );
    let task_models = |overrides: &[Override]| {
        let system = parse(&text, overrides).unwrap();
        ["inherits", "own"].map(|task| models(&system.tasks[task]).join(","))
    };
    assert_eq!(task_models(&[]), ["a", "b"]);
    let set = |stage: &str, key: &str| Override {
        stage: stage.to_owned(),
        key: key.to_owned(),
        value: "\"c\"".to_owned(),
    };
    assert_eq!(task_models(&[set("rewrite", "model")]), ["c", "c"]);
    assert_eq!(task_models(&[set("own", "rewrite.model")]), ["a", "c"]);
    let fused = "[[stages]]\nstage = \"fuse\"\nmethod = \"reciprocal-rank\"\ndepth = 3\n\
        inputs = [{ stages = [{ stage = \"cutoff\", depth = 1 }] }, \
        { rewrite = { model = \"d\" }, stages = [{ stage = \"cutoff\", depth = 1 }] }]";
    let system = parse(fused, &[]).unwrap();
    let models: Vec<String> =
        system.pipeline.about().flat_map(|stage| stage.models).map(|model| model.name).collect();
    assert_eq!(models, ["d"]);
    for twice in [
        format!("rewrite = {{ model = \"a\" }}\n{fused}"),
        format!(
            "rewrite = {{ model = \"a\" }}\n{}",
            fused.replace("[[stages", "[[tasks.one.stages")
        ),
    ] {
        let refused = parse(&twice, &[]).err().unwrap_or_default();
        assert!(refused.contains("`rewrite` within `rewrite`"), "{refused}");
    }
}

#[test]
fn keys_that_do_not_fit_are_refused_with_their_line() {
    for (keys, says) in [
        ("", "expected a key `model`, found"),
        ("model = \"a\", beam = 1", "unknown field `beam`"),
        ("model = \"a\", beams = 0", "beams from 1 to 64, found 0"),
        ("model = \"a\", beams = 65", "beams from 1 to 64, found 65"),
        ("model = \"a\", length_penalty = nan", "length_penalty as a number"),
        ("model = \"a\", max_length = 1", "max_length from 2 to 1024, found 1"),
        ("model = \"a\", max_length = 1025", "max_length from 2 to 1024, found 1025"),
    ] {
        let text = format!("rewrite = {{ {keys} }}\n[[stages]]\n{BM25}");
        let error = parse(&text, &[]).err().unwrap_or_default();
        assert!(error.starts_with("one.toml:2: ") && error.contains(says), "{keys}: {error}");
    }
}

#[test]
fn only_utterances_that_refer_back_are_rewritten() {
    let said = |last| conversation(&["fox", "which", last]);
    // The model also finds `them` in `anthem`.
    let requests = [said("about them"), said("the anthem of the north")];
    let rank = |when: &str| {
        let text = format!("rewrite = {{ model = \"t5\"{when} }}\n[[stages]]\n{BM25}");
        let pipeline = parse(&text, &[]).unwrap().pipeline;
        let parameters = pipeline.parameters()[0]["when"].clone();
        let ranked = with_context(&Earlier::new(&[]), |context| {
            let batch = Batch::new(context, &requests);
            let ranked = pipeline.run(&batch, batch.unranked()).unwrap();
            ranked.iter().map(ids).collect::<Vec<_>>()
        });
        (ranked, parameters)
    };
    let (all, always) = rank("");
    let (gated, when) = rank(", when = \"refers-back\"");
    assert_eq!((&gated[0], all[1].is_empty()), (&all[0], false));
    assert_eq!(gated[1], [""; 0], "as it was said");
    assert_eq!((always, when), (serde_json::Value::Null, "refers-back".into()));
    let text = format!("rewrite = {{ model = \"a\", when = \"never\" }}\n[[stages]]\n{BM25}");
    let error = parse(&text, &[]).err().unwrap_or_default();
    assert!(error.starts_with("one.toml:2: "), "{error}");
}
