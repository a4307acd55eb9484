//! The measures of `ClariQ`'s evaluation tables: figures of documents, to compare and to tune by.

use crate::common::{Folder, Work};
use crate::written_table::{eval_table, eval_table_of};
use clariq_collections::evaluation::{Answers, Evaluation, ScoreOptions};
use clariq_core::{Error, RequestId};
use clariq_eval::{Score, parse_measures};
use clariq_experiment::tune::{Grid, GridSearch, TuningLabels};
use clariq_files::Source;
use snapbox::{assert_data_eq, str};
use std::collections::BTreeSet;

const TABLE: &str = "data/single_turn_train_eval.pkl";

/// Only never asking is a candidate, and better than the worst one.
const FIGURES: [(&str, f64); 3] = [("Q00001", 0.5), ("MIN", 0.25), ("MAX", 0.75)];

fn evaluated<T>(work: &Work, test: impl FnOnce(&dyn Evaluation) -> T) -> T {
    let evaluated = work.with_session(|session| {
        let evaluation = session.collection.evaluation(session.split.expect("dev"));
        test(&*evaluation.expect("labels"))
    });
    evaluated.0
}

#[test]
fn names_of_the_official_scorer_mean_documents() {
    let folder = Folder::with_sample();
    let work = Work::on(&folder, "data", "dev");
    work.run("bm25", "bm25.run").expect("a run");
    work.run("no-question", "none.run").expect("a run");
    let scores = |run: &str, names: &str| -> Result<Vec<Score>, Error> {
        let measures = parse_measures(names).expect("measures");
        let by = ScoreOptions { measures: &measures, ..ScoreOptions::default() };
        let source = Source::new(folder.path(run));
        evaluated(&work, |it| it.cases(Answers::File(&source), &by).map(|found| found.scores))
    };
    let refused = scores("bm25.run", "MRR100 RR@100").expect_err("a refusal");
    assert_data_eq!(
        work.printed(&refused),
        str![[r#"
error: @/data: missing file
  expected: a table `single_turn_train_eval`, which has the document relevance MRR100
     found: none
hint: MRR100 is about documents, as in the official scorer; RR@100 is the measure of the questions

"#]]
    );
    folder.write(TABLE, eval_table(&["MRR100", "P1"], "VF0012", &FIGURES));
    let facet = RequestId::from("F0012");
    for (run, mean) in [("bm25.run", 0.25), ("none.run", 0.5)] {
        let scores = scores(run, "MRR100 RR@100").expect("scores");
        let named = scores.iter().map(|score| (&*score.part, &*score.measure));
        assert_eq!(named.collect::<Vec<_>>(), [("documents", "MRR100"), ("questions", "RR@100")]);
        assert_eq!(scores[0].values, [(facet.clone(), mean)], "{run}");
        assert_eq!(scores[1].values.len(), 15);
    }
    // A facet is shown with the request of its topic.
    let request = evaluated(&work, |evaluation| evaluation.request_of(&facet).cloned());
    assert!(folder.text("data/dev.tsv").contains(&format!("\n{}\t", request.expect("a topic"))));
    let found = scores("none.run", "MRR100 RR@100 P1").expect("scores");
    let names: Vec<String> = found.iter().map(Score::known_as).collect();
    assert_eq!(names, ["MRR100", "RR@100", "P1"]);
    assert_eq!((found[0].value(), found[2].value()), (0.5, 0.5));
}

#[test]
fn a_parameter_is_tuned_by_document_relevance() {
    let folder = Folder::with_sample();
    let dev = folder.text("data/dev.tsv");
    // A facet is `F0012`.
    let is_facet = |cell: &&str| cell.len() == 5 && cell.starts_with('F') && !cell.contains(' ');
    let facets: BTreeSet<String> = dev
        .lines()
        .skip(1)
        .map(|line| format!("V{}", line.split('\t').find(is_facet).expect("a facet")))
        .collect();
    let facets: Vec<&str> = facets.iter().map(String::as_str).collect();
    folder.write(TABLE, eval_table_of(&["MRR100"], &facets, &FIGURES));
    folder.write(
        "stops.toml",
        "name = \"stops\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n\
         [[stages]]\nstage = \"no_question\"\nrank = 1\n",
    );
    let system = folder.path("stops.toml").display().to_string();
    let grid = Grid::parse(&["no_question.rank=2,1"]).expect("a grid");
    let measures = parse_measures("MRR100").expect("a measure");
    Work::on(&folder, "data", "dev").with_session(|session| {
        let search = GridSearch {
            system: &system,
            rewrites: None,
            grid: &grid,
            labels: TuningLabels::Split(session.split.expect("a split")),
            task: None,
            measures: &measures,
            by: 0,
            folds: 5,
        };
        let tuned = search.run(session).expect("figures");
        // In the order of the grid: the empty question at rank 2, and then at rank 1.
        let means: Vec<f64> = tuned.trials.iter().map(|trial| trial.means[0]).collect();
        assert_eq!(means, [0.25, 0.5]);
        let held_out = tuned.held_out();
        assert_eq!(held_out.means, [0.5]);
        assert!(held_out.choices.iter().all(|best| best.means == [0.5]));
    });
}
