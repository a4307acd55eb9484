//! The challenge's official scorer as the evaluation of `ClariQ`.

mod tasks;

use super::named_documents::{NamedDocuments, is_of_documents};
use super::task::OfficialTask;
use super::{CUTOFFS, NeedReport, clarification_need, question_relevance};
use crate::need_file::parse_need_file;
use crate::official_file::OfficialReader;
use crate::text_run::refuse_text_run;
use crate::{ClariQ, Labelled, NeedLine, QUESTIONS};
use clariq_collections::evaluation::{
    Answers, ByQrels, Cases, Evaluation, Rankings, ScoreOptions, ScoredTopics, is_need_file,
};
use clariq_collections::{Collection, Split, read_once};
use clariq_core::{Error, RequestId};
use clariq_eval::{Aggregate, Score, Ties};
use clariq_files::{FileContent, Run, Source, strictly};
use std::sync::OnceLock;

/// Weighted F1 of need labels, as configurations name it.
const NEED_F1: &str = "need F1";
/// The measures of the challenge's leaderboard of document relevance.
pub const DOCUMENT_MEASURES: [&str; 4] = ["MRR100", "P1", "NDCG3", "NDCG5"];

/// The scores of a row of that leaderboard, if all of its measures are there.
pub fn leaderboard_row(scores: &[Score]) -> Option<Vec<f64>> {
    let value = |name| scores.iter().find(|score| score.measure == name).map(Score::value);
    DOCUMENT_MEASURES.into_iter().map(value).collect()
}

/// The names of the scores that configurations may expect.
pub(crate) fn names() -> Vec<String> {
    let own = [NEED_F1].into_iter().chain(DOCUMENT_MEASURES).map(str::to_owned);
    CUTOFFS.iter().map(|cutoff| format!("R@{cutoff}")).chain(own).collect()
}

/// A split with its labels, which are read on first use.
pub struct Official<'a> {
    clariq: &'a ClariQ,
    split: Split,
    labels: OnceLock<Labelled>,
    documents: NamedDocuments<'a>,
}

impl<'a> Official<'a> {
    pub fn new(clariq: &'a ClariQ, split: Split) -> Self {
        let documents = NamedDocuments::new(clariq, split);
        Self { clariq, split, labels: OnceLock::new(), documents }
    }

    /// The labels; an error if there are none.
    pub fn labels(&self) -> Result<&Labelled, Error> {
        read_once(&self.labels, || self.clariq.labelled(self.split))
    }

    /// The topics that files are scored on.
    pub fn topics(&self) -> Result<ScoredTopics, Error> {
        let labels = self.labels()?;
        Ok(ScoredTopics::new(&labels.name, labels.topics.iter().map(|topic| &topic.id)))
    }

    fn reader(&self) -> Result<OfficialReader, Error> {
        Ok(OfficialReader::new(self.labels()?.topics.iter().map(|topic| &topic.id)))
    }

    /// Reads a run over topics of the labels as the official scorer does.
    pub fn run(&self, source: &Source) -> Result<Run, Error> {
        self.parse_run(source, &source.read()?, true)
    }

    /// Parses a run over topics of the labels; `in_order` as the official scorer does.
    fn parse_run(
        &self,
        source: &Source,
        input: &FileContent,
        in_order: bool,
    ) -> Result<Run, Error> {
        refuse_text_run(input, &self.clariq.bank)?;
        let reader = self.reader()?;
        let run = if in_order { reader.run_in_order(input)? } else { reader.run(input)? };
        self.topics()?.check_answered(source, run.lines.iter().map(|line| &line.topic))?;
        Ok(run)
    }

    /// Reads a need file over topics of the labels as the official scorer does.
    pub fn need_lines(&self, source: &Source) -> Result<Vec<NeedLine>, Error> {
        let lines = self.reader()?.needs(&source.read()?)?;
        self.topics()?.check_answered(source, lines.iter().map(|line| &line.topic))?;
        Ok(lines)
    }

    /// The reason why a run cannot be scored: it has texts, or else the error that was found.
    fn or_texts(&self, source: &Source, error: Error) -> Error {
        match source.read().map(|input| refuse_text_run(&input, &self.clariq.bank)) {
            Ok(Err(texts)) => texts.into(),
            _ => error,
        }
    }

    fn by_qrels(&self) -> Result<ByQrels<'a>, Error> {
        ByQrels::open(self.clariq, self.split, QUESTIONS)
    }

    /// Scores a file as the official scorer does.
    pub fn score_as(&self, task: &OfficialTask, file: &Source) -> Result<OfficialScores, Error> {
        tasks::score(self, task, file)
    }

    /// The scores of a ranking by the measures that were named, or else by the official recalls,
    /// and what they ignore.
    fn scores(&self, run: &Run, by: &ScoreOptions) -> Result<(Vec<Score>, Vec<String>), Error> {
        let labels = self.labels()?;
        if by.measures.is_empty() {
            let ties = by.order(Ties::Official);
            return Ok((question_relevance(run, labels, ties), Vec::new()));
        }
        self.documents.scores(by, run, labels, &self.by_qrels()?)
    }

    /// The weighted F1 of a need file.
    fn needs(&self, input: &FileContent) -> Result<Cases, Error> {
        let needs = strictly(|sink| parse_need_file(input, sink))?;
        let f1 = clarification_need(&needs, self.labels()?).f1;
        Ok(Cases::new(vec![Score::of_all("need", "F1", Aggregate::ByClass(f1))], Vec::new()))
    }
}

