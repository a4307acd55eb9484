//! Every stage by example: rankings in, rankings out.

use crate::common::{Earlier, bank, conversation, ids, index_below, system, with_context};
use clariq_collections::documents::{Bank, BankRow};
use clariq_core::{Doc, Documents as _, Hit, Need, Observer, Ranking, Request, Utterance};
use clariq_rank::{Batch, Context, SystemFile};
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

struct Case {
    stage: &'static str,
    requests: Vec<Request>,
    /// The ranking that every request comes with: its documents, best first.
    before: &'static [&'static str],
    after: Vec<&'static [&'static str]>,
}

fn case(
    stage: &'static str,
    said: &[&str],
    before: &'static [&'static str],
    after: &'static [&'static str],
) -> Case {
    Case { stage, requests: vec![conversation(said)], before, after: vec![after] }
}

/// The same for a request with documents of its own: Q3 and Q4.
fn own(case: Case) -> Case {
    let candidates = Some(vec![Doc(2), Doc(3)]);
    let own = |request| Request { candidates: candidates.clone(), ..request };
    Case { requests: case.requests.into_iter().map(own).collect(), ..case }
}

/// The same with a predicted need.
fn with_need(need: u8, case: Case) -> Case {
    let with_need = |request| Request { need: Need::new(need), ..request };
    Case { requests: case.requests.into_iter().map(with_need).collect(), ..case }
}

const BM25: &str = "stage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5";
const RM3: &str = "stage = \"rm3\"\nanalyzer = \"english\"\ndepth = 5";
const PADDED: &str = "stage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5\npad = true";
/// The order of numpy, which belongs to this bank.
fn numpy() -> &'static str {
    let stage = "stage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5\npad = true";
    let bank = bank().checksum().short().to_owned();
    format!("{stage}\nties = {{ numpy = [\"{bank}\"] }}").leak()
}

/// Without a blank before a question, so that the first two words are one.
const GLUED: &str = "stage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5\nglued = true";
const BM25_WEIGHTED: &str = "stage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5\n\
    weights = { question = 0, answer = 1, refused_question = -1, refused_answer = 0, decay = 1 }";
const DENSE_WEIGHTED: &str = "stage = \"dense\"\nrepeat = 0.99\n\
    weights = { question = 0, answer = 2, refused_question = -1, refused_answer = 0, decay = 1 }";
const DISTANT: &str = "stage = \"dense\"\nmin_likeness = 0.8\n\
    weights = { question = 0, answer = 2, refused_question = -1, refused_answer = 0, decay = 1 }";
const SPARSE: &str = "stage = \"sparse\"\nmodel = \"weights\"\ndepth = 5";
const SPARSE_WEIGHTED: &str = "stage = \"sparse\"\nmodel = \"weights\"\ndepth = 5\n\
    weights = { question = 0, answer = 1, refused_question = -1, refused_answer = 0, decay = 1 }";
const SPARSE_HISTORY: &str = "stage = \"sparse\"\nmodel = \"weights\"\ndepth = 5\n\
    history = { user = 0.5, system = 0, decay = 1 }";
const STOP_OFF_TOPIC: &str = "stage = \"stop\"\ntopic = \"english\"";
const CANDIDATES: &str = "stage = \"candidates\"\nrun = \"tests/it/candidates.run\"";
const FUSE: &str = "stage = \"fuse\"\nmethod = \"reciprocal-rank\"\ndepth = 3\n\
    [[stages.inputs]]\nstages = [{ stage = \"cutoff\", depth = 1 }]\n\
    [[stages.inputs]]\nstages = [{ stage = \"no_question\", rank = 1 }]";

const MAXSIM: &str = "stage = \"maxsim\"\nmodel = \"words\"";
const YES: &str = "stage = \"chat_rerank\"\nchat = \"m\"\nmethod = \"pointwise\"\n\
    score = \"logprobs\"\ndepth = 2";
const GRADE: &str =
    "stage = \"chat_rerank\"\nchat = \"m\"\nmethod = \"pointwise\"\nscore = \"grade\"";
