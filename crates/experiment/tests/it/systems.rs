//! Open systems: rankings, answers, explanations and questions.

use crate::common::{Folder, Work};
use clariq_collections::evaluation::{Answers, ByQrels, Evaluation as _, ScoreOptions};
use clariq_collections::{Collection, DataDir, Split, SystemClass};
use clariq_core::{Doc, Request, Utterance};
use clariq_eval::parse_measures;
use clariq_experiment::ask::{Asker, Move};
use clariq_experiment::run::RequestFileKind;
use clariq_experiment::tune::{Grid, GridSearch, TuningLabels};
use clariq_experiment::{
    Contexts, NeedScope, RankedPart, Session, SessionOptions, Statements, UserRequest, open_system,
};
use clariq_files::Source;
use clariq_systems::SystemConfig;
use clariq_track_ikat::{Ikat, PASSAGES, STATEMENTS, splits};
use std::slice;

/// Calls `test` with a session on a collection, on one of its splits if any is named.
fn with_session(collection: &dyn Collection, split: Option<Split>, test: impl FnOnce(&Session)) {
    let folder = tempfile::tempdir().unwrap();
    let options = SessionOptions { cache: folder.path().to_owned(), ..SessionOptions::default() };
    let session = Session::new(collection, options).unwrap();
    match split {
        Some(split) => test(&session.answering(split)),
        None => test(&session),
    }
}

#[test]
fn only_candidates_are_ranked() {
    let sample = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE).unwrap();
    with_session(&*sample, None, |session| {
        let named = ["Q00002", "Q00159"].map(|id| session.documents.find(id).unwrap());
        let request =
            Request { candidates: Some(named.to_vec()), ..Request::new("1", "tent pegs") };
        let contexts = Contexts::new(session);
        let config = SystemConfig::open("bm25-english", &[]).unwrap();
        let system = open_system(&contexts, &config, NeedScope::ForStages).unwrap();
        let outcome = system.rank(&[request.into()]).unwrap().remove(0);
        let docs: Vec<Doc> = outcome.ranking.iter().map(|hit| hit.doc).collect();
        assert!(docs.contains(&named[1]), "{docs:?}");
        assert!(docs.iter().all(|doc| named.contains(doc)), "{docs:?}");
    });
}

/// The turns of a split, with the statements of their users as the collection has them.
fn turns(ikat: &Ikat, split: Split) -> Vec<UserRequest> {
    let seen = |task| ikat.requests_seen(split, task, SystemClass::Automatic.into()).unwrap();
    let query = |(request, statements): (Result<Request, _>, Result<Request, _>)| UserRequest {
        request: request.unwrap(),
        statements: Statements::Known(statements.unwrap().candidates),
    };
    seen(PASSAGES).zip(seen(STATEMENTS)).map(query).collect()
}

#[test]
fn statements_that_come_with_a_request_are_numbered_in_its_order() {
    let ikat = Ikat::open(clariq_track_ikat::SAMPLE, None).unwrap();
    with_session(&ikat, None, |session| {
        let contexts = Contexts::new(session);
        let config = SystemConfig::open_any("ikat-bm25", &[]).unwrap();
        let system = open_system(&contexts, &config, NeedScope::ForStages).unwrap();
        let request = Request::new("1", "Can I eat peanuts on the plane to Oslo?");
        let texts: Vec<String> =
            (1..=12).map(|number| format!("I know person {number}.")).collect();
        let mut texts = [texts, vec!["I am allergic to peanuts.".to_owned()]].concat();
        texts.push("I live in Oslo.".to_owned());
        let query = UserRequest { request, statements: Statements::Own(texts) };
        // A request of another user in the batch changes nothing.
        let other =
            UserRequest { statements: Statements::Own(vec!["Hello.".to_owned()]), ..query.clone() };
        let outcomes = system.rank(&[other, query.clone()]).unwrap();
        let answer = outcomes[1].answer.as_ref().unwrap();
        let listed = system.list(&query, RankedPart::Statements, &answer.statements).unwrap();
        let best: Vec<(&str, &str)> =
            listed.iter().take(2).map(|one| (&*one.id, &*one.text)).collect();
        assert!(best.contains(&("13", "I am allergic to peanuts.")), "{listed:?}");
        assert!(best.contains(&("14", "I live in Oslo.")), "{listed:?}");
        assert!(!answer.chosen.is_empty() && !answer.text().is_empty());
        for hit in &answer.statements[..2] {
            let traces = system.explain(&query, RankedPart::Statements, hit.doc).unwrap();
            assert_eq!(traces[0].task, STATEMENTS.name());
            let rank = traces[0].stages.last().unwrap().rank;
            assert_eq!(rank, answer.statements.iter().position(|one| one == hit).map(|i| i + 1));
        }
    });
}

