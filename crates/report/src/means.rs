//! The chart of means: a bar for each run, with the interval of its mean.

use crate::scale::{Scale, px};
use crate::scores::ComparedRuns;
use crate::words::figure;
use clariq_core::fit;
use clariq_eval::mean_interval;
use maud::{Markup, html};

const WIDTH: f64 = 720.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = 640.0;
/// The height of a run, and of its name above its bar. On a phone, letters are half as large again.
const ROW: f64 = 50.0;
const NAME_ABOVE: f64 = 26.0;
/// The height of a bar, and of the ends of an interval.
const BAR: f64 = 16.0;
const END: f64 = 10.0;
/// The maximum number of characters of a name.
const NAME: usize = 80;

/// A bar for each run by the measure of a column: its mean, and the 95 % interval of the mean, by percentiles of
/// 10,000 bootstrap samples of the topics. `id` is unique on the page.
pub(crate) fn chart(compared: &ComparedRuns, column: usize, id: &str) -> Markup {
    let measure = compared.baseline().scores[column].name();
    let mut bars = Vec::with_capacity(compared.runs.len());
    for run in &compared.runs {
        let score = &run.scores[column];
        let values: Vec<f64> = score.values.iter().map(|(_, value)| *value).collect();
        bars.push((run.name, score.value(), mean_interval(&values, compared.seed)));
    }
    let names: Vec<&str> = compared.runs.iter().map(|run| run.name).collect();
    let title = format!("Mean {measure} of {} with 95 % intervals", names.join(", "));
    let highest = bars.iter().map(|(.., (_, high))| *high).fold(0.0, f64::max);
    let x = Scale { from: (0.0, if highest > 0.0 { highest } else { 1.0 }), to: (LEFT, RIGHT) };
    html! {
        svg.chart.wide viewBox={ "0 0 " (px(WIDTH)) " " (px(ROW * bars.len() as f64)) } role="img"
            aria-labelledby=(id) {
            title id=(id) { (title) }
            @for (index, (name, mean, (low, high))) in bars.iter().enumerate() {
                @let top = ROW * index as f64 + NAME_ABOVE;
                @let middle = px(top + BAR / 2.0);
                @let [from, to] = [-END, END].map(|end| px(top + f64::midpoint(BAR, end)));
                text x=(px(LEFT)) y=(px(top - 6.0)) { (fit(name, NAME)) }
                rect.better x=(px(LEFT)) y=(px(top)) width=(px((x.at(*mean) - LEFT).max(0.0))) height=(px(BAR)) {
                    title { (name) ": " (figure(*mean)) ", " (figure(*low)) " to " (figure(*high)) }
                }
                line.interval x1=(px(x.at(*low))) x2=(px(x.at(*high))) y1=(middle) y2=(middle) {}
                @for end in [low, high] {
                    line.interval x1=(px(x.at(*end))) x2=(px(x.at(*end))) y1=(from) y2=(to) {}
                }
                text.tick x=(px(x.at(*high) + 8.0)) y=(middle) dy="0.35em" { (figure(*mean)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scores::RunScores;
    use clariq_eval::Score;

    #[test]
    fn a_bar_has_its_mean_and_the_interval_of_the_mean() {
        let run = |name, values: [f64; 4]| {
            let ids = ["1", "2", "3", "4"].map(Into::into);
            let values = ids.into_iter().zip(values).collect();
            RunScores { name, uses: &[], scores: vec![Score::new("", "AP", values)] }
        };
        let runs = vec![run("base", [0.5; 4]), run("other", [0.0, 0.5, 0.5, 1.0])];
        let chart = chart(&ComparedRuns::new(runs, 0, 42, "topic"), 0, "means").into_string();
        assert!(chart.contains("Mean AP of base, other with 95 % intervals"), "{chart}");
        assert!(chart.contains("base: 0.5000, 0.5000 to 0.5000"), "{chart}");
        assert!(chart.contains("other: 0.5000, 0.1250 to 0.8750"), "{chart}");
    }
}