const LIST: &str =
    "stage = \"chat_rerank\"\nchat = \"m\"\nmethod = \"listwise\"\nwindow = 2\nstep = 1";

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    vec![
        case(BM25, &["red fox"], &["Q5"], &["Q2", "Q3", "Q4"]),
        case(PADDED, &["red fox"], &[], &["Q2", "Q3", "Q4", "Q5", "Q1"]),
        case(BM25, &["red", "which", "boat"], &[], &["Q4", "Q5", "Q2"]),
        case(GLUED, &["red", "which", "boat"], &[], &["Q5"]),
        // A word with the weight 0 still matches.
        case(BM25_WEIGHTED, &["red", "a boat", "fox"], &[], &["Q2", "Q3", "Q4", "Q5"]),
        case(BM25_WEIGHTED, &["red blue", "a fox", "no"], &[], &["Q5", "Q4", "Q3", "Q2"]),
        own(case(BM25, &["red fox"], &[], &["Q3", "Q4"])),
        own(case(PADDED, &["boat"], &[], &["Q4", "Q3"])),
        case(numpy(), &["red fox"], &[], &["Q2", "Q3", "Q4", "Q5", "Q1"]),
        own(case(numpy(), &["boat"], &[], &["Q4", "Q3"])),
        case("stage = \"dense\"", &["blue fox"], &["Q1"], &["Q3", "Q5", "Q2", "Q4"]),
        case("stage = \"dense\"\ndepth = 2", &["blue fox"], &[], &["Q3", "Q5"]),
        case(DENSE_WEIGHTED, &["blue", "blue fox", "boat"], &[], &["Q5", "Q4", "Q2"]),
        case(DENSE_WEIGHTED, &["fox", "blue boat", "no"], &[], &["Q2", "Q3", "Q4"]),
        case(DISTANT, &["red"], &[], &[]),
        case(DISTANT, &["red fox"], &[], &["Q2", "Q4", "Q3", "Q5"]),
        own(case("stage = \"dense\"", &["blue"], &[], &["Q3", "Q4"])),
        // Nothing was said: all score 0.
        case("stage = \"dense\"\nhistory = { context = 0.3 }", &[""], &[], &["Q5", "Q4", "Q3", "Q2"]),
        own(case(DISTANT, &["blue boat"], &[], &[])),
        case(SPARSE, &["red fox"], &["Q5"], &["Q2", "Q3", "Q4"]),
        case("stage = \"sparse\"\nmodel = \"weights\"\ndepth = 2", &["red fox"], &[], &["Q2", "Q3"]),
        // Without the weight of "red" in Q2 and Q4, two documents tie.
        case("stage = \"sparse\"\nmodel = \"weights\"\ndepth = 5\nmax_ratio = 0.5", &["red fox"], &[], &["Q3", "Q2"]),
        case(SPARSE_WEIGHTED, &["red blue", "a fox", "no"], &[], &["Q5", "Q4", "Q3", "Q2"]),
        // The user said "fox", too.
        case(SPARSE_WEIGHTED, &["red fox", "a fox", "no"], &[], &["Q2", "Q3", "Q4"]),
        case(SPARSE_HISTORY, &["red", "which", "boat"], &[], &["Q5", "Q4", "Q2"]),
        own(case(SPARSE, &["red fox"], &[], &["Q3", "Q4"])),
        own(case("stage = \"sparse\"\nmodel = \"weights\"\ndepth = 1", &["red fox"], &[], &["Q3", "Q4"])),
        // Documents that a request names are not cut off.
        own(case("stage = \"bm25\"\nanalyzer = \"english\"\ndepth = 1", &["red fox"], &[], &["Q3", "Q4"])),
        own(case("stage = \"dense\"\ndepth = 1", &["blue"], &[], &["Q3", "Q4"])),
        // Best first by score, whatever the ranks in the file; equal scores by descending id; each
        // once.
        case(CANDIDATES, &["red"], &["Q1"], &["Q4", "Q5", "Q3", "Q2"]),
        own(case(CANDIDATES, &["red"], &[], &["Q4", "Q3"])),
        Case { requests: vec![Request::new("7", "not in the run")], ..case(CANDIDATES, &["red"], &[], &[]) },
        // Q5 is similar to Q3 only, which is left out.
        case("stage = \"distinct\"\nsame = 0.4", &["r"], &["Q2", "Q3", "Q5"], &["Q2", "Q5"]),
        case("stage = \"exclude\"", &["red"], &["Q2", "Q3", "Q1"], &["Q2", "Q1"]),
        case("stage = \"exclude_asked\"", &["red", "red fox", "no"], &["Q2", "Q3"], &["Q3"]),
        case("stage = \"exclude_asked\"", &["red", "red  fox", "no"], &["Q2", "Q3"], &["Q2", "Q3"]),
        case("stage = \"exclude_asked\"\nby = \"words\"", &["red", "red  fox", "no"], &["Q2", "Q3"], &["Q3"]),
        case("stage = \"feedback\"\nquestions = 1", &["red"], &["Q2", "Q3", "Q4", "Q5"], &["Q4", "Q2", "Q5", "Q3"]),
        // Of five documents, a word of one is in more than a tenth: the query stays as it is.
        case(RM3, &["red fox"], &["Q5"], &["Q2", "Q3", "Q4"]),
        own(case(RM3, &["red fox"], &["Q3"], &["Q3", "Q4"])),
        Case {
            // Each request alone would begin with Q3; the second is nearer to it.
            stage: "stage = \"competition\"\nrounds = 1\nprize = 0.1",
            requests: vec![Request::new("1", "fox"), Request::new("2", "blue fox")],
            before: &["Q2", "Q3"],
            after: vec![&["Q2", "Q3"], &["Q3", "Q2"]],
        },
        case("stage = \"cross_encode\"\nmodel = \"letters\"\ndepth = 2", &["r"], &[], &["Q4", "Q5"]),
        own(case("stage = \"cross_encode\"\nmodel = \"letters\"\ndepth = 1", &["r"], &[], &["Q4", "Q3"])),
        case("stage = \"rerank\"\nmodel = \"letters\"\ndepth = 2", &["r"], &["Q2", "Q3", "Q5"], &["Q3", "Q2", "Q5"]),
        case("stage = \"likelihood\"\nmodel = \"red boats\"\ndepth = 2", &["r"], &["Q3", "Q2", "Q5"], &["Q2", "Q3", "Q5"]),
        case("stage = \"likelihood\"\nmodel = \"red boats\"", &["r"], &["Q4", "Q3", "Q2"], &["Q2", "Q3", "Q4"]),
        case("stage = \"likelihood\"\nmodel = \"red boats\"\nprefix = \"long: \"", &["r"], &["Q2", "Q3", "Q4"], &["Q4", "Q3", "Q2"]),
        case(MAXSIM, &["red fox"], &["Q5", "Q1", "Q3", "Q2"], &["Q2", "Q3", "Q5", "Q1"]),
        // Two are reordered, the third stays behind them.
        case("stage = \"maxsim\"\nmodel = \"words\"\ndepth = 2", &["red fox"], &["Q5", "Q3", "Q2"], &["Q3", "Q5", "Q2"]),
        own(case("stage = \"maxsim\"\nmodel = \"words\"\ndepth = 1", &["red"], &["Q3", "Q4"], &["Q4", "Q3"])),
        // The scores so far are 10, 9 and 8.
        case("stage = \"maxsim\"\nmodel = \"words\"\nbefore = 0.1", &["red fox"], &["Q5", "Q3", "Q2"], &["Q2", "Q3", "Q5"]),
        case("stage = \"maxsim\"\nmodel = \"words\"\nbefore = 0.6", &["red fox"], &["Q5", "Q3", "Q2"], &["Q5", "Q3", "Q2"]),
        case("stage = \"maxsim\"\nmodel = \"words\"\nquery = \"last\"", &["red", "which", "blue"], &["Q2", "Q3"], &["Q3", "Q2"]),
        case(YES, &["r"], &["Q2", "Q3", "Q5"], &["Q3", "Q2", "Q5"]),
        own(case(YES, &["r"], &["Q3", "Q4"], &["Q4", "Q3"])),
        // Q3 and Q5 have the same grade, and keep their order.
        case(GRADE, &["r"], &["Q2", "Q3", "Q5", "Q4"], &["Q4", "Q3", "Q5", "Q2"]),
        // The best one moves up with the window, the others by one place at most.
        case(LIST, &["r"], &["Q2", "Q3", "Q5", "Q4"], &["Q4", "Q2", "Q3", "Q5"]),
        case(LIST, &["r"], &["Q2"], &["Q2"]),
        case("stage = \"open_questions\"\nbonus = 5.5", &["r"], &["Q2", "Q3", "Q4"], &["Q4", "Q2", "Q3"]),
        case("stage = \"stop\"\nturns = 1", &["r"], &["Q2", "Q1"], &["Q2", "Q1"]),
        case("stage = \"stop\"\nturns = 1", &["r", "q", "a"], &["Q2", "Q1"], &["Q1", "Q2"]),
        case("stage = \"stop\"\nturns = 2", &["r", "q", "a"], &["Q2", "Q1"], &["Q2", "Q1"]),
        case("stage = \"stop\"", &["r", "q", "no", "q", "no"], &["Q2", "Q1"], &["Q2", "Q1"]),
        case("stage = \"stop\"", &["r"], &[], &["Q1"]),
        case("stage = \"stop\"\nrefusals = 2", &["r", "q", "No.", "q", "no thanks"], &["Q2"], &["Q1", "Q2"]),
        case("stage = \"stop\"\nrefusals = 2", &["r", "q", "no", "q", "no", "q", "yes"], &["Q2"], &["Q2"]),
        case("stage = \"stop\"\nmin_score = 10", &["r"], &["Q2"], &["Q2"]),
        case("stage = \"stop\"\nmin_score = 10.1", &["r"], &["Q2"], &["Q1", "Q2"]),
        case("stage = \"stop\"\nmin_margin = 0.09", &["r"], &["Q2", "Q3"], &["Q2", "Q3"]),
        case("stage = \"stop\"\nmin_margin = 0.11", &["r"], &["Q2", "Q3"], &["Q1", "Q2", "Q3"]),
        with_need(2, case("stage = \"stop\"\nneed = 1", &["r"], &["Q2"], &["Q2"])),
        with_need(1, case("stage = \"stop\"\nneed = 1", &["r"], &["Q2"], &["Q1", "Q2"])),
        // Nothing was asked so far.
        case(STOP_OFF_TOPIC, &["blue fox"], &["Q5"], &["Q5"]),
        // "red" is in the earlier question, "boat" is not: a document with "boat" alone is off
        // topic.
        case(STOP_OFF_TOPIC, &["red boat", "red?", "no"], &["Q5"], &["Q1", "Q5"]),
        case(STOP_OFF_TOPIC, &["red boat", "red?", "no"], &["Q4"], &["Q4"]),
        // A word of the answer belongs to the topic, if it is rare enough.
        case(STOP_OFF_TOPIC, &["red boat", "red?", "no a fox"], &["Q3"], &["Q3"]),
        // Opening and question share no word: without words of the topic, it does not stop.
        case(STOP_OFF_TOPIC, &["boat", "fox?", "no"], &["Q4"], &["Q4"]),
        case(STOP_OFF_TOPIC, &["boat", "fox?", "no a plane"], &["Q4"], &["Q4"]),
        case("stage = \"no_question\"\nrank = 2", &["r"], &["Q2", "Q3", "Q1"], &["Q2", "Q1", "Q3"]),
        case("stage = \"no_question\"\nrank = 1\nwhen_need = 2", &["r"], &["Q2"], &["Q2"]),
        with_need(2, case("stage = \"no_question\"\nrank = 1\nwhen_need = 2", &["r"], &["Q2"], &["Q1", "Q2"])),
        with_need(3, case("stage = \"no_question\"\nrank = 1\nwhen_need = 2", &["r"], &["Q2"], &["Q2"])),
        case("stage = \"cutoff\"\ndepth = 2", &["r"], &["Q2", "Q3", "Q4"], &["Q2", "Q3"]),
        case("stage = \"cutoff\"\ndepth = 3\nmin_score = 9", &["r"], &["Q2", "Q3", "Q4"], &["Q2", "Q3"]),
        case(FUSE, &["r"], &["Q2", "Q3"], &["Q2", "Q1", "Q3"]),
    ]
}

