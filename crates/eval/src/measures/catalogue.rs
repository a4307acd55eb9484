//! The catalogue entry of a measure, and its parameters.

use super::TopicJudgements;
use clariq_core::{DocId, Result, bail};

/// The location of problems.
pub(super) const AT: &str = "a measure";

/// The value for one topic: its documents, best first and none twice, against its judgements.
pub(super) type Score = fn(&MeasureParameters, &[DocId], &TopicJudgements) -> f64;

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
    /// True if a cut-off is required.
    pub(super) needs_cutoff: bool,
    /// True if it has a parameter `rel`.
    pub(super) takes_rel: bool,
    /// True if it has a parameter `p`.
    pub(super) takes_p: bool,
    pub(super) score: Score,
}

/// The parameters of a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MeasureParameters {
    /// The number of documents that count; all if there is no cut-off.
    pub(super) cutoff: Option<usize>,
    /// The lowest grade that counts as relevant.
    pub(super) rel: i32,
    /// The persistence of RBP.
    pub(super) p: f64,
}

impl MeasureParameters {
    /// The number of documents that count.
    pub(super) fn depth(&self) -> usize {
        self.cutoff.unwrap_or(usize::MAX)
    }
}

impl MeasureSpec {
    /// A measure of relevant documents that only `ir_measures` has a name for.
    pub(super) const fn new(name: &'static str, example: &'static str, score: Score) -> Self {
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
            needs_cutoff: false,
            takes_rel: true,
            takes_p: false,
            score,
        }
    }

    /// All its names, without parameters.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let scorer = self.clariq.or(self.clariq_documents);
        [Some(self.name), self.alias, self.trec, self.trec_cut, scorer].into_iter().flatten()
    }

    /// The row of the table of measures.
    pub(super) fn row(&self) -> String {
        let parameters = if self.takes_p { "(p=…)" } else { "" };
        let bare = format!("`{}{parameters}`", self.name);
        let cut = format!("`{}{parameters}@k`", self.name);
        let name = if self.needs_cutoff { cut } else { format!("{bare}, {cut}") };
        let parameters = [(self.takes_p, "`p`"), (self.takes_rel, "`rel`")];
        let parameters = parameters.iter().filter(|(takes, _)| *takes).map(|(_, name)| *name);
        let cut = |name: Option<&str>, mark: &str| name.map(|name| format!("`{name}{mark}`"));
        let others = [
            cut(self.alias, if self.needs_cutoff { "@k" } else { "" }),
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
    pub(super) fn build(&'static self, mut given: Vec<(&str, &str)>) -> Result<Measure> {
        let mut take = |name: &str| {
            let index = given.iter().position(|(parameter, _)| *parameter == name)?;
            Some(given.remove(index).1)
        };
        let p = if self.takes_p { take("p").map_or(Ok(0.8), parse_p)? } else { 0.8 };
        let cutoff = take("cutoff").map(parse_cutoff).transpose()?;
        let Self { name, example, .. } = self;
        if cutoff.is_none() && self.needs_cutoff {
            bail!(AT, "a cut-off", "`{name}`", "write it as `{example}`")
        }
        let rel = if self.takes_rel { take("rel").map_or(Ok(1), parse_rel)? } else { 1 };
        if let Some((parameter, _)) = given.first() {
            bail!(AT, "a parameter of {name}", "`{parameter}`", "write it as `{example}`")
        }
        Ok(Measure { spec: self, by: MeasureParameters { cutoff, rel, p }, documents: false })
    }
}

/// A measure with its parameters; [`parse_measure`](super::parse_measure) makes it from its name.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    pub(super) spec: &'static MeasureSpec,
    pub(super) by: MeasureParameters,
    /// True if it was named as by the `ClariQ` scorer, where that name means documents.
    pub(super) documents: bool,
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        (self.spec.name, self.by, self.documents) == (other.spec.name, other.by, other.documents)
    }
}

impl Measure {
    /// The name of the `ClariQ` scorer, as in `MRR100`, if the measure was named so and the name means
    /// documents there: those that are retrieved after a run's first question.
    pub fn clariq_documents(&self) -> Option<String> {
        let name = self.spec.clariq_documents.filter(|_| self.documents)?;
        Some(format!("{name}{}", self.by.cutoff?))
    }

    /// The name in the spelling of `ir_measures`; [`parse_measure`](super::parse_measure) of it gives
    /// the same measure of a ranking.
    pub fn name(&self) -> String {
        let MeasureParameters { cutoff, rel, p } = self.by;
        let parameters = match rel {
            _ if self.spec.takes_p => format!("(p={p:?},rel={rel})"),
            1 => String::new(),
            _ => format!("(rel={rel})"),
        };
        let cutoff = cutoff.map_or_else(String::new, |cutoff| format!("@{cutoff}"));
        format!("{}{parameters}{cutoff}", self.spec.name)
    }

    /// The number of documents that count; `None` if all do.
    pub fn cutoff(&self) -> Option<usize> {
        self.by.cutoff
    }

    /// The value for one topic: its documents, best first and none twice, against its judgements.
    /// 0 where the definition divides by zero.
    pub fn score(&self, ranking: &[DocId], judgements: &TopicJudgements) -> f64 {
        (self.spec.score)(&self.by, ranking, judgements)
    }
}

fn parse_cutoff(value: &str) -> Result<usize> {
    let Some(cutoff) = whole(value).filter(|&cutoff| cutoff > 0) else {
        let expected = "a whole number from 1 as cut-off";
        bail!(AT, expected, "`{value}`", "R@30 has the cut-off 30")
    };
    Ok(cutoff)
}

fn parse_rel(value: &str) -> Result<i32> {
    match whole(value).and_then(|grade| i32::try_from(grade).ok()) {
        Some(grade) if grade > 0 => Ok(grade),
        _ => bail!(AT, "a grade from 1 as rel", "`{value}`", "P(rel=2)@5 has the lowest grade 2"),
    }
}

fn parse_p(value: &str) -> Result<f64> {
    match value.parse() {
        Ok(number) if (0.0..1.0).contains(&number) => Ok(number + 0.0),
        _ => bail!(AT, "a number from 0 to below 1 as p", "`{value}`", "0.8 is usual"),
    }
}

/// Digits only: no sign, no space.
pub(super) fn whole(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
