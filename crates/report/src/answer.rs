//! The first sentences of a page: which run is best, by how much, whether that is more than chance,
//! and where it loses.

use crate::figures::{ComparedRuns, RunFigures, is_significant};
use crate::words::{count, difference, figure, p_value};
use maud::{Markup, html};

/// A sentence or two on the best run by the measure of a column.
pub(crate) fn answer(compared: &ComparedRuns, column: usize) -> Markup {
    let baseline = compared.baseline();
    let measure = baseline.columns[column].name();
    let mean = |run: &RunFigures| run.columns[column].mean();
    let topics = count(baseline.columns[column].values.len(), compared.unit);
    // Of equal runs the first is named; the baseline only if no other is better.
    let best = compared.others().fold(None, |best: Option<(usize, &RunFigures)>, (index, run)| {
        if best.is_none_or(|(_, best)| mean(run) > mean(best)) { Some((index, run)) } else { best }
    });
    let Some((index, best)) = best else {
        return html! {
            p.verdict { b { (baseline.name) } " has " (measure) " " (figure(mean(baseline))) " over " (topics) "." }
        };
    };
    let tested = compared.tested.iter().find(|test| (test.run, test.column) == (index, column));
    let Some(tested) = tested else { return html! {} };
    let wins = tested.test.wins;
    let losses = tested.test.losses;
    let p = p_value(tested.corrected);
    let is_significant = is_significant(tested);
    html! {
        p.verdict {
            @if mean(best) > mean(baseline) {
                b { (best.name) } " is best by " (measure) ": " (figure(mean(best))) ", "
                (difference(mean(best) - mean(baseline))) " against " b { (baseline.name) } ". "
            } @else if mean(best) < mean(baseline) {
                "No run is better than " b { (baseline.name) } " by " (measure) " ("
                (figure(mean(baseline))) "); next is " b { (best.name) } " with "
                (figure(mean(best))) ". "
            } @else {
                b { (best.name) } " and " b { (baseline.name) } " are equal by " (measure) ": "
                (figure(mean(best))) ". "
            }
            @if is_significant { "The difference is more than chance (p " (p) "). " }
            @else if wins + losses > 0 { "The difference may be chance (p " (p) "). " }
            @if wins + losses > 0 {
                b { (best.name) } " is better on " (wins) " and worse on " (losses) " of " (topics)
                (worst(compared, best, column)) "."
            }
        }
    }
}

/// The topic on which a run loses most.
fn worst(compared: &ComparedRuns, run: &RunFigures, column: usize) -> Markup {
    let pairs = run.columns[column].values.iter().zip(&compared.baseline().columns[column].values);
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
    use clariq_eval::Column;

    /// Runs by their names and values by one measure.
    fn told(runs: &[(&str, &[f64])]) -> String {
        let figures = runs.iter().map(|(name, values)| {
            let values = values.iter().zip(1..);
            let values = values.map(|(value, topic)| (topic.to_string().as_str().into(), *value));
            RunFigures { name, uses: &[], columns: vec![Column::new("", "AP", values.collect())] }
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
            "high is best by AP: 0.9000, +0.4000 against base. The difference is more than chance \
             (p 0.016). high is better on 8 and worse on 0 of 8 topics."
        );
        assert_eq!(
            told(&[("base", &[0.5, 0.5, 0.5]), ("other", &[0.9, 0.5, 0.25])]),
            "other is best by AP: 0.5500, +0.0500 against base. The difference may be chance (p \
             1.000). other is better on 1 and worse on 1 of 3 topics, most on topic 3 (−0.2500)."
        );
    }

    #[test]
    fn no_better_and_equal_and_single_runs_have_their_sentence() {
        assert_eq!(
            told(&[("base", &[0.5]), ("a", &[0.25]), ("b", &[0.0])]),
            "No run is better than base by AP (0.5000); next is a with 0.2500. The difference may \
             be chance (p 1.000). a is better on 0 and worse on 1 of 1 topic, most on topic 1 \
             (−0.2500)."
        );
        assert_eq!(
            told(&[("base", &[0.5]), ("a", &[0.5])]),
            "a and base are equal by AP: 0.5000. "
        );
        assert_eq!(told(&[("base", &[0.5, 1.0])]), "base has AP 0.7500 over 2 topics.");
    }
}
