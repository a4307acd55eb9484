//! Chat models in pipelines: what is counted, refused, recorded and fused.

use crate::common::{Earlier, bank, conversation, ids, index_below, with_context};
use clariq_core::{
    AnswerFormat, ChatModel, ChatRequest, Checksum, Completion, Doc, EachCompletion, Error, Hit,
    Model, ModelName, Models, Observer, Request, Result,
};
use clariq_rank::{Batch, Context, Override, SystemFile};
use std::sync::{Arc, LazyLock, Mutex};

const HEAD: &str = "name = \"one\"\nuses = [\"language-model\"]\n";
const BM25: &str = "[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5\n\
    history = { user = 0, system = 0, decay = 0 }\n";

/// Always writes the same.
#[derive(Clone)]
struct Writes(&'static str, AnswerFormat);

/// The completion of a request with this text.
fn completion(request: &ChatRequest, text: &str) -> Completion {
    let answer = request.form.as_ref().and_then(|form| form.read(text, AnswerFormat::Schema));
    Completion { text: text.to_owned(), answer, ..Completion::default() }
}

impl ChatModel for Writes {
    fn complete(&self, requests: &[ChatRequest], each: EachCompletion) -> Result<Vec<Completion>> {
        let completions: Vec<Completion> =
            requests.iter().map(|request| completion(request, self.0)).collect();
        for (index, completion) in completions.iter().enumerate() {
            each(index, completion)?;
        }
        Ok(completions)
    }

    fn format(&self) -> AnswerFormat {
        self.1
    }

    fn checksum(&self) -> &Checksum {
        static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"writes"));
        &SUM
    }
}

impl Models for Writes {
    fn open(&self, _: &ModelName) -> Result<Model> {
        Ok(Model::Chat(Arc::new(self.clone())))
    }
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// Runs a system over four documents by a model that always writes `text`; what was ranked, and what
/// was noted.
fn run(system: &str, text: &'static str) -> (Result<Vec<Vec<&'static str>>, Error>, Vec<String>) {
    let (bank, folder) = (bank(), tempfile::tempdir().unwrap());
    let notes = Notes::default();
    let model = Writes(text, AnswerFormat::Schema);
    let mut context = Context::new(&bank, index_below(folder.path()));
    context.models = &model;
    let system = SystemFile::parse("one.toml", &format!("{HEAD}{system}"), &[]).unwrap();
    let requests = [Request::new("1", "red fox"), Request::new("2", "boat")];
    let before: Vec<Hit> =
        (1..5).map(|number| Hit { doc: Doc(number), score: -f64::from(number) }).collect();
    let batch = Batch::new(&context, &requests);
    let ranked = system.pipeline.run(&batch, vec![before; 2]);
    let ranked = ranked.map(|rankings| rankings.iter().map(ids).collect());
    context.tallies.report(&notes);
    let mut noted = notes.0.lock().unwrap().clone();
    noted.extend(context.tallies.end().err().map(|error| error.to_problem().to_string()));
    (ranked, noted)
}

#[test]
fn more_answers_of_another_form_than_their_share_are_a_problem() {
    let grade = "method = \"pointwise\"\nscore = \"grade\"";
    for (system, text, says) in [
        (
            rerank(grade),
            "I cannot say.",
            "chat_rerank: no usable answer: expected at most 0.1 of the answers in another form, found 8 of 8 others, \
             the first for chat_rerank for request 1: \"I cannot say.\"",
        ),
        (
            rerank("method = \"listwise\""),
            "None.",
            "chat_rerank: no usable answer: expected at most 0.1 of the answers in another form, found 2 of 2 others, \
             the first for chat_rerank for request 1: \"None.\"",
        ),
        (
            format!("rewrite = {{ chat = \"m\" }}\n{BM25}"),
            "a\nb",
            "rewrite: no usable answer: expected at most 0.1 of the answers in another form, found 2 of 2 others, the \
             first for rewrite of request 1: \"a\\nb\"",
        ),
    ] {
        let (ranked, notes) = run(&system, text);
        assert!(ranked.is_ok() && notes.len() == 2, "{notes:?}");
        assert_eq!(notes[1], says);
    }
    let (_, notes) = run(&rerank(&format!("{grade}\nunread = 1")), "I cannot say.");
    assert_eq!(notes.len(), 1, "{notes:?}");
    let (_, notes) = run(&rerank(grade), "{\"grade\": 2}");
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn a_share_is_one_of_requests_and_models_that_take_turns_are_named() {
    /// Answers by another model each time.
    struct Turns;

    impl ChatModel for Turns {
        fn complete(&self, requests: &[ChatRequest], _: EachCompletion) -> Result<Vec<Completion>> {
            let model = |number: usize| format!("m{}", number % 2);
            let answer = |(number, request)| Completion {
                model: model(number),
                ..completion(request, "a\nb")
            };
            Ok(requests.iter().enumerate().map(answer).collect())
        }

        fn checksum(&self) -> &Checksum {
            static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"turns"));
            &SUM
        }
    }

