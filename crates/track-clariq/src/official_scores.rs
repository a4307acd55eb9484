//! The scores of a run as pandas reads their column, since it decides by all of them whether they are
//! whole numbers, floating-point numbers, or texts.

use clariq_core::{Problem, problem};
use clariq_files::{FileContent, Run};

/// The scores of a run's lines, in order.
#[derive(Debug, PartialEq)]
pub(crate) enum ScoreColumn {
    /// Whole numbers, which are compared without rounding.
    Whole(Vec<i128>),
    /// Floating-point numbers.
    Floats,
}

/// The column of scores; an error if pandas would read texts and the official scorer order them as such.
pub(crate) fn score_column(run: &Run, input: &FileContent) -> Result<ScoreColumn, Box<Problem>> {
    let text = String::from_utf8_lossy(&input.bytes);
    let lines: Vec<&str> = text.split('\n').collect();
    let score = |line: u64| -> Option<&str> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        lines.get(index)?.split_ascii_whitespace().nth(4)
    };
    let mut whole = Vec::with_capacity(run.lines.len());
    // The first of each kind, for messages.
    let mut fraction = None;
    let mut huge = None;
    let mut beyond_signed = None;
    let mut negative = None;
    for line in &run.lines {
        let Some(score) = score(line.line) else { return Ok(ScoreColumn::Floats) };
        if !is_whole(score) {
            fraction.get_or_insert((line.line, score));
            continue;
        }
        let Ok(number) = score.parse::<i128>() else {
            let hint = "the official scorer compares such numbers digit by digit";
            let at = (&*input.name, line.line);
            return Err(Box::new(problem!(at, "a score of at most 38 digits", "`{score}`", hint)));
        };
        whole.push(number);
        if number > u64::MAX.into() || number < i64::MIN.into() {
            huge.get_or_insert((line.line, score));
        } else if number > i64::MAX.into() {
            beyond_signed.get_or_insert((line.line, score));
        } else if number < 0 {
            negative.get_or_insert((line.line, score));
        }
    }
    let texts = match (huge, fraction) {
        (Some(huge), Some(fraction)) => Some((huge, fraction)),
        (None, None) => beyond_signed.zip(negative),
        _ => None,
    };
    if let Some(((line, score), (_, other))) = texts {
        let found = format!("`{score}`, and `{other}` elsewhere");
        let hint = "pandas reads such a mixture as texts, and the official scorer orders it as texts: \
                    write smaller scores";
        let expected = "whole scores below 2^63, or none beside fractions and negative ones";
        return Err(Box::new(problem!((&*input.name, line), expected, found, hint)));
    }
    Ok(if fraction.is_some() { ScoreColumn::Floats } else { ScoreColumn::Whole(whole) })
}

/// True for digits, with or without a sign.
fn is_whole(score: &str) -> bool {
    let digits = score.strip_prefix(['+', '-']).unwrap_or(score);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_files::{parse_run, strictly};

    /// The column of those scores, or the line of the problem.
    fn column(scores: &[&str]) -> Result<ScoreColumn, u64> {
        let line = |score: &&str| format!("13 0 Q1 1 {score} t\n");
        let text: String = scores.iter().map(line).collect();
        let input = FileContent { name: "a.run".to_owned(), bytes: text.into_bytes().into() };
        let run = strictly(|sink| parse_run(&input, sink)).unwrap();
        score_column(&run, &input).map_err(|problem| problem.at.line.unwrap())
    }

    // The columns that pandas 3.1 reads of these scores: numbers of 64 bits, Python's integers, floats, and
    // texts.
    #[test]
    fn columns_are_what_pandas_reads() {
        let whole = |scores: &[i128]| Ok(ScoreColumn::Whole(scores.to_vec()));
        assert_eq!(column(&["9007199254740993", "-1"]), whole(&[9_007_199_254_740_993, -1]));
        assert_eq!(column(&["9223372036854775808", "1"]), whole(&[9_223_372_036_854_775_808, 1]));
        assert_eq!(
            column(&["+18446744073709551616", "3"]),
            whole(&[18_446_744_073_709_551_616, 3])
        );
        assert_eq!(
            column(&["18446744073709551616", "-1"]),
            whole(&[18_446_744_073_709_551_616, -1])
        );
        assert_eq!(column(&["9007199254740993", "1.5"]), Ok(ScoreColumn::Floats));
        assert_eq!(column(&["9223372036854775808", "1e3"]), Ok(ScoreColumn::Floats));
        assert_eq!(column(&["2", "9223372036854775808", "-1"]), Err(2), "texts");
        assert_eq!(column(&["18446744073709551616", "1.5"]), Err(1), "texts");
        assert_eq!(column(&["3", &"1".repeat(60)]), Err(2), "too long for this program");
    }
}