/// The scores of the official scorer, under its names.
#[derive(Default)]
pub struct OfficialScores {
    pub scores: Vec<Score>,
    /// Parts of the file that the scores ignore.
    pub warnings: Vec<String>,
    /// Notes that name the published rows with these scores.
    pub published: Vec<String>,
    /// The classes of a need file.
    pub needs: Option<NeedReport>,
}

impl Evaluation for Official<'_> {
    fn cases(&self, answers: Answers, by: &ScoreOptions) -> Result<Cases, Error> {
        if let Some(part) = by.part {
            (self.clariq as &dyn Collection).find_task(part)?;
        }
        let source = match answers {
            Answers::Run(run) => {
                let (scores, _) = self.scores(run, by)?;
                return Ok(Cases::new(scores, Vec::new()));
            }
            Answers::File(source) => source.repeatable()?,
        };
        let by_name = !by.measures.is_empty();
        let recalls =
            !by_name || by.measures.iter().any(|measure| measure.clariq_cutoff().is_some());
        if !recalls && !by.measures.iter().any(is_of_documents) {
            let cases = self.by_qrels()?.cases(Answers::File(&source), by);
            return cases.map_err(|error| self.or_texts(&source, error));
        }
        let input = source.read()?;
        if !by_name && is_need_file(&input) {
            return self.needs(&input);
        }
        let ties = by.order(if recalls { Ties::Official } else { Ties::Id });
        let run = self.parse_run(&source, &input, by_name || ties == Ties::Official)?;
        let (scores, mut warnings) = self.scores(&run, by)?;
        if !by_name || !by.measures.iter().all(is_of_documents) {
            warnings.extend(self.topics()?.warnings(&run, ties));
        }
        if recalls && by_name {
            warnings.extend(self.by_qrels()?.unjudged(&run));
        }
        let rankings = Some(Rankings { task: None, run });
        Ok(Cases { rankings, ..Cases::new(scores, warnings) })
    }

    fn request_of(&self, case: &RequestId) -> Option<&RequestId> {
        self.documents.topics(self.labels().ok()?).get(case)
    }

    fn usual_ties(&self) -> Ties {
        Ties::Official
    }

    /// The challenge ranked by recall at 30.
    fn focus(&self) -> usize {
        CUTOFFS.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::splits;
    use crate::{SAMPLE, evaluation::recall};
    use clariq_collections::evaluation::TieRule;
    use clariq_eval::parse_measures;

    #[test]
    fn recall_has_the_value_of_the_official_scorer_by_every_name() {
        let clariq = ClariQ::open(SAMPLE).unwrap();
        let official = Official::new(&clariq, splits::DEV);
        let labels = official.labels().unwrap();
        let mut lines = Vec::new();
        for (topic, relevant) in labels.topics.iter().zip(labels.relevant()) {
            let mut relevant: Vec<_> = relevant.iter().collect();
            relevant.sort();
            // A repeated question, and two of one score.
            for (question, score) in [(0, 9), (0, 8), (1, 7), (2, 7), (3, 6)] {
                let question = relevant[question % relevant.len()];
                lines.push(format!("{} 0 {question} 1 {score} t\n", topic.id));
            }
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), lines.concat()).unwrap();
        let source = Source::new(file.path());
        let run = official.run(&source).unwrap();
        let cases = |names: &str, ties| {
            let measures = parse_measures(names).unwrap();
            let by = ScoreOptions { measures: &measures, ties, ..ScoreOptions::default() };
            official.cases(Answers::File(&source), &by).unwrap()
        };
        let usual = cases("", None).scores;
        let at_3 = recall(&run, labels, Ties::Official, &[3])[0].value();
        for name in ["R@5", "Recall5", "recall_5", "nDCG@3 R@5", "R@3"] {
            let named = cases(name, None);
            let score = named.scores.iter().find(|score| score.measure.starts_with("R@")).unwrap();
            let expected = if name == "R@3" { at_3 } else { usual[0].value() };
            assert_eq!(score.value().to_bits(), expected.to_bits(), "{name}");
            assert!(
                named.warnings.iter().any(|it| it.contains("trec_eval")),
                "{:?}",
                named.warnings
            );
        }
        let by_id = cases("R@5", Some(TieRule::Order(Ties::Id))).scores;
        assert!(by_id[0].value() > usual[0].value(), "no line of an equal score is dropped");
        let other = cases("R(rel=2)@5 P@5", None);
        assert!(!other.warnings.iter().any(|it| it.contains("trec_eval")), "{:?}", other.warnings);
    }
}
