//! The catalogue entry of a measure, its parameters, and the guess at what a misspelt name meant.

use super::definitions::CATALOGUE;
use super::{Measure, TopicJudgements};
use clariq_core::{Error, QuestionId, Result, bail, problem};

/// The place that problems name.
const AT: &str = "a measure";

/// The value for one topic: its documents, best first and none twice, against its judgements.
pub(super) type Score = fn(&Parameters, &[QuestionId], &TopicJudgements) -> f64;

/// A measure of the [catalogue](super::definitions::CATALOGUE): its names and parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    /// In the spelling of `ir_measures`.
    pub(super) name: &'static str,
    /// A second name, used by `ir_measures`.
    pub(super) alias: Option<&'static str>,
    /// What `trec_eval` calls it without a cut-off.
    pub(super) trec: Option<&'static str>,
    /// What `trec_eval` calls it with a cut-off, which follows after `_` or `.`.
    pub(super) trec_cut: Option<&'static str>,
    /// What the `ClariQ` scorer calls it; the cut-off follows at once.
    pub(super) clariq: Option<&'static str>,
    /// A name that is complete.
    pub(super) example: &'static str,
    /// Whether a cut-off must be given.
    pub(super) needs_cutoff: bool,
    /// Whether it has a parameter `rel`.
    pub(super) takes_rel: bool,
    /// Whether it has a parameter `p`.
    pub(super) takes_p: bool,
    pub(super) score: Score,
}

/// The parameters of a measure.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters {
    /// How many of the first documents count; all if there is no cut-off.
    pub(super) cutoff: Option<usize>,
    /// The lowest grade that counts as relevant.
    pub(super) rel: i32,
    /// The persistence of RBP.
    pub(super) p: f64,
}

impl Parameters {
    /// How many of the first documents count.
    pub(super) fn depth(&self) -> usize {
        self.cutoff.unwrap_or(usize::MAX)
    }
}

impl Spec {
    /// A measure of relevant documents that only `ir_measures` has a name for.
    pub(super) const fn new(name: &'static str, example: &'static str, score: Score) -> Self {
        let (alias, trec, trec_cut, clariq) = (None, None, None, None);
        let (needs_cutoff, takes_rel, takes_p) = (false, true, false);
        Self {
            name,
            alias,
            trec,
            trec_cut,
            clariq,
            example,
            needs_cutoff,
            takes_rel,
            takes_p,
            score,
        }
    }

    /// All its names, without parameters.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.name), self.alias, self.trec, self.trec_cut, self.clariq].into_iter().flatten()
    }

    /// Makes the measure with the parameters that are given.
    pub(super) fn build(&'static self, mut given: Vec<(&str, &str)>) -> Result<Box<dyn Measure>> {
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
        Ok(Box::new(Built { spec: self, by: Parameters { cutoff, rel, p } }))
    }
}

/// A measure of the catalogue with its parameters.
#[derive(Debug)]
struct Built {
    spec: &'static Spec,
    by: Parameters,
}

impl Measure for Built {
    fn name(&self) -> String {
        let Parameters { cutoff, rel, p } = self.by;
        let parameters = match rel {
            _ if self.spec.takes_p => format!("(p={p:?},rel={rel})"),
            1 => String::new(),
            _ => format!("(rel={rel})"),
        };
        let cutoff = cutoff.map_or_else(String::new, |cutoff| format!("@{cutoff}"));
        format!("{}{parameters}{cutoff}", self.spec.name)
    }

    fn score(&self, ranking: &[QuestionId], judgements: &TopicJudgements) -> f64 {
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

/// What is not written as a measure is.
pub(super) fn no_form(text: &str) -> Error {
    let hint = list();
    problem!(AT, "`NAME(parameter=value)@cut-off`", "`{text}`", hint).into()
}

/// What no measure is called.
pub(super) fn unknown(text: &str) -> Error {
    let hint = nearest(text).map_or_else(list, |nearest| format!("did you mean `{nearest}`?"));
    problem!(AT, "the name of a measure", "`{text}`", hint).into()
}

fn list() -> String {
    let examples = CATALOGUE.iter().map(|spec| format!("`{}`", spec.example));
    format!("measures are {}", examples.collect::<Vec<_>>().join(", "))
}

/// A complete name close to what was written, if there is one: `ndcg@10` gives `nDCG@10`, `recal`
/// gives `R@30`.
fn nearest(text: &str) -> Option<String> {
    let base = text.split(['(', '@']).next().unwrap_or_default();
    let base =
        base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_' || c == '.').to_lowercase();
    let names =
        CATALOGUE.iter().flat_map(|spec| spec.names().map(move |name| (name.to_lowercase(), spec)));
    let (_, spec) = names
        .map(|(name, spec)| (distance(&base, &name), spec))
        .filter(|(distance, _)| *distance <= base.chars().count() / 3)
        .min_by_key(|(distance, _)| *distance)?;
    let digits = &text[text.trim_end_matches(|c: char| c.is_ascii_digit()).len()..];
    let named = digits.bytes().any(|digit| digit != b'0') && !text.contains('(');
    Some(if named { format!("{}@{digits}", spec.name) } else { spec.example.to_owned() })
}

/// How many letters must be put in, taken out or replaced to make one word the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood() {
        let cases = [
            ("ndcg@10", "nDCG@10"),
            ("nDCG_5", "nDCG@5"),
            ("recall@20", "R@20"),
            ("R10", "R@10"),
            ("precision@5", "P@5"),
            ("Sucess@3", "Success@3"),
            ("mrr", "RR@10"),
            ("rbp", "RBP(p=0.8,rel=1)"),
            ("Recall", "R@30"),
        ];
        for (written, meant) in cases {
            assert_eq!(nearest(written).as_deref(), Some(meant), "{written}");
        }
        for written in ["bpref", "hits@5", "x", "", "10", "Ω"] {
            assert_eq!(nearest(written), None, "{written}");
        }
    }

    #[test]
    fn letters_are_counted() {
        assert_eq!(
            (distance("kitten", "sitting"), distance("", "abc"), distance("abc", "abc")),
            (3, 3, 0)
        );
    }
}
