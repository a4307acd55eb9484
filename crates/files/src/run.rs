//! Run files: `<topic> 0 <document> <rank> <score> <run>`.

use crate::fields::{IgnoredLines, Line, LineForm, for_each_line};
use crate::sink::{Sink, read_strictly};
use crate::source::{FileContent, MOST_OF_A_RUN, Source};
use clariq_core::{DocId, Problem, RequestId, Result, problem};
use std::{fmt, io};

const FORM: LineForm = LineForm {
    names: "<topic> 0 <document> <rank> <score> <run>",
    optional: 1,
    // Ranks are not read otherwise.
    unlike_comment: Some(|fields| fields[3].parse::<f64>().is_ok() && score(fields[4]).is_some()),
    trailing_words: true,
};

/// The score that replaces a score equal to 0 after another: so close to 0 that negative scores
/// after it are not lowered.
const JUST_BELOW_ZERO: f32 = -1e-30;

/// A line of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLine {
    pub topic: RequestId,
    pub document: DocId,
    /// The score; higher is better. Ranks are not read.
    pub score: f64,
    /// The line of the file.
    pub line: u64,
}

/// The content of a run file. Lines keep their order, because ClariQ's scorer keeps the first of
/// equal scores.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// The file, for messages.
    pub name: String,
    /// All lines.
    pub lines: Vec<RunLine>,
    /// Comments, and lines with words after the last field.
    pub ignored: IgnoredLines,
    /// The sign of exchanged or reversed columns, if there is one.
    pub rank_doubt: Option<&'static str>,
}

/// Compares ranks, which are not read otherwise, with scores.
#[derive(Default)]
struct RankOrder {
    /// The topic, the rank and the score of the line before.
    last: Option<(RequestId, f64, f64)>,
    agree: bool,
    disagree: bool,
    has_fraction: bool,
}

impl RankOrder {
    fn add(&mut self, rank: &str, line: &RunLine) {
        let Ok(rank) = rank.parse::<f64>() else { return };
        self.has_fraction |= rank.fract() != 0.0;
        if let Some((topic, rank_before, score_before)) = &self.last
            && *topic == line.topic
            && rank != *rank_before
            && line.score != *score_before
        {
            let rises = (rank > *rank_before) == (line.score > *score_before);
            self.agree |= !rises;
            self.disagree |= rises;
        }
        self.last = Some((line.topic.clone(), rank, line.score));
    }

    fn doubt(&self) -> Option<&'static str> {
        if self.has_fraction {
            return Some("a rank is not a whole number: are rank and score in each other's place?");
        }
        (self.disagree && !self.agree).then_some(
            "the scores rise with the ranks, and the order is that of the scores: are they distances?",
        )
    }
}

/// Reads a run. Ranks and the constant second field are ignored.
pub fn read_run(source: &Source) -> Result<Run> {
    read_strictly(source, MOST_OF_A_RUN, parse_run)
}

/// Reads a run, reports every problem to `sink`, and leaves lines with problems out.
pub fn parse_run(input: &FileContent, sink: Sink) -> Run {
    let mut run = Run { name: input.name.clone(), ..Run::default() };
    let lines = &mut run.lines;
    let mut order = RankOrder::default();
    run.ignored =
        for_each_line(input, FORM, sink, |line, sink| match parse_line(line, lines.last()) {
            Ok(read) => {
                order.add(line.fields[3], &read);
                lines.push(read);
            }
            Err(problem) => sink(*problem),
        });
    run.rank_doubt = order.doubt();
    if let Some(doubt) = run.rank_doubt {
        let hint = "runs are ordered by their scores, best first, and ranks are not read";
        let expected = "whole ranks, and scores that fall with them";
        sink(problem!((&*input.name, 1), expected, doubt, hint).warning());
    }
    if let Some(&first) = run.ignored.trailing_words.first() {
        let count = run.ignored.trailing_words.len();
        let hint = "trec_eval ignores them, too: was a tag with blanks written?";
        let found = format!("words after the last field, on {count} lines in all");
        sink(problem!((&*input.name, first), "6 fields", found, hint).warning());
    }
    run
}

