//! The catalogue entry of a measure.

use super::parameters::{AT, MeasureParameters, OF_RELEVANCE, Parameter, whole};
use super::{Qrels, TopicJudgements};
use clariq_core::{DocId, Result, bail};

/// A ranking for a topic, the judgements of the topic, and the parameters of a measure.
#[derive(Clone, Copy)]
pub(super) struct JudgedRanking<'a> {
    pub(super) by: &'a MeasureParameters,
    pub(super) ranking: &'a [DocId],
    pub(super) judgements: &'a TopicJudgements,
}

impl JudgedRanking<'_> {
    /// The relevance of each document among the first k.
    pub(super) fn hits(&self) -> impl Iterator<Item = bool> {
        let first = self.ranking.iter().take(self.by.depth());
        first.map(|document| self.judgements.is_relevant(document, self.by.rel))
    }

    pub(super) fn count_hits(&self) -> f64 {
        self.hits().filter(|hit| *hit).count() as f64
    }
}

/// The value for one topic: its documents, best first and none twice, against its judgements.
pub(super) type ScoreFunction = fn(&JudgedRanking) -> f64;

/// The worth of a document of a grade; `None` is not judged.
pub(super) type Worth = fn(&MeasureParameters, Option<i32>) -> i32;

/// A measure of the [catalogue](super::definitions::CATALOGUE): its names and parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeasureSpec {
    /// In the spelling of `ir_measures`.
    pub(super) name: &'static str,
    /// A second name, used by `ir_measures`.
    pub(super) alias: Option<&'static str>,
    /// Name in `trec_eval` without a cut-off.
    pub(super) trec: Option<&'static str>,
    /// Name in `trec_eval` with a cut-off, which follows after `_` or `.`.
    pub(super) trec_cut: Option<&'static str>,
    /// Name in the `ClariQ` scorer; the cut-off follows at once.
    pub(super) clariq: Option<&'static str>,
    /// Name in the `ClariQ` scorer, where it is a measure of the documents retrieved after a question.
    pub(super) clariq_documents: Option<&'static str>,
    /// An example of the complete name.
    pub(super) example: &'static str,
    /// The value for a topic, in words.
    pub(super) definition: &'static str,
    /// The publication or the program that defines it.
    pub(super) source: &'static str,
    /// The name that ranx has for it, which a hint understands.
    pub(super) ranx: Option<&'static str>,
    pub(super) cutoff: CutoffRule,
    pub(super) parameters: &'static [&'static Parameter],
    /// The highest grade for which the measure is defined, if there is one.
    pub(super) highest_grade: Option<i32>,
    /// The order of documents by which the value grows: of two neighbours, the one with more is first.
    pub(super) worth: Worth,
    pub(super) score: ScoreFunction,
}

/// Whether a measure has a cut-off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutoffRule {
    Needed,
    Optional,
    /// The measure is of whole rankings, or has a depth of its own.
    Never,
}

impl MeasureSpec {
    /// A measure of relevant documents that only `ir_measures` has a name for.
    pub(super) const fn new(
        name: &'static str,
        example: &'static str,
        score: ScoreFunction,
    ) -> Self {
        Self {
            name,
            alias: None,
            trec: None,
            trec_cut: None,
            clariq: None,
            clariq_documents: None,
            example,
            definition: "",
            source: "",
            ranx: None,
            cutoff: CutoffRule::Optional,
            parameters: OF_RELEVANCE,
            highest_grade: None,
            worth: |by, grade| grade.map_or(0, |grade| by.grade(grade).max(0)),
            score,
        }
    }

    /// All its names, without parameters.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let scorer = self.clariq.or(self.clariq_documents);
        let names = [Some(self.name), self.alias, self.trec, self.trec_cut, scorer, self.ranx];
        names.into_iter().flatten()
    }

    /// The row of the table of measures.
    pub(super) fn row(&self) -> String {
        let name = match self.cutoff {
            CutoffRule::Needed => format!("`{}@k`", self.name),
            CutoffRule::Optional => format!("`{0}`, `{0}@k`", self.name),
            CutoffRule::Never => format!("`{}`", self.name),
        };
        let parameters = self.parameters.iter().map(|parameter| format!("`{}`", parameter.name));
        let cut = |name: Option<&str>, mark: &str| name.map(|name| format!("`{name}{mark}`"));
        let others = [
            cut(self.alias, if self.cutoff == CutoffRule::Needed { "@k" } else { "" }),
            cut(self.trec, ""),
            cut(self.trec_cut, "_k"),
            cut(self.clariq.or(self.clariq_documents), "k"),
        ];
        let cells = [
            name,
            self.definition.to_owned(),
            parameters.collect::<Vec<_>>().join(", "),
            others.into_iter().flatten().collect::<Vec<_>>().join(", "),
            self.source.to_owned(),
        ];
        format!("| {} |", cells.join(" | "))
    }

    /// Makes the measure with the parameters that are given.
    pub(super) fn build(&'static self, given: Vec<(&str, &str)>) -> Result<Measure> {
        let mut by = MeasureParameters::default();
        for (name, value) in given {
            let parameter = self.parameters.iter().find(|parameter| parameter.name == name);
            match parameter {
                Some(parameter) => (parameter.set)(&mut by, value)?,
                None if name == "cutoff" && self.cutoff != CutoffRule::Never => {
                    by.cutoff = Some(parse_cutoff(value)?);
                }
                None => {
                    let of = self.name;
                    bail!(AT, "a parameter of {of}", "`{name}`", (self.takes()))
                }
            }
        }
        if by.cutoff.is_none() && self.cutoff == CutoffRule::Needed {
            let Self { name, example, .. } = self;
            bail!(AT, "a cut-off", "`{name}`", "write it as `{example}`")
        }
        Ok(Measure { spec: self, by, documents: false })
    }

    /// The suffixes that its name may have.
    fn takes(&self) -> String {
        let parameters = self.parameters.iter().map(|parameter| format!("`{}`", parameter.name));
        let cutoff = (self.cutoff != CutoffRule::Never).then(|| "a cut-off".to_owned());
        let all: Vec<String> = parameters.chain(cutoff).collect();
        let all = if all.is_empty() { "no parameters".to_owned() } else { all.join(", ") };
        format!("`{}` takes {all}", self.name)
    }
}

