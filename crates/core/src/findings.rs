//! The problems that a check found, each fact once.

use crate::printable::printable;
use crate::problem::{Location, Problem, Severity};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The number of occurrences of a fact that are shown.
const SHOWN: usize = 3;
/// The characters of each value that are shown in a message with several values.
const VALUE: usize = 100;

/// A fact: one expectation that a file does not meet, on one line or on many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The problem at the first location where it was found.
    pub first: Problem,
    /// The next locations with the content found there, up to three with the first.
    pub next: Vec<(Location, String)>,
    /// The number of occurrences.
    pub count: usize,
}

/// Facts in the order in which they were first seen, each in a few hundred bytes.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    findings: Vec<Finding>,
    positions: HashMap<FindingKey, usize>,
}

/// The identity of a fact: file, severity, and the expectation that is not met.
type FindingKey = (String, Severity, String);

fn fact(problem: &Problem) -> FindingKey {
    (problem.at.file.clone(), problem.severity, problem.expected.clone())
}

impl Findings {
    /// Adds a problem.
    pub fn add(&mut self, problem: Problem) {
        self.add_times(problem, 1);
    }

    /// Adds a problem that was seen `count` times, of which only the first location is known.
    pub fn add_times(&mut self, problem: Problem, count: usize) {
        let position = *self.positions.entry(fact(&problem)).or_insert(self.findings.len());
        let Some(finding) = self.findings.get_mut(position) else {
            return self.findings.push(Finding { first: problem, next: Vec::new(), count });
        };
        finding.count += count;
        if finding.next.len() + 1 < SHOWN {
            finding.next.push((problem.at, problem.found));
        }
    }

    /// Adds facts as warnings.
    pub fn add_as_warnings(&mut self, others: Self) {
        for Finding { first, next, count } in others.findings {
            let first = first.warning();
            let position = *self.positions.entry(fact(&first)).or_insert(self.findings.len());
            match self.findings.get_mut(position) {
                Some(finding) => finding.count += count,
                None => self.findings.push(Finding { first, next, count }),
            }
        }
    }

    /// Every fact.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Finding> {
        self.findings.iter()
    }

    /// Counts the problems of one severity in a file, every occurrence of a fact included.
    pub fn count(&self, file: &str, severity: Severity) -> usize {
        self.counts().get(&(file, severity)).copied().unwrap_or_default()
    }

    /// Counts the problems of each severity in every file that has any.
    pub fn counts(&self) -> HashMap<(&str, Severity), usize> {
        let mut counts = HashMap::new();
        for Finding { first, count, .. } in &self.findings {
            *counts.entry((&*first.at.file, first.severity)).or_default() += count;
        }
        counts
    }

    /// True if a finding could change a figure.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.first.severity == Severity::Error)
    }

    /// Puts the facts in the order of their files, and of their lines in a file.
    pub fn sort(&mut self, files: &[String]) {
        let positions: HashMap<&str, usize> = files.iter().map(String::as_str).zip(0..).collect();
        self.findings.sort_by_key(|Finding { first, .. }| {
            (positions.get(&*first.at.file).copied().unwrap_or(usize::MAX), first.at.line)
        });
        let facts = self.findings.iter().map(|finding| fact(&finding.first));
        self.positions = facts.zip(0..).collect();
    }
}

impl Finding {
    /// The fact as one problem, with its number of occurrences and their locations.
    ///
    /// ```
    /// use clariq_core::{Findings, problem};
    ///
    /// let mut findings = Findings::default();
    /// for line in 2..=20 {
    ///     findings.add(problem!(("dev.tsv", line), "1 to 4", "`9`"));
    /// }
    /// let problem = findings.iter().next().unwrap().to_problem();
    /// assert_eq!(problem.title(), "dev.tsv:2");
    /// assert_eq!(problem.found, "`9`, 19 times: first on lines 2, 3, 4");
    /// ```
    pub fn to_problem(&self) -> Problem {
        let Self { first, next, count } = self;
        let mut problem = first.clone();
        if *count == 1 {
            return problem;
        }
        let found = if next.iter().all(|(_, found)| *found == first.found) {
            let locations = std::iter::once(&first.at).chain(next.iter().map(|(at, _)| at));
            let lines: Vec<String> =
                locations.filter_map(|at| Some(at.line?.to_string())).collect();
            let lines = match &lines[..] {
                [] => String::new(),
                lines => format!(": first on lines {}", lines.join(", ")),
            };
            format!("{}, {count} times{lines}", first.found)
        } else {
            let mut found = printable(&first.found, VALUE).into_owned();
            for (at, other) in next {
                let at = at.line.map(|line| format!("on line {line} ")).unwrap_or_default();
                let _ = write!(found, "; {at}{}", printable(other, VALUE));
            }
            format!("{found}; {count} times")
        };
        problem.found = found;
        problem
    }
}
