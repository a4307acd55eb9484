//! How a system answers, as its table `[answer]` says it.

use clariq_collections::Class;
use clariq_core::Error;
use clariq_core::{Hit, Location, Problem, ProblemKind};
use clariq_rank::{Section, System};
use serde::{Deserialize, Serialize};

/// The table `[answer]`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerConfig {
    /// What the system may see: `automatic`, `manual` or `only-response`.
    class: String,
    /// How many passages are handed in for a turn.
    #[serde(default = "usual_passages")]
    pub passages: usize,
    /// Which statements an answer is said to rest on.
    pub statements: StatementRule,
    /// How the text is put together.
    pub response: ResponseRule,
}

/// The best statement, and of those behind it the ones that are good enough.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StatementRule {
    /// The most statements.
    most: usize,
    /// The lowest score of a statement behind the best.
    least: f64,
    /// How far behind the best it may be.
    gap: f64,
}

/// An extract of the best passages.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseRule {
    /// The passages whose sentences are taken.
    pub sources: usize,
    /// The most tokens of an answer; spaCy counts at most as many.
    pub tokens: usize,
    /// The fewest words of a sentence, where a passage has any that fits.
    pub fewest_words: usize,
    /// The most words of such a sentence.
    pub most_words: usize,
}

/// What the guidelines allow a response.
const MOST_TOKENS: usize = 250;
/// What the validator accepts.
const MOST_PASSAGES: usize = 1000;

fn usual_passages() -> usize {
    100
}

impl AnswerConfig {
    /// Reads the table.
    pub(crate) fn read(section: Section) -> Result<Self, Error> {
        let at = section.at.clone();
        let config: Self = section.read()?;
        config.check(&at)?;
        Ok(config)
    }

    /// Refuses a system, whose table is at a location, without the tasks of an answer.
    pub(crate) fn check_tasks(at: &Location, system: &System) -> Result<(), Error> {
        for task in TASKS {
            if !system.tasks.contains_key(task) {
                let expected = format!("a table [[tasks.{task}.stages]]");
                return Err(problem(at, &expected, "none").into());
            }
        }
        let known = |task: &&String| TASKS.contains(&task.as_str()) || *task == CHOSEN;
        if let Some(task) = system.tasks.keys().find(|task| !known(task)) {
            let expected = format!("one of the tasks {}, {CHOSEN}", TASKS.join(", "));
            return Err(problem(at, &expected, &format!("`{task}`")).into());
        }
        Ok(())
    }

    /// The class of the system.
    pub fn class(&self) -> Class {
        Class::parse(&self.class).unwrap_or(Class::Automatic)
    }

    fn check(&self, at: &Location) -> Result<(), Problem> {
        if Class::parse(&self.class).is_none() {
            let expected = format!("a class of {}", Class::ALL.map(Class::name).join(", "));
            return Err(problem(at, &expected, &format!("`{}`", self.class)));
        }
        let (statements, response) = (&self.statements, &self.response);
        let ranges = [
            ("passages", self.passages, 1..=MOST_PASSAGES),
            ("statements.most", statements.most, 1..=MOST_PASSAGES),
            ("response.sources", response.sources, 1..=MOST_PASSAGES),
            ("response.tokens", response.tokens, 1..=MOST_TOKENS),
        ];
        for (key, value, range) in ranges {
            if !range.contains(&value) {
                let expected = format!("{key} from {} to {}", range.start(), range.end());
                return Err(problem(at, &expected, &value.to_string()));
            }
        }
        if !statements.least.is_finite() || statements.gap.is_nan() || statements.gap < 0.0 {
            let found = format!("least {} and gap {}", statements.least, statements.gap);
            return Err(problem(at, "statements.gap of at least 0, and a number as least", &found));
        }
        if response.fewest_words > response.most_words {
            let found = format!("{} to {}", response.fewest_words, response.most_words);
            return Err(problem(at, "response.fewest_words below response.most_words", &found));
        }
        Ok(())
    }
}

/// The task that ranks the statements of a user.
pub const STATEMENTS: &str = "statements";
/// The task that ranks passages.
pub const PASSAGES: &str = "passages";
/// The task that ranks sentences of the best passages.
pub(crate) const SENTENCES: &str = "sentences";
/// The task whose scores choose statements; that of `statements` where a system has none.
pub(crate) const CHOSEN: &str = "chosen";
/// The tasks that every system has.
const TASKS: [&str; 3] = [STATEMENTS, PASSAGES, SENTENCES];

fn problem(at: &Location, expected: &str, found: &str) -> Problem {
    Problem::new(at.clone(), ProblemKind::Configuration, expected, found)
        .hint("configs/ikat-automatic.toml is an example; configs/README.md lists all keys")
}

impl StatementRule {
    /// How many of the best statements are taken: always one, where there is one.
    pub fn count(&self, ranking: &[Hit]) -> usize {
        let Some(best) = ranking.first() else { return 0 };
        let is_near = |hit: &&Hit| hit.score >= self.least && best.score - hit.score <= self.gap;
        let more = ranking[1..].iter().take(self.most.saturating_sub(1)).take_while(is_near);
        1 + more.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Doc;

    #[test]
    fn the_best_is_always_taken_and_others_only_near_it() {
        let rule = StatementRule { most: 3, least: 0.3, gap: 0.2 };
        let count = |scores: &[f64]| {
            let hits: Vec<Hit> = scores.iter().map(|&score| Hit { doc: Doc(0), score }).collect();
            rule.count(&hits)
        };
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[0.1]), 1);
        assert_eq!(count(&[0.6, 0.5, 0.45, 0.44]), 3);
        assert_eq!(count(&[0.6, 0.3]), 1);
        assert_eq!(count(&[0.35, 0.29]), 1);
    }
}