/// A measure with its parameters; [`parse_measure`](super::parse_measure) makes it from its name.
#[derive(Debug, Clone)]
pub struct Measure {
    pub(super) spec: &'static MeasureSpec,
    pub(super) by: MeasureParameters,
    /// True if it was named as by the `ClariQ` scorer, where that name means documents.
    pub(super) documents: bool,
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        let parts = |it: &Self| (it.spec.name, it.by.clone(), it.documents);
        parts(self) == parts(other)
    }
}

impl Measure {
    /// The name of the `ClariQ` scorer, as in `MRR100`, if the measure was named so and the name means
    /// documents there: those that are retrieved after a run's first question.
    pub fn clariq_documents(&self) -> Option<String> {
        let name = self.spec.clariq_documents.filter(|_| self.documents)?;
        Some(format!("{name}{}", self.by.cutoff?))
    }

    /// The cut-off, if the `ClariQ` scorer has this measure of questions, whatever name it was given: recall,
    /// which counts repeated documents and equal scores otherwise than `trec_eval`.
    pub fn clariq_cutoff(&self) -> Option<usize> {
        let as_usual = MeasureParameters { cutoff: self.by.cutoff, ..MeasureParameters::default() };
        self.by.cutoff.filter(|_| self.spec.clariq.is_some() && self.by == as_usual)
    }

    /// The name in the spelling of `ir_measures`; [`parse_measure`](super::parse_measure) of it gives
    /// the same measure of a ranking.
    pub fn name(&self) -> String {
        let shown = self.spec.parameters.iter().filter_map(|parameter| {
            (parameter.shown)(&self.by).map(|value| format!("{}={value}", parameter.name))
        });
        let shown: Vec<String> = shown.collect();
        let parameters =
            if shown.is_empty() { String::new() } else { format!("({})", shown.join(",")) };
        let cutoff = self.by.cutoff.map_or_else(String::new, |cutoff| format!("@{cutoff}"));
        format!("{}{parameters}{cutoff}", self.spec.name)
    }

    /// The number of documents that count; `None` if all do.
    pub fn cutoff(&self) -> Option<usize> {
        self.by.cutoff
    }

    /// The value for one topic: its documents, best first and none twice, against its judgements.
    /// 0 where the definition divides by zero.
    pub fn score(&self, ranking: &[DocId], judgements: &TopicJudgements) -> f64 {
        let of = JudgedRanking { by: &self.by, ranking, judgements };
        if self.by.judged_only {
            let mut judged = ranking.to_vec();
            judged.retain(|document| {
                judgements.grade(document).is_some_and(|grade| self.by.grade(grade) >= 0)
            });
            return (self.spec.score)(&JudgedRanking { ranking: &judged, ..of });
        }
        (self.spec.score)(&of)
    }

    /// The worth of a document of a grade; `None` is not judged. The value for a topic grows, or stays, if
    /// a document that is worth more moves before one that is worth less.
    pub fn worth(&self, grade: Option<i32>) -> i32 {
        (self.spec.worth)(&self.by, grade)
    }

    /// Refuses judgements with a grade for which the measure is not defined.
    pub(super) fn check(&self, qrels: &Qrels) -> Result<()> {
        let Some(highest) = self.spec.highest_grade else { return Ok(()) };
        for (topic, judgements) in qrels.topics() {
            if let Some(grade) = judgements.grades().find(|grade| *grade > highest) {
                let expected = format!("grades up to {highest} for {}", self.spec.name);
                let found = format!("{grade}, in topic `{topic}`");
                let hint = "nDCG(dcg='exp-log2') has no highest grade";
                bail!("the judgements", expected, found, hint);
            }
        }
        Ok(())
    }
}

fn parse_cutoff(value: &str) -> Result<usize> {
    let Some(cutoff) = whole(value).filter(|&cutoff| cutoff > 0) else {
        let expected = "a whole number from 1 as cut-off";
        bail!(AT, expected, "`{value}`", "R@30 has the cut-off 30")
    };
    Ok(cutoff)
}