impl Case {
    /// The first document scores 10, the next 9, and so on.
    fn before(&self) -> Ranking {
        let score = |(index, id): (usize, &&str)| {
            let number: u32 = id[1..].parse().unwrap();
            Hit { doc: Doc(number - 1), score: 10.0 - index as f64 }
        };
        self.before.iter().enumerate().map(score).collect()
    }

    fn system(&self) -> SystemFile {
        system(self.stage)
    }
}

#[test]
fn every_stage_gives_the_ranking_of_its_examples() {
    for case in cases() {
        with_context(&Earlier::new(&[]), |context| {
            let finished = AtomicU64::new(0);
            let count = |requests| {
                finished.fetch_add(requests, Ordering::Relaxed);
            };
            let batch = Batch { progress: &count, ..Batch::new(context, &case.requests) };
            let before = vec![case.before(); case.requests.len()];
            let after = case.system().pipeline.run(&batch, before).unwrap();
            let found: Vec<_> = after.iter().map(ids).collect();
            let said = &case.requests[0].said;
            assert_eq!(found, case.after, "{} of {said:?}", case.stage);
            let descending =
                |ranking: &Ranking| ranking.windows(2).all(|pair| pair[0].score >= pair[1].score);
            assert!(after.iter().all(descending), "{}: {after:?}", case.stage);
            let requests = case.requests.len() as u64;
            assert_eq!(finished.into_inner(), requests, "{}: requests finished", case.stage);
        });
    }
}

