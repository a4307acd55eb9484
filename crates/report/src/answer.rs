//! The first sentence of a page: which run is best, by how much, whether that is more than chance,
//! and where it loses.

use crate::scores::{ComparedRuns, RunScores, is_significant};
use crate::words::{count, difference, figure, p_value};
use maud::{Markup, html};
use std::mem::swap;

/// A sentence on the best run by the measure of a column. If that is the baseline, it is compared with
/// the next one.
pub(crate) fn answer(compared: &ComparedRuns, column: usize) -> Markup {
    let baseline = compared.baseline();
    let measure = baseline.scores[column].name();
    let mean = |run: &RunScores| run.scores[column].value();
    let topics = count(baseline.scores[column].values.len(), compared.unit);
    // Of equal runs the first is named.
    let other = compared.others().fold(None, |best: Option<(usize, &RunScores)>, (index, run)| {
        if best.is_none_or(|(_, best)| mean(run) > mean(best)) { Some((index, run)) } else { best }
    });
    let Some((index, other)) = other else {
        return html! {
            p.verdict { b { (baseline.name) } " has " (measure) " " (figure(mean(baseline))) " over " (topics) "." }
        };
    };
    let tested = compared.tested.iter().find(|test| (test.run, test.column) == (index, column));
    let Some(tested) = tested else { return html! {} };
    let [mut wins, mut losses] = [tested.test.wins, tested.test.losses];
    let [mut best, mut next] = [other, baseline];
    if mean(baseline) > mean(other) {
        swap(&mut best, &mut next);
        swap(&mut wins, &mut losses);
    }
    let by = mean(best) - mean(next);
    let p = p_value(tested.corrected);
    html! {
        p.verdict {
            b { (best.name) }
            @if by > 0.0 {
                " is best by " (measure) ": " (figure(mean(best))) ", " (difference(by)) " against "
                b { (next.name) }
                @if is_significant(tested) { ", which is more than chance (p " (p) ")" }
                @else { ", which may be chance (p " (p) ")" }
            } @else {
                " and " b { (next.name) } " are equal by " (measure) ": " (figure(mean(best)))
            }
            @if wins + losses > 0 {
                "; " b { (best.name) } " is better on " (wins) " and worse on " (losses) " of " (topics)
                (worst(compared, best, next, column))
            }
            "."
        }
    }
}

/// The topic on which a run loses most to another.
fn worst(compared: &ComparedRuns, run: &RunScores, other: &RunScores, column: usize) -> Markup {
    let pairs = run.scores[column].values.iter().zip(&other.scores[column].values);
    let losses = pairs.map(|((topic, value), (_, base))| (value - base, topic));
    match losses.min_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((change, topic)) if change < 0.0 => html! {
            ", most on " (compared.unit) " " span.topic-id { (topic) } " (" (difference(change)) ")"
        },
        _ => html! {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_eval::Score;

    /// Runs by their names and values by one measure.
    fn told(runs: &[(&str, &[f64])]) -> String {
        let figures = runs.iter().map(|(name, values)| {
            let values = values.iter().zip(1..);
            let values = values.map(|(value, topic)| (topic.to_string().as_str().into(), *value));
            RunScores { name, uses: &[], scores: vec![Score::new("", "AP", values.collect())] }
        });
        let page = answer(&ComparedRuns::new(figures.collect(), 0, 42, "topic"), 0).into_string();
        page.replace("<b>", "")
            .replace("</b>", "")
            .replace("<p class=\"verdict\">", "")
            .replace("</p>", "")
            .replace("<span class=\"topic-id\">", "")
            .replace("</span>", "")
    }

    #[test]
    fn the_best_run_is_named_with_its_difference_and_its_losses() {
        assert_eq!(
            told(&[("base", &[0.5; 8]), ("low", &[0.0; 8]), ("high", &[0.9; 8])]),
            "high is best by AP: 0.9000, +0.4000 against base, which is more than chance (p 0.016); \
             high is better on 8 and worse on 0 of 8 topics."
        );
        assert_eq!(
            told(&[("base", &[0.5, 0.5, 0.5]), ("other", &[0.9, 0.5, 0.25])]),
            "other is best by AP: 0.5500, +0.0500 against base, which may be chance (p 1.000); other \
             is better on 1 and worse on 1 of 3 topics, most on topic 3 (−0.2500)."
        );
    }

    #[test]
    fn a_baseline_that_is_best_is_compared_with_the_next_run() {
        assert_eq!(
            told(&[("base", &[0.5, 0.0]), ("a", &[0.125, 0.25]), ("b", &[0.0, 0.0])]),
            "base is best by AP: 0.2500, +0.0625 against a, which may be chance (p 1.000); base is \
             better on 1 and worse on 1 of 2 topics, most on topic 2 (−0.2500)."
        );
    }

    #[test]
    fn equal_and_single_runs_have_their_sentence() {
        assert_eq!(told(&[("base", &[0.5]), ("a", &[0.5])]), "a and base are equal by AP: 0.5000.");
        assert_eq!(told(&[("base", &[0.5, 1.0])]), "base has AP 0.7500 over 2 topics.");
    }
}