    impl Models for Turns {
        fn open(&self, _: &ModelName) -> Result<Model> {
            Ok(Model::Chat(Arc::new(Self)))
        }
    }

    let (bank, folder, notes) = (bank(), tempfile::tempdir().unwrap(), Notes::default());
    let mut context = Context::new(&bank, index_below(folder.path()));
    context.models = &Turns;
    let system = format!("{HEAD}rewrite = {{ chat = \"m\" }}\n{BM25}");
    let system = SystemFile::parse("one.toml", &system, &[]).unwrap();
    let requests =
        ["1", "2", "3"].map(|id| Request::new(id, if id == "3" { "boat" } else { "red fox" }));
    system.pipeline.run(&Batch::new(&context, &requests), vec![Vec::new(); 3]).unwrap();
    context.tallies.report(&notes);
    let unread = context.tallies.end().unwrap_err().to_problem().to_string();
    assert!(unread.contains("found 3 of 3 others"), "{unread}");
    let notes = notes.0.lock().unwrap();
    assert_eq!(notes[0], "note: m: the answers come from several models: 2 of `m0`, 1 of `m1`");
}

fn rerank(keys: &str) -> String {
    format!("[[stages]]\nstage = \"chat_rerank\"\nchat = \"m\"\n{keys}\n")
}

#[test]
fn a_run_ends_as_soon_as_the_share_cannot_be_kept() {
    let (bank, folder) = (bank(), tempfile::tempdir().unwrap());
    let system = format!("{HEAD}rewrite = {{ chat = \"m\" }}\n{BM25}");
    let system = SystemFile::parse("one.toml", &system, &[]).unwrap();
    let rank = |requests: Option<usize>, asked: usize| {
        let model = Writes("no JSON", AnswerFormat::Schema);
        let mut context = Context::new(&bank, index_below(folder.path()));
        context.models = &model;
        context.tallies.begin(requests);
        let batch: Vec<Request> =
            (0..asked).map(|number| Request::new(&*number.to_string(), "boat")).collect();
        system.pipeline.run(&Batch::new(&context, &batch), vec![Vec::new(); asked])
    };
    // Two of twenty may have another form, whatever comes.
    assert!(rank(Some(20), 2).is_ok() && rank(None, 20).is_ok());
    let problem = rank(Some(20), 20).unwrap_err().to_problem();
    assert_eq!(problem.at.file, "rewrite");
    let found =
        "3 of the first 3 others (of 20 at most), the first for rewrite of request 0: \"no JSON\"";
    assert_eq!(problem.found, found);
}

#[test]
fn answers_that_cannot_be_read_are_counted() {
    let listwise = rerank("method = \"listwise\"");
    let (ranked, notes) = run(&listwise, "{\"order\": [2, 2, 1, 9]}");
    assert_eq!(ranked.unwrap(), [["Q3", "Q2", "Q4", "Q5"]; 2]);
    assert!(
        notes[0].starts_with("note: chat_rerank: 8 repairs of orders of 8 documents"),
        "{notes:?}"
    );
    let (ranked, notes) =
        run(&rerank("method = \"pointwise\"\nscore = \"grade\""), "I cannot say.");
    assert_eq!(ranked.unwrap(), [["Q2", "Q3", "Q4", "Q5"]; 2]);
    assert!(notes[0].starts_with("note: chat_rerank: 8 of 8 answers could not be read"));
    let (ranked, notes) = run(&listwise, "[4, 3, 2, 1]");
    assert_eq!((ranked.unwrap()[0].first(), notes.len()), (Some(&"Q5"), 0));
    for text in ["[2] > [1]", "Doc: 4, Relevance: 9\nDoc: 2, Relevance: 8", "{\"order\": [4]}"] {
        let (ranked, notes) = run(&listwise, text);
        assert_eq!(ranked.unwrap(), [["Q2", "Q3", "Q4", "Q5"]; 2], "{text}");
        assert!(notes[0].contains("2 of 2 answers named no document"), "{notes:?}");
    }
}