#[test]
fn every_stage_has_an_example() {
    let stage = |name: &str| format!("name = \"one\"\n[[stages]]\nstage = \"{name}\"");
    let error = SystemFile::parse("one.toml", &stage("unknown"), &[]).err().unwrap().to_string();
    let (_, names) = error.split_once("one of ").unwrap();
    let (names, _) = names.split_once(", found").unwrap();
    for name in names.split(", ") {
        let name = name.trim_matches('`');
        // Its examples need a server: `elasticsearch.rs`.
        if name == "elasticsearch" {
            continue;
        }
        let declared = format!("stage = \"{name}\"");
        assert!(cases().iter().any(|case| case.stage.starts_with(&declared)), "{name}");
    }
}

/// Stages that score by what they explain; the others tell why a document is where it is.
const SCORING: [&str; 14] = [
    "bm25",
    "candidates",
    "chat_rerank",
    "dense",
    "feedback",
    "competition",
    "cross_encode",
    "likelihood",
    "maxsim",
    "rerank",
    "open_questions",
    "fuse",
    "rm3",
    "sparse",
];

#[test]
fn the_parts_of_an_explanation_add_up_to_the_score() {
    for case in cases().iter().filter(|case| case.requests.len() == 1) {
        with_context(&Earlier::new(&[]), |context| {
            let batch = Batch::new(context, &case.requests);
            let pipeline = case.system().pipeline;
            let after = pipeline.run(&batch, vec![case.before()]).unwrap();
            for (index, hit) in after[0].iter().enumerate() {
                let traces = pipeline.explain(&batch, hit.doc, &case.before()).unwrap();
                let [trace] = &traces[..] else { panic!("one stage, one trace") };
                assert_eq!((trace.rank, trace.score), (Some(index + 1), Some(hit.score)));
                let reordered = !case.stage.ends_with("depth = 2") || index < 2;
                if SCORING.contains(&trace.stage) && reordered {
                    let value = trace.explanation.as_ref().unwrap().value;
                    assert!((value - hit.score).abs() < 1e-5, "{}: {value} {hit:?}", case.stage);
                }
            }
        });
    }
}

