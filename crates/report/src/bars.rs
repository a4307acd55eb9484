//! The chart of differences by topic: a bar per topic, sorted, upwards where the run is better.

use crate::scale::{Scale, px, step_for, steps_to};
use crate::words::difference;
use clariq_core::fit;
use maud::{Markup, html};

const WIDTH: f64 = 720.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 712.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 236.0;
/// The maximum number of topics whose ids are shown.
const NAMED: usize = 64;
/// With fewer topics than this, bars do not become wider.
const WIDEST: usize = 8;

/// A bar: its label and its height.
pub(crate) struct Bar<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: f64,
}

/// Draws the chart. `id` is unique on the page, `title` describes the chart, `measure` labels the
/// vertical axis, `unit` the horizontal one.
pub(crate) fn chart(bars: &[Bar], id: &str, title: &str, measure: &str, unit: &str) -> Markup {
    let axis = VerticalAxis::of(bars);
    let y = Scale { from: (axis.lowest(), axis.highest()), to: (BOTTOM, TOP) };
    let x = Scale { from: (0.0, bars.len().max(WIDEST) as f64), to: (LEFT, RIGHT) };
    let longest = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0);
    let upright = longest as f64 * 8.0 < x.at(1.0) - x.at(0.0);
    let has_names = bars.len() <= NAMED;
    let below = match (has_names, upright) {
        (false, _) => 28.0,
        (true, true) => 40.0,
        (true, false) => 72.0,
    };
    let height = BOTTOM + below;
    html! {
        svg.chart.wide viewBox={ "0 0 " (px(WIDTH)) " " (px(height)) } role="img"
            aria-labelledby=(id) {
            title id=(id) { (title) }
            (grid(y, &axis, &format!("difference in {measure}")))
            @for (index, bar) in bars.iter().enumerate() { (draw_bar(bar, index, x, y)) }
            line.axis x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(y.at(0.0))) y2=(px(y.at(0.0))) {}
            @if has_names { (names(bars, x, upright)) }
            text.name x=(px(LEFT)) y=(px(height - 6.0)) {
                (unit) "s, sorted by difference"
            }
        }
    }
}

/// The vertical axis: the steps above and below zero that the bars need.
struct VerticalAxis {
    step: f64,
    above: usize,
    below: usize,
}

impl VerticalAxis {
    fn of(bars: &[Bar]) -> Self {
        let highest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
        let lowest = bars.iter().map(|bar| bar.value).fold(0.0, f64::min);
        let step = step_for(highest - lowest);
        let count = |value: f64| if value == 0.0 { 0 } else { steps_to(value, step) };
        Self { step, above: count(highest), below: count(-lowest) }
    }

    fn highest(&self) -> f64 {
        self.above as f64 * self.step
    }

    fn lowest(&self) -> f64 {
        -(self.below as f64 * self.step)
    }

    /// The values with a line of the grid, from the lowest.
    fn values(&self) -> impl Iterator<Item = f64> {
        let count = self.below + self.above;
        (0..=count).map(|line| (line as f64 - self.below as f64) * self.step)
    }
}

fn grid(y: Scale, axis: &VerticalAxis, measure: &str) -> Markup {
    let middle = px(f64::midpoint(TOP, BOTTOM));
    html! {
        @for value in axis.values() {
            @let at = px(y.at(value));
            line.grid x1=(px(LEFT)) x2=(px(RIGHT)) y1=(at) y2=(at) {}
            text.tick x=(px(LEFT - 8.0)) y=(at) dy="0.35em" text-anchor="end" { (tick(value)) }
        }
        text.name x="14" y=(middle) transform={ "rotate(-90 14 " (middle) ")" }
            text-anchor="middle" { (measure) }
    }
}

fn tick(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:+.2}");
    text.strip_suffix('0').unwrap_or(&text).replace('-', "−")
}

fn draw_bar(bar: &Bar, index: usize, x: Scale, y: Scale) -> Markup {
    let from = x.at(index as f64 + 0.1);
    let to = x.at(index as f64 + 0.9);
    let top = y.at(bar.value.max(0.0));
    let bottom = y.at(bar.value.min(0.0));
    let class = if bar.value < 0.0 { "worse" } else { "better" };
    html! {
        @if bar.value != 0.0 {
            rect class=(class) x=(px(from)) width=(px(to - from)) y=(px(top))
                height=(px(bottom - top)) {
                title { (bar.name) ": " (difference(bar.value)) }
            }
        }
    }
}

/// Ids below the chart, upright where there is room.
fn names(bars: &[Bar], x: Scale, upright: bool) -> Markup {
    html! {
        @for (index, bar) in bars.iter().enumerate() {
            @let at = px(x.at(index as f64 + 0.5));
            @let below = px(BOTTOM + 8.0);
            @if upright {
                text.id x=(at) y=(below) dy="0.8em" text-anchor="middle" { (bar.name) }
            } @else {
                @let turned = format!("rotate(-90 {at} {below})");
                text.id x=(at) y=(below) dy="0.35em" text-anchor="end" transform=(turned) {
                    (fit(bar.name, 8))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_signed() {
        assert_eq!([0.2, 0.0, -0.4, 0.05].map(tick), ["+0.2", "0", "−0.4", "+0.05"]);
    }

    #[test]
    fn the_axis_fits_the_bars() {
        let axis = |values: &[f64]| {
            let bars: Vec<Bar> = values.iter().map(|&value| Bar { name: "1", value }).collect();
            let axis = VerticalAxis::of(&bars);
            axis.values().map(tick).collect::<Vec<_>>()
        };
        assert_eq!(
            axis(&[0.3, -0.1]),
            ["−0.1", "−0.05", "0", "+0.05", "+0.1", "+0.15", "+0.2", "+0.25", "+0.3"]
        );
        assert_eq!(axis(&[0.04]), ["0", "+0.01", "+0.02", "+0.03", "+0.04"]);
        assert_eq!(
            axis(&[-1.0, 0.5]),
            ["−1.0", "−0.8", "−0.6", "−0.4", "−0.2", "0", "+0.2", "+0.4", "+0.6"]
        );
    }

    #[test]
    fn a_chart_is_as_high_as_its_ids_need() {
        let chart_of = |name: &str, count: usize| {
            let bars: Vec<Bar> = (0..count).map(|_| Bar { name, value: 0.5 }).collect();
            chart(&bars, "x", "title", "measure", "topic").into_string()
        };
        assert!(chart_of("12", 15).contains("viewBox=\"0 0 720 276\""));
        assert!(chart_of("10-1_12", 30).contains("viewBox=\"0 0 720 308\""));
        assert!(chart_of("12", 65).contains("viewBox=\"0 0 720 264\""));
    }

    #[test]
    fn equal_values_have_no_bar() {
        let bars = [("1", 0.25), ("2", 0.0), ("3", -0.5)].map(|(name, value)| Bar { name, value });
        let chart = chart(&bars, "x", "title", "measure", "topic").into_string();
        assert_eq!(chart.matches("<rect").count(), 2);
        assert!(chart.contains("3: −0.5000") && chart.contains("class=\"worse\""));
    }
}
