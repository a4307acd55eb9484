//! Small labels, runs and pages for tests.

use super::ClariqPage;
use crate::request::{PageRequest, PageRun};
use clariq_collections::documents::{Bank, BankRow};
use clariq_core::Need;
use clariq_eval::Score;
use clariq_files::{Run, RunLine, Source};
use clariq_track_clariq::{
    Facet, Labelled, LabelledRow, LabelledTopic, NO_QUESTION, NeedLine, splits,
};

/// A request that would be markup if it were not escaped.
pub(crate) const ATTACK: &str = "<script>alert(\"1\")</script> & 'friends'";

/// Topic, document and score.
pub(crate) type Line<'a> = (&'a str, &'a str, f64);

fn run(lines: &[Line]) -> Run {
    let lines = (1..).zip(lines).map(|(line, &(topic, document, score))| RunLine {
        topic: topic.into(),
        document: document.into(),
        score,
        line,
    });
    Run { lines: lines.collect(), ..Run::default() }
}

fn topic(id: &str, request: &str, need: u8) -> LabelledTopic {
    let request = request.to_owned();
    let description = String::new();
    LabelledTopic { id: id.into(), request, description, need: Need::new(need) }
}

/// Topics with one facet each and their relevant questions.
fn labels(topics: &[(&str, &[&str])]) -> Labelled {
    let mut labelled = Labelled::default();
    for (index, (id, questions)) in topics.iter().enumerate() {
        labelled.topics.push(topic(id, "", 2));
        let id = format!("F{index}").as_str().into();
        labelled.facets.push(Facet { id, topic: index, description: String::new() });
        labelled.rows.extend(questions.iter().map(|&question| LabelledRow {
            facet: index,
            question: question.into(),
            text: String::new(),
            answer: String::new(),
            line: 1,
        }));
    }
    labelled
}

/// Two topics, the first with [`ATTACK`] as its request, and some runs.
pub(crate) struct Small {
    bank: Bank,
    labels: Labelled,
    shown: Vec<PageRun>,
    runs: Vec<Run>,
    pub(crate) need_files: Vec<(String, Source)>,
    pub(crate) needs: Vec<Vec<NeedLine>>,
}

impl Small {
    pub(crate) fn new(runs: &[(&str, &[Line])]) -> Self {
        let ids = ["Q00001", "Q1", "Q2", "Q3", "Q4", "Q5", "Q6"];
        let text =
            |id: &str| if id == "Q00001" { String::new() } else { format!("what about {id}") };
        let rows = ids.map(|id| BankRow { id: id.into(), text: text(id) }).to_vec();
        let mut labels = labels(&[("1", &["Q00001", "Q1", "Q2", "Q3"]), ("2", &["Q4", "Q5"])]);
        labels.topics = vec![topic("1", ATTACK, 1), topic("2", "usual", 2)];
        let shown = |(name, _): &(&str, &[Line])| {
            let name = (*name).to_owned();
            let file = Source::memory("run", *b"");
            PageRun { name, file, depth: None, uses: Vec::new() }
        };
        Self {
            bank: Bank::new(rows, NO_QUESTION),
            labels,
            shown: runs.iter().map(shown).collect(),
            runs: runs.iter().map(|(_, lines)| run(lines)).collect(),
            need_files: Vec::new(),
            needs: Vec::new(),
        }
    }

    pub(crate) fn comparison(&self) -> ClariqPage<'_> {
        let runs = &self.shown;
        let needs = &self.need_files;
        ClariqPage {
            request: PageRequest {
                title: "small",
                runs,
                baseline: 0,
                needs,
                measures: &[],
                seed: 42,
            },
            split: splits::DEV,
            bank: &self.bank,
            labels: &self.labels,
            runs: &self.runs,
            documents: &[],
            by_name: &[],
            needs: &self.needs,
        }
    }
}

#[test]
fn measures_of_documents_compare_facets_and_topics_stay_in_their_section() {
    let mut small = Small::new(&[("one", &[("1", "Q1", 1.0)]), ("two", &[("2", "Q4", 1.0)])]);
    let facet = Facet { id: "F2".into(), topic: 1, description: String::new() };
    small.labels.facets.push(facet);
    let score = |value: f64| {
        let values = ["F0", "F1", "F2"].map(|facet| (facet.into(), value)).to_vec();
        Score { unit: "facet", ..Score::new("", "MRR100", values) }
    };
    let by_name = [vec![score(0.25)], vec![score(0.5)]];
    let html = super::render(&ClariqPage { by_name: &by_name, ..small.comparison() });
    assert!(html.contains("documents over 3 facets"), "{html}");
    assert!(html.contains("Better on 3, the same on 0, worse on 0 of 3 facets."), "{html}");
    assert!(html.contains("<a href=\"#topic-1\">F2</a>"), "{html}");
    assert!(
        html.contains("R@30: one 0.25 → two 0.00"),
        "topics are in the order of recall: {html}"
    );
}