#[test]
fn a_request_is_ranked_the_same_whatever_else_is_in_the_batch() {
    for case in cases().iter().filter(|case| case.requests.len() == 1) {
        with_context(&Earlier::new(&[]), |context| {
            let pipeline = case.system().pipeline;
            let run = |requests: &[Request]| {
                let before = vec![case.before(); requests.len()];
                pipeline.run(&Batch::new(context, requests), before).unwrap()
            };
            let other = Request::new("2", "blue car");
            let (alone, with) =
                (run(&case.requests), run(&[other.clone(), case.requests[0].clone(), other]));
            assert_eq!(alone[0], with[1], "{}", case.stage);
        });
    }
}

#[test]
fn a_common_word_of_an_answer_is_not_the_topic() {
    let row = |number: u32| BankRow {
        id: format!("Q{number}").as_str().into(),
        text: if number < 8 { format!("want {number}") } else { format!("solar {number}") },
    };
    let bank = Bank::new(
        (0..10).map(row).chain([BankRow { id: "Qs".into(), text: "saturn".into() }]).collect(),
        "Q00001",
    );
    let folder = TempDir::new().unwrap();
    let context = Context::new(&bank, index_below(folder.path()));
    let system = system(STOP_OFF_TOPIC);
    let stops = |answer: &str, best: u32| {
        let requests = [conversation(&["saturn", "titan of saturn", answer])];
        let before = vec![vec![Hit { doc: Doc(best), score: 1.0 }]];
        system.pipeline.run(&Batch::new(&context, &requests), before).unwrap()[0].is_empty()
    };
    // Of 11 texts, 1 has "saturn", 2 have "solar" and 8 "want".
    assert!(!stops("no", 10) && stops("no", 0) && stops("no I want", 0));
    assert!(!stops("no I want solar", 8) && stops("no I want solar", 0));
}