#[test]
fn an_explanation_agrees_with_the_ranking() {
    let ikat = Ikat::open(clariq_track_ikat::SAMPLE, None).unwrap();
    with_session(&ikat, Some(splits::TEST_2023), |session| {
        let contexts = Contexts::new(session);
        let config = SystemConfig::open_any("ikat-bm25", &[]).unwrap();
        let system = open_system(&contexts, &config, NeedScope::ForStages).unwrap();
        for query in turns(&ikat, splits::TEST_2023).iter().take(4) {
            let outcome = system.rank(slice::from_ref(query)).unwrap().remove(0);
            let statements = &outcome.answer.as_ref().unwrap().statements;
            for (part, ranking) in
                [(RankedPart::Statements, statements), (RankedPart::Documents, &outcome.ranking)]
            {
                let Some(best) = ranking.first() else { continue };
                let traces = system.explain(query, part, best.doc).unwrap();
                let last = traces[0].stages.last().unwrap();
                assert_eq!((last.rank, last.score), (Some(1), Some(best.score)));
            }
        }
    });
}

#[test]
fn parameters_of_a_task_are_tuned_over_conversations() {
    let ikat = Ikat::open(clariq_track_ikat::SAMPLE, None).unwrap();
    with_session(&ikat, None, |session| {
        let measures = parse_measures("nDCG@3").unwrap();
        let search = |axes: &[&str], task| {
            GridSearch {
                system: "ikat-bm25",
                rewrites: None,
                grid: &Grid::parse(axes).unwrap(),
                labels: TuningLabels::Split(splits::TEST_2023),
                task,
                measures: &measures,
                by: 0,
                folds: 3,
            }
            .run(session)
            .unwrap()
        };
        let axes = ["passages.bm25.k1=0.5,0.9", "passages.bm25.history.user=0.1,0.5"];
        let tuned = search(&axes, None);
        let held_out = tuned.held_out();
        assert_eq!((tuned.trials.len(), held_out.choices.len()), (4, 3));
        assert!(0.0 < held_out.means[0] && held_out.means[0] <= tuned.best_first()[0].means[0]);
        // The point of the configuration has the figure that the configuration expects.
        let known = "passages.bm25.k1=0.9 passages.bm25.history.user=0.1";
        let trial = tuned.trials.iter().find(|trial| trial.to_string() == known).unwrap();
        assert!((trial.means[0] - 0.338_251).abs() < 1e-6, "{}", trial.means[0]);
        let tuned = search(&["statements.bm25.b=0.4,0.9"], Some(STATEMENTS.name()));
        let [low, high] = [0, 1].map(|trial: usize| tuned.trials[trial].means[0]);
        assert!((low - 0.384_478).abs() < 1e-6, "{low}");
        assert!((low - high).abs() > 1e-9, "the parameter counts");
    });
}

#[test]
fn a_system_asks_up_to_the_maximum_number_of_questions() {
    let sample = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE).unwrap();
    with_session(&*sample, None, |session| {
        let contexts = Contexts::new(session);
        let config = SystemConfig::open("bm25-conversation", &[]).unwrap();
        let asker = Asker::open(&contexts, &config, 2, true).unwrap();
        let mut conversation = UserRequest::from(Request::new("0", "Tell me about Saturn."));
        let mut asked = Vec::new();
        while let Move::Ask { question, why } = asker.next(&mut conversation).unwrap() {
            assert!(conversation.request.need.is_some());
            assert_eq!((why.candidates.len(), &why.candidates[0]), (5, &question));
            let said = [Utterance::system(&*question.text), Utterance::user("no")];
            conversation.request.said.extend(said);
            asked.push(question.id);
        }
        assert!(asked.len() == 2 && asked[0] != asked[1], "{asked:?}");
        let silent = SystemConfig::open("no-question", &[]).unwrap();
        let asker = Asker::open(&contexts, &silent, 2, false).unwrap();
        let next = asker.next(&mut Request::new("0", "Tell me about Saturn.").into()).unwrap();
        let Move::Stop { reason, .. } = next else { panic!("it asks") };
        assert_eq!(reason, "the system asks nothing");
    });
}

