//! The parameters of measures: how each is read, and how it is written in a name.

use clariq_core::{Result, bail};

/// The location of problems.
pub(super) const AT: &str = "a measure";

/// The parameters of a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MeasureParameters {
    /// The number of documents that count; all if there is no cut-off.
    pub(super) cutoff: Option<usize>,
    /// The lowest grade that counts as relevant.
    pub(super) rel: i32,
    /// The persistence of RBP.
    pub(super) p: f64,
    /// The weight of recall in F.
    pub(super) beta: f64,
    /// True if the gain of nDCG is 2^grade − 1.
    pub(super) exponential: bool,
    /// True if documents that are not judged are taken out of the ranking first.
    pub(super) judged_only: bool,
}

impl Default for MeasureParameters {
    fn default() -> Self {
        Self { cutoff: None, rel: 1, p: 0.8, beta: 1.0, exponential: false, judged_only: false }
    }
}

impl MeasureParameters {
    /// The number of documents that count.
    pub(super) fn depth(&self) -> usize {
        self.cutoff.unwrap_or(usize::MAX)
    }
}

/// A parameter that measures share, by the name of `ir_measures`.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) set: fn(&mut MeasureParameters, &str) -> Result<()>,
    /// The value as a name has it; `None` if the name has it only where it is given.
    pub(super) shown: fn(&MeasureParameters) -> Option<String>,
}

/// The lowest grade that counts as relevant.
pub(super) static REL: Parameter =
    Parameter { name: "rel", set: set_rel, shown: |by| (by.rel != 1).then(|| by.rel.to_string()) };

/// The same, in every name: `ir_measures` has another measure by the name without it.
pub(super) static EVERY_REL: Parameter =
    Parameter { name: "rel", set: set_rel, shown: |by| Some(by.rel.to_string()) };

/// The persistence of RBP.
pub(super) static PERSISTENCE: Parameter =
    Parameter { name: "p", set: set_p, shown: |by| Some(format!("{:?}", by.p)) };

/// The weight of recall in F.
pub(super) static BETA: Parameter = Parameter {
    name: "beta",
    set: set_beta,
    shown: |by| (by.beta.to_bits() != 1.0_f64.to_bits()).then(|| format!("{:?}", by.beta)),
};

/// The gains of nDCG.
pub(super) static DCG: Parameter = Parameter {
    name: "dcg",
    set: set_dcg,
    shown: |by| by.exponential.then(|| "'exp-log2'".to_owned()),
};

/// Whether documents that are not judged are left out, as by the option `-J` of `trec_eval`.
pub(super) static JUDGED_ONLY: Parameter = Parameter {
    name: "judged_only",
    set: set_judged_only,
    shown: |by| by.judged_only.then(|| "True".to_owned()),
};

/// The parameters of a measure of relevant documents.
pub(super) const OF_RELEVANCE: &[&Parameter] = &[&REL, &JUDGED_ONLY];

fn set_rel(by: &mut MeasureParameters, value: &str) -> Result<()> {
    by.rel = match whole(value).and_then(|grade| i32::try_from(grade).ok()) {
        Some(grade) if grade > 0 => grade,
        _ => bail!(AT, "a grade from 1 as rel", "`{value}`", "P(rel=2)@5 has the lowest grade 2"),
    };
    Ok(())
}

fn set_p(by: &mut MeasureParameters, value: &str) -> Result<()> {
    by.p = match value.parse() {
        Ok(number) if (0.0..1.0).contains(&number) => number + 0.0,
        _ => bail!(AT, "a number from 0 to below 1 as p", "`{value}`", "0.8 is usual"),
    };
    Ok(())
}

fn set_beta(by: &mut MeasureParameters, value: &str) -> Result<()> {
    by.beta = match value.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => number + 0.0,
        _ => bail!(AT, "a number from 0 as beta", "`{value}`", "1.0 is usual"),
    };
    Ok(())
}

fn set_dcg(by: &mut MeasureParameters, value: &str) -> Result<()> {
    by.exponential = match value.trim_matches(['\'', '"']) {
        "log2" => false,
        "exp-log2" => true,
        _ => bail!(AT, "'log2' or 'exp-log2' as dcg", "`{value}`"),
    };
    Ok(())
}

fn set_judged_only(by: &mut MeasureParameters, value: &str) -> Result<()> {
    by.judged_only = match value {
        "True" => true,
        "False" => false,
        _ => bail!(AT, "True or False as judged_only", "`{value}`"),
    };
    Ok(())
}

/// Digits only: no sign, no space.
pub(super) fn whole(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
