//! The checks of conversations with a simulated user. The server refuses what it does not take when
//! it is sent, and looks at neither ids nor the number of citations.

use super::Check;
use super::lines::is_passage_id;
use crate::ikat::run::Submission;
use crate::ikat::topics::Year;
use clariq_core::problem;
use clariq_files::shorten;

/// The number of citations that are judged.
const MOST_CITATIONS: usize = 10;

/// Reports what is wrong with the citations of every turn; texts and statements are checked as those
/// of other runs.
pub(super) fn check(check: &mut Check) -> Submission {
    let input = check.input;
    let submission = Submission::parse(input, Some(Year::Y2025), &mut |problem| check.add(problem));
    for turn in &submission.turns {
        let at = check.at(turn.line);
        if turn.references.len() > MOST_CITATIONS {
            let found = format!("{} in turn {}", turn.references.len(), turn.id);
            let hint = "the guidelines have ten judged";
            check.note(problem!(&at, "at most {MOST_CITATIONS} citations", found, hint));
        }
        for passage in &turn.references {
            let found = || format!("`{}` in turn {}", shorten(&passage.id), turn.id);
            if !is_passage_id(&passage.id) {
                let expected = "an id such as clueweb22-en0004-50-00170:0";
                let hint = "citations are passages of ClueWeb22";
                check.note(problem!(&at, expected, (found()), hint));
            } else if check.is_unknown(&passage.id) {
                let hint = "the server does not look ids up";
                check.note(problem!(&at, "a passage of the collection", (found()), hint));
            }
        }
    }
    submission
}