/// The memory of this process in kB.
#[cfg(target_os = "linux")]
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Caches that keep something of each request would take more than this.
#[cfg(target_os = "linux")]
const MOST_GROWTH: u64 = 8 << 10;

/// In a process of its own, because other tests take memory, too.
#[cfg(target_os = "linux")]
#[test]
fn no_stage_keeps_anything_of_the_requests_that_it_ranked() {
    let itself = std::env::current_exe().unwrap();
    let alone = ["--exact", "stages::stages_rank_20_000_requests", "--ignored"];
    let finished = std::process::Command::new(itself).args(alone).output().unwrap();
    assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stdout));
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "started by the test above"]
fn stages_rank_20_000_requests() {
    let mut seen = Vec::new();
    for case in cases().iter().filter(|case| case.requests.len() == 1) {
        let name = case.stage.lines().next().unwrap();
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        with_context(&Earlier::new(&[]), |context| {
            let pipeline = case.system().pipeline;
            let rank = |number: usize| {
                let mut request = case.requests[0].clone();
                request.said.push(Utterance::user(format!("fox {number}")));
                let batch = Batch::new(context, std::slice::from_ref(&request));
                pipeline.run(&batch, vec![case.before()]).unwrap();
            };
            (0..1_000).for_each(rank);
            let before = memory();
            (1_000..20_000).for_each(rank);
            let grown = memory().saturating_sub(before);
            assert!(grown < MOST_GROWTH, "{name}: {grown} kB");
        });
    }
}

#[test]
fn lines_of_a_run_that_are_not_read_are_told_once() {
    struct Notes(Mutex<Vec<String>>);

    impl Observer for Notes {
        fn note(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }

    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.run");
    fs::write(&path, "# made by x\n1 0 Q2 1 9 x\n1 0 Q3 2 8 x and more\n").unwrap();
    let path = path.display();
    let system = system(&format!("stage = \"candidates\"\nrun = \"{path}\""));
    let notes = Notes(Mutex::default());
    let bank = bank();
    let mut context = Context::new(&bank, index_below(folder.path()));
    context.observer = &notes;
    for _ in 0..2 {
        let requests = [Request::new("1", "red")];
        let batch = Batch::new(&context, &requests);
        assert_eq!(ids(&system.pipeline.run(&batch, batch.unranked()).unwrap()[0]), ["Q2", "Q3"]);
    }
    let expected = [
        format!("warning: {path}: 1 line begins with `#` and is a comment"),
        format!("warning: {path}: 1 line has words after the last field, which are ignored"),
    ];
    assert_eq!(*notes.0.lock().unwrap(), expected);
}
