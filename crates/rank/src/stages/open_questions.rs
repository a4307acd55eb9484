//! Stage `open_questions`: moves questions up that cannot be answered by a mere "no": those that
//! begin with "what", "which" and the like.
//!
//! In `ClariQ`'s train split, 41 % of the questions that begin with "are", "do" or "would" get an
//! answer other than "no", and 84 % of those that begin with "what" or "which".

use crate::build::Build;
use crate::stage::{About, Batch, Stage};
use clariq_core::{Doc, Explanation, Ranking, Result, best_first};
use serde::{Deserialize, Serialize};

const OPENINGS: [&str; 9] =
    ["how", "what", "when", "where", "which", "who", "whom", "whose", "why"];

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenQuestions {
    /// The bonus, on the scale of the scores that come in.
    bonus: f64,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>> {
    let hint = "a tenth of the difference between good and bad scores is a beginning";
    build.table.check_number("bonus", f64::MIN..=f64::MAX, "a finite bonus", hint)?;
    Ok(Box::new(build.table.read::<OpenQuestions>()?))
}

fn is_open(question: &str) -> bool {
    let first = question.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|word| OPENINGS.iter().any(|opening| word.eq_ignore_ascii_case(opening)))
}

impl Stage for OpenQuestions {
    fn about(&self) -> About {
        About::new("open_questions", self)
    }

    fn apply(&self, batch: &Batch, mut rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        for ranking in &mut rankings {
            for hit in ranking.iter_mut() {
                if is_open(&batch.context.documents.text(hit.doc)?) {
                    hit.score += self.bonus;
                }
            }
            ranking.sort_unstable_by(best_first);
        }
        Ok(rankings)
    }

    fn explain(&self, one: &Batch, doc: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let Some(hit) = before.iter().find(|hit| hit.doc == doc) else { return Ok(None) };
        let (bonus, what) = if is_open(&one.context.documents.text(doc)?) {
            (self.bonus, "an open question")
        } else {
            (0.0, "can be answered by a mere \"no\"")
        };
        let parts =
            vec![Explanation::value(hit.score, "score so far"), Explanation::value(bonus, what)];
        Ok(Some(Explanation::sum("open questions move up", parts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_questions_begin_with_an_interrogative() {
        for question in ["What is it", "which one", "\"who\" is it", "how's that"] {
            assert!(is_open(question), "{question}");
        }
        for question in ["is it a car", "whatever", "", "do you know what it is"] {
            assert!(!is_open(question), "{question}");
        }
    }
}
