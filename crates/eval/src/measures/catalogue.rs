//! The catalogue entry of a measure, the parameters in its brackets and after its `@`, and the guess
//! at what a misspelt name meant.

use super::{CATALOGUE, Measure};
use clariq_core::{Error, Result, bail, problem};

/// The place that problems name.
const AT: &str = "a measure";

/// A measure of the [catalogue](super::CATALOGUE).
#[derive(Debug)]
pub struct Spec {
    /// Its name in the spelling of `ir_measures`.
    pub name: &'static str,
    /// A second name, used by `ir_measures`.
    pub alias: Option<&'static str>,
    /// What `trec_eval` calls it without a cut-off.
    pub trec: Option<&'static str>,
    /// What `trec_eval` calls it with a cut-off, which follows after `_` or `.`.
    pub trec_cut: Option<&'static str>,
    /// What the `ClariQ` scorer calls it; the cut-off follows at once.
    pub clariq: Option<&'static str>,
    /// A name that is complete.
    pub example: &'static str,
    /// One line on what it says of a topic.
    pub summary: &'static str,
    /// Reads the parameters.
    pub(super) build: fn(&mut Parameters) -> Result<Box<dyn Measure>>,
}

impl Spec {
    /// All its names, without parameters.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.name), self.alias, self.trec, self.trec_cut, self.clariq].into_iter().flatten()
    }
}

/// The parameters of one measure as they were written; each is taken out as it is read.
pub(super) struct Parameters<'a> {
    measure: &'static str,
    example: &'static str,
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Parameters<'a> {
    /// Parameters of a measure of that name; `example` shows how it is written.
    pub(super) fn new(
        measure: &'static str,
        example: &'static str,
        given: Vec<(&'a str, &'a str)>,
    ) -> Self {
        Self { measure, example, given }
    }

    /// The cut-off, which must be given.
    pub(super) fn required_cutoff(&mut self) -> Result<usize> {
        let Self { measure, example, .. } = *self;
        let Some(cutoff) = self.cutoff()? else {
            bail!(AT, "a cut-off", "`{measure}`", "write it as `{example}`")
        };
        Ok(cutoff)
    }

    /// The cut-off; none is the whole ranking.
    pub(super) fn cutoff(&mut self) -> Result<Option<usize>> {
        let Some(value) = self.take("cutoff") else { return Ok(None) };
        match whole(value) {
            Some(cutoff) if cutoff > 0 => Ok(Some(cutoff)),
            _ => bail!(
                AT,
                "a whole number from 1 as cut-off",
                "`{value}`",
                "R@30 has the cut-off 30"
            ),
        }
    }

    /// The lowest grade that counts as relevant: 1 if it does not say.
    pub(super) fn rel(&mut self) -> Result<i32> {
        let Some(value) = self.take("rel") else { return Ok(1) };
        match whole(value).and_then(|grade| i32::try_from(grade).ok()) {
            Some(grade) if grade > 0 => Ok(grade),
            _ => {
                bail!(AT, "a grade from 1 as rel", "`{value}`", "P(rel=2)@5 has the lowest grade 2")
            }
        }
    }

    /// A number from 0 to below 1.
    pub(super) fn fraction(&mut self, name: &'static str, default: f64) -> Result<f64> {
        let Some(value) = self.take(name) else { return Ok(default) };
        match value.parse() {
            Ok(number) if (0.0..1.0).contains(&number) => Ok(number + 0.0),
            _ => bail!(AT, "a number from 0 to below 1 as {name}", "`{value}`", "0.8 is usual"),
        }
    }

    /// An error if something is left that the measure did not ask for.
    pub(super) fn nothing_left(self) -> Result<()> {
        let Self { measure, example, .. } = self;
        match self.given.first() {
            None => Ok(()),
            Some((parameter, _)) => {
                bail!(AT, "a parameter of {measure}", "`{parameter}`", "write it as `{example}`")
            }
        }
    }

    fn take(&mut self, name: &str) -> Option<&'a str> {
        let index = self.given.iter().position(|(parameter, _)| *parameter == name)?;
        Some(self.given.remove(index).1)
    }
}

/// Digits only: no sign, no space.
pub(super) fn whole(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The name of a measure with its parameters: `NAME(parameter=value)@cut-off`.
pub(super) fn spelled(name: &str, parameters: &[String], cutoff: Option<usize>) -> String {
    let parameters =
        if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(",")) };
    let cutoff = cutoff.map_or_else(String::new, |cutoff| format!("@{cutoff}"));
    format!("{name}{parameters}{cutoff}")
}

/// `rel=…` where it is not the default.
pub(super) fn spelled_rel(rel: i32) -> Vec<String> {
    if rel == 1 { Vec::new() } else { vec![format!("rel={rel}")] }
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
