//! The parameters of measures: how each is read, and how it is written in a name.

use clariq_core::{Result, bail};
use std::collections::BTreeMap;

/// The location of problems.
pub(super) const AT: &str = "a measure";

/// The parameters of a measure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MeasureParameters {
    /// The number of documents that count; all if there is no cut-off.
    pub(super) cutoff: Option<usize>,
    /// The lowest grade that counts as relevant.
    pub(super) rel: i32,
    /// The persistence of RBP.
    pub(super) p: f64,
    /// The weight of recall in F.
    pub(super) beta: f64,
    /// The gain of nDCG by a grade.
    pub(super) gain: Gain,
    /// True if documents that are not judged are taken out of the ranking first.
    pub(super) judged_only: bool,
}

impl Default for MeasureParameters {
    fn default() -> Self {
        Self { cutoff: None, rel: 1, p: 0.8, beta: 1.0, gain: Gain::Grade, judged_only: false }
    }
}

/// The gain of nDCG by a grade.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Gain {
    /// As it was judged.
    Grade,
    /// 2^grade − 1.
    Exponential,
    /// The grade that stands for it, where there is one.
    Mapped(BTreeMap<i32, i32>),
}

impl MeasureParameters {
    /// The number of documents that count.
    pub(super) fn depth(&self) -> usize {
        self.cutoff.unwrap_or(usize::MAX)
    }

    /// The grade that counts in place of a grade.
    pub(super) fn grade(&self, grade: i32) -> i32 {
        match &self.gain {
            Gain::Mapped(grades) => grades.get(&grade).copied().unwrap_or(grade),
            Gain::Grade | Gain::Exponential => grade,
        }
    }

    /// Sets the gains, of which a measure has one kind.
    fn set_gain(&mut self, gain: Gain) -> Result<()> {
        if self.gain != Gain::Grade {
            bail!(AT, "dcg='exp-log2' or gains", "both");
        }
        self.gain = gain;
        Ok(())
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
    shown: |by| (by.gain == Gain::Exponential).then(|| "'exp-log2'".to_owned()),
};

/// The gains of nDCG, grade by grade; as in `ir_measures`, those that are the grade are not named.
pub(super) static GAINS: Parameter = Parameter {
    name: "gains",
    set: set_gains,
    shown: |by| {
        let Gain::Mapped(grades) = &by.gain else { return None };
        let grades: Vec<String> = grades.iter().map(|(from, to)| format!("{from}:{to}")).collect();
        Some(format!("{{{}}}", grades.join(",")))
    },
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
    match value.trim_matches(['\'', '"']) {
        "log2" => Ok(()),
        "exp-log2" => by.set_gain(Gain::Exponential),
        _ => bail!(AT, "'log2' or 'exp-log2' as dcg", "`{value}`"),
    }
}

fn set_gains(by: &mut MeasureParameters, value: &str) -> Result<()> {
    let Some(mut grades) = parse_gains(value) else {
        let expected = "grades with their gains, whole numbers, as gains";
        bail!(AT, expected, "`{value}`", "nDCG(gains={{1:3,2:7}})@10 gains 3 by grade 1");
    };
    grades.retain(|from, to| from != to);
    if grades.is_empty() { Ok(()) } else { by.set_gain(Gain::Mapped(grades)) }
}

/// `{1:3,2:7}`; `None` for another form, and for a grade with two gains.
fn parse_gains(text: &str) -> Option<BTreeMap<i32, i32>> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut grades = BTreeMap::new();
    for pair in inside.split(',') {
        let (from, to) = pair.split_once(':')?;
        let known = grades.insert(from.trim().parse().ok()?, to.trim().parse().ok()?);
        if known.is_some() {
            return None;
        }
    }
    Some(grades)
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
