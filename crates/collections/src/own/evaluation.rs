//! The evaluation of documents of one's own: runs by judgements, need files by the labels of requests.

use crate::evaluation::{
    Answers, ByQrels, Cases, Evaluation, ReadNeeds, ScoreOptions, check_needs, is_need_file,
    need_table, parse_needs,
};
use clariq_core::{Error, ProblemKind, RequestId, problem};
use std::collections::BTreeMap;

pub(super) struct OwnEvaluation<'a> {
    pub(super) location: String,
    pub(super) by_qrels: Option<ByQrels<'a>>,
    /// The needs of requests that have one.
    pub(super) labels: BTreeMap<RequestId, String>,
}

impl<'a> OwnEvaluation<'a> {
    fn by_qrels(&self) -> Result<&ByQrels<'a>, Error> {
        self.by_qrels.as_ref().ok_or_else(|| {
            let hint = "name a split with judgements, or a file of them by --qrels";
            problem!(&self.location, "judgements for a run", "labels of needs alone", hint)
                .kind(ProblemKind::MissingFile)
                .into()
        })
    }
}

impl Evaluation for OwnEvaluation<'_> {
    fn cases(&self, answers: Answers, by: &ScoreOptions) -> Result<Cases, Error> {
        let Answers::File(source) = answers else { return self.by_qrels()?.cases(answers, by) };
        let source = source.repeatable()?;
        let run = Answers::File(&source);
        if self.labels.is_empty() {
            return self.by_qrels()?.cases(run, by);
        }
        let input = source.read()?;
        if !is_need_file(&input) {
            return self.by_qrels()?.cases(run, by);
        }
        let ReadNeeds { needs, ignored } = parse_needs(&input)?;
        let mut warnings = check_needs(&input.name, &self.labels, &needs)?;
        warnings.extend(ignored.describe());
        let tables = vec![need_table(&self.labels, &needs)];
        Ok(Cases { tables, warnings, ..Cases::default() })
    }

    fn warnings(&self) -> &[String] {
        self.by_qrels.as_ref().map_or(&[], |by_qrels| &by_qrels.warnings)
    }
}