fn parse_line(line: &Line, last: Option<&RunLine>) -> Result<RunLine, Box<Problem>> {
    let Some(score) = score(line.fields[4]) else {
        let hint = "write scores as 12.5 or 1.25e1";
        return Err(Box::new(line.problem("a finite score in the fifth field", hint)));
    };
    let topic = line.fields[0];
    Ok(RunLine {
        // The lines of a topic are usually consecutive.
        topic: match last {
            Some(last) if last.topic.as_str() == topic => last.topic.clone(),
            _ => topic.into(),
        },
        document: line.fields[2].into(),
        score,
        line: line.at.1,
    })
}

fn score(field: &str) -> Option<f64> {
    field.parse().ok().filter(|score: &f64| score.is_finite())
}

/// Writes the ranking of a topic as lines of a run, best first, ranks from 1, scores [strictly
/// decreasing](strictly_decreasing). A tag with white space in it is written with `_` instead.
pub fn put_run_lines<D: fmt::Display>(
    out: &mut dyn io::Write,
    topic: impl fmt::Display,
    ranking: impl IntoIterator<Item = (D, f64)>,
    tag: &str,
) -> io::Result<()> {
    let tag = tag.replace(char::is_whitespace, "_");
    let (documents, scores): (Vec<_>, Vec<_>) = ranking.into_iter().unzip();
    for (rank, (document, score)) in (1..).zip(documents.iter().zip(strictly_decreasing(&scores))) {
        if !score.is_finite() {
            let found = format!("a score is not finite: {score}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, found));
        }
        writeln!(out, "{topic} 0 {document} {rank} {} {tag}", show_score(score))?;
    }
    Ok(())
}

/// The scores of a ranking, lowered where needed so that they strictly decrease, in order. Finite
/// scores stay finite.
///
/// Readers order a run by its scores and not by its ranks: the official scorer of `ClariQ` keeps
/// one line for each distinct score; `trec_eval` up to 9 and `pytrec_eval` compare scores in single
/// precision, and order equal ones by id. So a score that is not below its predecessor *in single
/// precision* is lowered to the next number that is. It keeps its sign. The last of `n` equal scores is
/// lowered by at most `n` × 2⁻²³ of its value: 800 equal scores keep four digits. A score that needs no
/// change keeps all digits.
pub fn strictly_decreasing(scores: &[f64]) -> Vec<f64> {
    let mut lowered = Vec::with_capacity(scores.len());
    let mut previous: Option<f64> = None;
    for &score in scores {
        let score = match previous {
            Some(previous) if !is_below(score, previous) => just_below(previous).min(score),
            _ => score,
        };
        lowered.push(score);
        previous = Some(score);
    }
    // Nothing is below the lowest number: the scores before it are raised.
    let mut least = f64::MIN;
    for (score, original) in lowered.iter_mut().zip(scores).rev() {
        if *score >= least || !original.is_finite() {
            break;
        }
        *score = least;
        least = least.next_up();
    }
    lowered
}

fn is_below(score: f64, previous: f64) -> bool {
    let single = score as f32;
    let before = previous as f32;
    // Beyond the single range both are infinite, and only double precision can tell them apart.
    if single.is_finite() && before.is_finite() { single < before } else { score < previous }
}

fn just_below(previous: f64) -> f64 {
    let single = previous as f32;
    let lower = if single == 0.0 { JUST_BELOW_ZERO } else { single.next_down() };
    if !lower.is_finite() {
        return previous.next_down();
    }
    // Through its text, which has fewer digits than the same number in double precision.
    lower.to_string().parse().unwrap_or_else(|_| f64::from(lower))
}

/// A score as it is written. A negative zero is zero.
pub fn show_score(score: f64) -> String {
    let score = score + 0.0;
    if score != 0.0 && score.abs() < 1e-6 { format!("{score:e}") } else { score.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::strictly;
    use crate::write_atomically;
    use clariq_core::Severity;
    use proptest::prelude::*;
    use std::borrow::Cow;

    fn parse(text: &str) -> Result<Run> {
        let input =
            FileContent { name: "a.run".to_owned(), bytes: Cow::Owned(text.as_bytes().to_vec()) };
        strictly(|sink| parse_run(&input, sink))
    }

    #[test]
    fn scores_that_rise_with_the_ranks_are_noticed() {
        for (text, is_against) in [
            ("1 0 a 1 .2 t\n1 0 b 2 .4 t\n2 0 a 1 .1 t\n", true),
            ("1 0 b 2 .4 t\n1 0 a 1 .2 t\n", true),
            ("1 0 a 1 .2 t\n1 0 b 2 .4 t\n1 0 c 3 .3 t\n", false),
            ("1 0 a 1 .2 t\n1 0 b 2 .2 t\n", false),
            ("1 0 a 0 .2 t\n1 0 b 0 .4 t\n", false),
            ("1 0 a 1 .2 t\n2 0 b 2 .4 t\n", false),
            ("1 0 a - .2 t\n1 0 b - .4 t\n", false),
            ("1 0 a 1 .4 t\n1 0 b 2 .2 t\n", false),
        ] {
            let doubt = parse(text).unwrap().rank_doubt;
            assert_eq!(
                doubt.is_some_and(|doubt| doubt.contains("distances")),
                is_against,
                "{text}"
            );
        }
        let exchanged = parse("1 0 a 5.5 1 t\n1 0 b 4.5 2 t\n").unwrap().rank_doubt.unwrap();
        assert!(exchanged.contains("in each other's place"), "{exchanged}");
        assert_eq!(parse("1 0 a 1.0 .4 t\n1 0 b 2.0 .2 t\n").unwrap().rank_doubt, None);
    }

    #[test]
    fn lines_keep_their_order_and_duplicates() {
        let run = parse("8 0 Q2 0 1e1 bm25\r\n8 0 Q2 1 9 bm25\n\n7 0 Q1 7 10 x\n").unwrap();
        assert_eq!(run.lines.len(), 3);
        assert_eq!((run.lines[0].score, run.lines[2].line), (10.0, 4));
    }

    #[test]
    fn comments_and_words_after_the_last_field_are_ignored() {
        let text = "# made by x\n8 0 Q2 0 10 a tag\n# 7 0 Q1 1 9 x\n8 0 Q1 1 9 x\n";
        let input = FileContent { name: "a.run".to_owned(), bytes: Cow::Borrowed(text.as_bytes()) };
        let mut problems = Vec::new();
        let run = parse_run(&input, &mut |problem| problems.push(problem));
        assert_eq!(run.lines.iter().map(|line| line.line).collect::<Vec<_>>(), [2, 4]);
        assert_eq!((&*run.ignored.comments, &*run.ignored.trailing_words), (&[1, 3][..], &[2][..]));
        let found: Vec<_> =
            problems.iter().map(|problem| (problem.severity, &*problem.found)).collect();
        let words = "words after the last field, on 1 lines in all";
        let expected = ["comments, 2 in all", words].map(|found| (Severity::Warning, found));
        assert_eq!(found, expected);
        assert!(parse("# 8 0 Q2 0 10 a\n").is_err(), "a file of comments alone");
    }

    #[test]
    fn ids_that_begin_with_a_hash_are_no_comments() {
        let text = "#tea Q0 d1 1 2 t\n#tea Q0 #2 2 1.5 my tag\n# made for 3 of 5 topics\n\
                    #7 0 d1 1 9\n#8 0 d1 1 nan x\n";
        let run = parse(text).unwrap();
        let read: Vec<_> =
            run.lines.iter().map(|line| (line.topic.as_str(), line.document.as_str())).collect();
        assert_eq!(read, [("#tea", "d1"), ("#tea", "#2"), ("#7", "d1")]);
        assert_eq!(run.ignored.comments, [3, 5]);
        assert!(parse(" # 8 0 Q2\n").is_err(), "its first character is a blank");
    }

    #[test]
    fn runs_in_json_are_named_as_such() {
        let object = "a JSON object, such as {\"topic\": {\"document\": score}}";
        for (text, found) in [
            ("{\"1\":{\"d\":2.5}}\n", object),
            ("{\n  \"1\": {\n    \"d\": 2.5\n  }\n}\n", object),
            ("{}", object),
            ("{\"qid\":\"1\",\"docno\":\"d\"}\n{\"qid\":\"2\",\"docno\":\"d\"}\n", object),
            ("[{\"qid\":\"1\",\"docno\":\"d\",\"score\":2.5}]", "a JSON array"),
            ("[]\n", "a JSON array"),
        ] {
            let problem = parse(text).unwrap_err().to_problem();
            assert_eq!((problem.found.as_str(), problem.at.line), (found, Some(1)), "{text}");
        }
        assert!(parse("[1 0 d 1 9 t\n{2} 0 d 1 9 [x]\n").is_ok(), "ids with brackets");
    }

    #[test]
    fn bad_lines_are_named() {
        for (text, line) in
            [("1 0 Q1 1 1 t\n1 0 Q1 1\n", 2), ("1 0 Q1 1 nan t\n", 1), ("1 0 Q1 1 x t", 1), ("", 1)]
        {
            assert_eq!(parse(text).unwrap_err().to_problem().at.line, Some(line), "{text}");
        }
    }

    #[test]
    fn equal_scores_of_zero_become_readable_numbers_that_lower_no_others() {
        let scores = strictly_decreasing(&[0.0, 0.0, 0.0, -1e-7]);
        assert_eq!((scores[0], scores[3]), (0.0, -1e-7));
        assert_eq!(
            scores[1..3].iter().map(|&score| show_score(score)).collect::<Vec<_>>(),
            ["-1e-30", "-1.0000001e-30"]
        );
    }

    #[test]
    fn equal_scores_keep_their_sign_and_800_keep_four_digits() {
        for score in [3.2e-6, 1e-20, 0.5, 1.001, 9.999, 17.25, 1e6, -3.2e-6, -17.25] {
            for count in [800, 4000] {
                let last = *strictly_decreasing(&vec![score; count]).last().unwrap();
                let share = (score - last).abs() / score.abs();
                assert!(last < score && share <= count as f64 * 2_f64.powi(-23), "{score}: {last}");
                assert!(count > 800 || share < 1e-4, "{score}: {last}");
            }
        }
    }

    #[test]
    fn scores_at_the_lowest_number_stay_finite_and_strictly_decrease() {
        for scores in
            [[5.0, f64::MIN, f64::MIN, f64::MIN], [f64::MIN; 4], [1.0, 1.0, 0.0, f64::MIN]]
        {
            let lowered = strictly_decreasing(&scores);
            assert!(lowered.iter().all(|score| score.is_finite()), "{lowered:?}");
            assert!(lowered.windows(2).all(|pair| pair[0] > pair[1]), "{lowered:?}");
            assert_eq!((lowered[0] == scores[0]), scores[0] > f64::MIN);
        }
    }

    proptest! {
        #[test]
        fn nudged_scores_strictly_decrease_and_stay_close(
            mut scores in prop::collection::vec(prop_oneof![Just(0.0), Just(3.5), -50.0..50.0_f64, -1e-9..1e-9_f64], 1..60)
        ) {
            scores.sort_by(|a, b| b.total_cmp(a));
            let nudged = strictly_decreasing(&scores);
            prop_assert!(nudged.windows(2).all(|pair| pair[0] > pair[1]));
            prop_assert!(nudged.windows(2).all(|pair| pair[0] as f32 > pair[1] as f32), "also in single precision");
            for (was, is) in scores.iter().zip(&nudged) {
                prop_assert!((was - is).abs() <= 1e-4 * was.abs() + 1e-29 && is <= was);
            }
        }

        #[test]
        fn write_then_read_is_identity(
            mut scores in prop::collection::btree_set(-1_000_000..1_000_000_i32, 1..50)
                .prop_map(|set| set.into_iter().map(|score| f64::from(score) / 3.0).collect::<Vec<_>>())
        ) {
            scores.reverse();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.run");
            let topic = RequestId::from("101");
            let ids: Vec<DocId> = (0..scores.len()).map(|n| format!("Q{n:05}").as_str().into()).collect();
            let nudged = strictly_decreasing(&scores);
            let ranking: Vec<_> = ids.iter().zip(scores.iter().copied()).collect();
            write_atomically(&path, |out| put_run_lines(out, &topic, ranking, "my tag")).unwrap();
            let run = read_run(&Source::new(&path)).unwrap();
            prop_assert!(std::fs::read_to_string(&path).unwrap().ends_with(" my_tag\n"));
            prop_assert_eq!(run.lines.iter().map(|line| line.score).collect::<Vec<_>>(), nudged);
            prop_assert_eq!(run.lines.into_iter().map(|line| line.document).collect::<Vec<_>>(), ids);
        }
    }
}