#[test]
fn after_a_no_nothing_is_asked_about_another_topic() {
    let folder = Folder::new();
    folder.write(
        "data/question_bank.tsv",
        "question_id\tquestion\nQ1\tare you referring to titan the moon of saturn\n\
         Q2\twhat can i tell you about wilsons disease\n\
         Q3\tcan you tell me what interests you about this movie\n\
         Q4\tdo you want to know the symptoms\nQ5\twhich garden is it\n",
    );
    let work = Work::outside(&folder, DataDir::Folder(folder.path("data")));
    let config = work.load("bm25-conversation").unwrap();
    work.with_session(|session| {
        let contexts = Contexts::new(session);
        let asker = Asker::open(&contexts, &config, 3, false).unwrap();
        let mut conversation = UserRequest::from(Request::new("0", "Tell me about Saturn"));
        let next = asker.next(&mut conversation).unwrap();
        let Move::Ask { question, .. } = next else { panic!("it asks nothing") };
        assert_eq!(question.text, "are you referring to titan the moon of saturn");
        let said = [Utterance::system(&*question.text), Utterance::user("no")];
        conversation.request.said.extend(said);
        let Move::Stop { reason, .. } = asker.next(&mut conversation).unwrap() else {
            panic!("it asks again")
        };
        assert_eq!(reason, "the best question has no word of the topic (saturn)");
    });
}

#[test]
fn judged_topics_without_a_request_count_zero_in_tune_as_in_eval() {
    let folder = Folder::new();
    folder.copy("data/sample-own", "data");
    let comment = "# made by hand\n".to_owned();
    folder.write("more.qrels", comment + &folder.text("data/qrels.dev.txt") + "gone 0 bike/1 1\n");
    let work = Work::on(&folder, "data", "dev");
    work.run("bm25-english", "a.run").unwrap();
    let measures = parse_measures("nDCG@10").unwrap();
    let by_qrels = ByQrels::read(&Source::new(folder.path("more.qrels"))).unwrap();
    let file = Source::new(folder.path("a.run"));
    let by = ScoreOptions { measures: &measures, ..ScoreOptions::default() };
    let scored = by_qrels.cases(Answers::File(&file), &by).unwrap();
    let (tuned, notes) = Work::outside(&folder, work.data.clone()).with_session(|session| {
        let search = GridSearch {
            system: "bm25-english",
            rewrites: None,
            grid: &Grid::parse(&["bm25.k1=0.9"]).unwrap(),
            labels: TuningLabels::Files {
                requests: &folder.path("data/requests.dev.jsonl"),
                qrels: &folder.path("more.qrels"),
            },
            task: None,
            measures: &measures,
            by: 0,
            folds: 3,
        };
        search.run(session).unwrap()
    });
    assert_eq!(tuned.trials[0].means[0], scored.scores[0].value());
    let warning = "1 topic is not answered and counts 0";
    assert_eq!(scored.warnings, [warning]);
    let comments = "1 line of the judgements begins with `#` and is a comment";
    assert_eq!(by_qrels.warnings, [comments]);
    assert_eq!(notes, format!("warning: {comments}\nwarning: {warning}\n"));
}

#[test]
fn scores_that_are_not_finite_are_refused_with_their_stage() {
    let folder = Folder::with_sample();
    folder.write("r.jsonl", "{\"id\": 1, \"text\": \"tents\"}\n");
    let stages = "[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\nvariant = \"bm25plus\"\n\
                  depth = 5\ndelta = 1e308\nk1 = 1000.0\n";
    folder.write("large.toml", format!("name = \"large\"\n{stages}"));
    let work = Work::on(&folder, "data", "dev");
    let of_split = work.run("large.toml", "a.run").map(drop);
    let requests = ("r.jsonl", RequestFileKind::Requests);
    let of_file = work.run_file("large.toml", requests, false, "a.run").map(drop);
    let ranked = work.with_system("large.toml", |system| {
        system.rank(&[Request::new("1", "tents").into()]).map(drop)
    });
    let config = work.load("large.toml").unwrap();
    let (asked, _) = work.with_session(|session| {
        let contexts = Contexts::new(session);
        let asker = Asker::open(&contexts, &config, 1, false).unwrap();
        asker.next(&mut Request::new("1", "tents").into()).map(drop)
    });
    let (tuned, _) = work.with_session(|session| {
        let search = GridSearch {
            system: &folder.path("large.toml").display().to_string(),
            rewrites: None,
            grid: &Grid::parse(&["bm25.b=0.4,0.5"]).unwrap(),
            labels: TuningLabels::Split(session.split.unwrap()),
            task: None,
            measures: &parse_measures("R@5").unwrap(),
            by: 0,
            folds: 2,
        };
        search.run(session).map(drop)
    });
    for refused in [of_split, of_file, ranked.unwrap().0, asked, tuned] {
        let problem = refused.unwrap_err().to_problem();
        assert!(problem.title().contains("stage `bm25`"), "{problem}");
        assert_eq!(problem.expected, "finite scores");
        assert!(problem.found.starts_with("inf for `Q"), "{problem}");
    }
    assert!(!folder.path("a.run").exists());
}