#[test]
fn plain_text_has_no_grades_and_no_orders() {
    let (bank, folder) = (bank(), tempfile::tempdir().unwrap());
    let model = Writes("boat", AnswerFormat::Text);
    let mut context = Context::new(&bank, index_below(folder.path()));
    context.models = &model;
    let rank = |system: &str| {
        let system = SystemFile::parse("one.toml", &format!("{HEAD}{system}"), &[]).unwrap();
        let before = vec![Hit { doc: Doc(1), score: 2.0 }, Hit { doc: Doc(2), score: 1.0 }];
        system.pipeline.run(&Batch::new(&context, &[Request::new("1", "boat")]), vec![before])
    };
    for method in ["method = \"pointwise\"\nscore = \"grade\"", "method = \"listwise\""] {
        let problem = rank(&rerank(method)).unwrap_err().to_problem();
        assert_eq!(
            (problem.at.file.as_str(), problem.found.as_str()),
            ("[models.m]", "format = \"text\"")
        );
    }
    assert!(rank(&format!("rewrite = {{ chat = \"m\" }}\n{BM25}")).is_ok());
}

#[test]
fn a_server_without_log_probabilities_is_an_error() {
    let (ranked, _) = run(&rerank("method = \"pointwise\"\nscore = \"logprobs\""), "yes");
    let problem = ranked.unwrap_err().to_problem();
    assert_eq!(problem.at.file, "chat_rerank for request 1");
    assert!(problem.expected.starts_with("log-probabilities"), "{problem}");
    assert!(problem.hint.contains("score = \"grade\""), "{problem}");
}

#[test]
fn several_queries_are_retrieved_and_fused() {
    let requests = [conversation(&["fox", "which", "about them"]), conversation(&["a", "b", "hm"])];
    let rank = |rewrite: &str| {
        let text = format!("{HEAD}rewrite = {{ chat = \"m\"{rewrite} }}\n{BM25}");
        let system = SystemFile::parse("one.toml", &text, &[]).unwrap();
        with_context(&Earlier::new(&[]), |context| {
            let batch = Batch::new(context, &requests);
            let ranked = system.pipeline.run(&batch, batch.unranked()).unwrap();
            let one = Batch::new(context, &requests[..1]);
            let traces = system.pipeline.explain(&one, Doc(1), &Vec::new()).unwrap();
            let last = traces.last().unwrap();
            let hit = ranked[0].iter().find(|hit| hit.doc == Doc(1)).unwrap();
            assert_eq!(last.score, Some(hit.score));
            let why = last.explanation.clone().unwrap();
            assert!((why.value - hit.score).abs() < 1e-9, "{why}");
            let told = traces[0].explanation.clone().unwrap();
            assert_eq!(told.what, "the utterance as \"red boats\", written by `m`");
            let parts = told.parts.into_iter().map(|part| part.what).collect::<Vec<_>>();
            (ranked.iter().map(ids).collect::<Vec<_>>(), parts)
        })
    };
    let (ranked, parts) = rank("");
    assert_eq!(ranked[0], ["Q5", "Q2", "Q4"]);
    assert!(ranked[1].is_empty(), "where the model writes nothing, the utterance stays");
    assert_eq!(parts, [""; 0]);
    let (ranked, parts) = rank(", queries = 3");
    // "fox" finds Q2 and Q3: Q2 is in both rankings.
    assert_eq!(ranked[0], ["Q2", "Q5", "Q3"], "as many as the longest ranking has");
    assert!(ranked[1].is_empty());
    assert_eq!(parts, ["another query: \"fox\""]);
}

#[test]
fn missing_queries_are_counted() {
    let text = "{\"queries\": [\"a\", \"a\", \"b\"]}";
    let (_, notes) = run(&format!("rewrite = {{ chat = \"m\", queries = 3 }}\n{BM25}"), text);
    assert!(notes[0].starts_with("note: rewrite: the model wrote 4 of 6 queries"), "{notes:?}");
}

#[test]
fn a_prompt_is_part_of_the_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.toml");
    std::fs::write(folder.path().join("my.jinja"), "{{ query }}: {{ passage }} {{ form }}")
        .unwrap();
    let grade = "method = \"pointwise\"\nscore = \"grade\"";
    let system = |keys: &str, overrides: &[Override]| {
        let text = format!("{HEAD}{}", rerank(&format!("{grade}\n{keys}")));
        SystemFile::parse(file.to_str().unwrap(), &text, overrides)
    };
    let parameters = |keys: &str| system(keys, &[]).unwrap().pipeline.parameters()[0].clone();
    let own = parameters("prompt = \"my.jinja\"");
    assert_eq!(own["prompt"]["file"], "my.jinja");
    assert_ne!(own["prompt"]["sha256"], parameters("")["prompt"]["sha256"]);
    assert_eq!(own["temperature"], 0.0);
    assert_eq!(own["method"], "pointwise");
    // A file given on the command line is in the current folder.
    let given = Override {
        stage: "chat_rerank".to_owned(),
        key: "prompt".to_owned(),
        value: "my.jinja".to_owned(),
    };
    let error = system("", &[given]).err().unwrap().to_string();
    assert!(error.starts_with("my.jinja: "), "{error}");
}

#[test]
fn keys_that_do_not_fit_are_refused_with_their_line() {
    for (keys, says) in [
        ("method = \"pairwise\"", "one.toml:6: expected `pointwise` or `listwise`"),
        ("method = \"pointwise\"", "expected a key `score`, found"),
        ("method = \"pointwise\"\nscore = \"words\"", "one.toml:7: "),
        ("method = \"pointwise\"\nscore = \"grade\"\nwindow = 3", "unknown field `window`"),
        ("method = \"listwise\"\nscore = \"grade\"", "unknown field `score`"),
        ("method = \"listwise\"\nwindow = 5\nstep = 6", "one.toml:8: "),
        ("method = \"listwise\"\nprompt = \"rerank-lisst\"", "a built-in prompt, one of answer"),
        ("method = \"listwise\"\nprompt = \"rewrite\"", "configs/prompts/rewrite.jinja:2: "),
        ("method = \"listwise\"\ntemperature = 3", "temperature from 0 to 2, found 3"),
        ("method = \"listwise\"\nunread = 2", "a share from 0 to 1, found 2"),
        ("method = \"listwise\"\ntemperature = 1", "uses = [\"sampling\"]"),
    ] {
        let text = format!("{HEAD}{}", rerank(keys));
        let error = SystemFile::parse("one.toml", &text, &[]).err().unwrap().to_string();
        assert!(error.contains(says), "{keys}: {error}");
    }
    for (keys, says) in [
        ("queries = 0", "queries from 1 to 20"),
        ("queries = 21", "queries from 1 to 20"),
        ("beams = 2", "unknown field `beams`"),
    ] {
        let text = format!("{HEAD}rewrite = {{ chat = \"m\", {keys} }}\n{BM25}");
        let error = SystemFile::parse("one.toml", &text, &[]).err().unwrap().to_string();
        assert!(error.starts_with("one.toml:3: ") && error.contains(says), "{keys}: {error}");
    }
    let undeclared = format!("name = \"one\"\n{}", rerank("method = \"listwise\""));
    let error = SystemFile::parse("one.toml", &undeclared, &[]).err().unwrap().to_string();
    assert!(error.contains("uses = [\"language-model\"]"), "{error}");
}

#[test]
fn prompts_that_a_server_cuts_to_its_context_are_told() {
    /// Says that it has read at most so many tokens of a prompt, of four bytes each.
    #[derive(Clone)]
    struct Reads(u64);

    impl ChatModel for Reads {
        fn complete(&self, requests: &[ChatRequest], _: EachCompletion) -> Result<Vec<Completion>> {
            let answer = |request: &ChatRequest| {
                let bytes: usize = request.messages.iter().map(|one| one.content.len()).sum();
                let prompt_tokens = Some((bytes as u64 / 4).min(self.0));
                Completion { prompt_tokens, ..completion(request, "{\"query\": \"boat\"}") }
            };
            Ok(requests.iter().map(answer).collect())
        }

        fn checksum(&self) -> &Checksum {
            static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"reads"));
            &SUM
        }
    }

    impl Models for Reads {
        fn open(&self, _: &ModelName) -> Result<Model> {
            Ok(Model::Chat(Arc::new(self.clone())))
        }
    }

    let (bank, folder) = (bank(), tempfile::tempdir().unwrap());
    let system = format!("{HEAD}rewrite = {{ chat = \"m\" }}\n{BM25}");
    let system = SystemFile::parse("one.toml", &system, &[]).unwrap();
    for (context_tokens, words, is_told) in
        [(2050, [2000, 3000], true), (9000, [2000, 3000], false), (400, [400, 800], false)]
    {
        let notes = Notes::default();
        let model = Reads(context_tokens);
        let mut context = Context::new(&bank, index_below(folder.path()));
        context.models = &model;
        let requests = words.map(|count| Request::new(&*count.to_string(), "boats ".repeat(count)));
        system.pipeline.run(&Batch::new(&context, &requests), vec![Vec::new(); 2]).unwrap();
        context.tallies.report(&notes);
        assert!(context.tallies.end().is_ok());
        let notes = notes.0.into_inner().unwrap();
        assert_eq!(notes.len(), usize::from(is_told), "{notes:?}");
        if is_told {
            assert!(notes[0].contains("the server read 2050 tokens each"), "{notes:?}");
        }
    }
}
