//! Training curves: loss, rate and held-out recall by step, as CSV and SVG.

use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The figures of one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The step, from 1.
    pub step: usize,
    pub rate: f64,
    /// The loss before the step.
    pub loss: f64,
    /// The norm of the gradient before it was cut.
    pub norm: f64,
    /// Recall of the held-out topics at 5, 10, 20 and 30 after the step, where it was measured.
    pub recall: Option<[f64; 4]>,
}

/// All steps so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Curve {
    /// One row per step.
    pub rows: Vec<CurvePoint>,
    /// The recall of the pools that a cross-encoder reorders for the held-out topics, before it does.
    pub first_stage: Option<[f64; 4]>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 320.0;
const MARGIN: f64 = 48.0;

impl Curve {
    /// The rows under a header.
    pub fn csv(&self) -> String {
        let mut text = "step,learning_rate,loss,gradient_norm,R@5,R@10,R@20,R@30\n".to_owned();
        for row in &self.rows {
            let _ = write!(text, "{},{:e},{:.6},{:.6}", row.step, row.rate, row.loss, row.norm);
            match row.recall {
                Some([r5, r10, r20, r30]) => {
                    let _ = write!(text, ",{r5:.6},{r10:.6},{r20:.6},{r30:.6}");
                }
                None => text.push_str(",,,,"),
            }
            text.push('\n');
        }
        text
    }

    /// Mean loss over so many steps at the beginning and at the end.
    pub fn loss(&self, steps: usize) -> Option<(f64, f64)> {
        let mean =
            |rows: &[CurvePoint]| rows.iter().map(|row| row.loss).sum::<f64>() / rows.len() as f64;
        let steps = steps.min(self.rows.len());
        (steps > 0)
            .then(|| (mean(&self.rows[..steps]), mean(&self.rows[self.rows.len() - steps..])))
    }

    /// The last recall that was measured.
    pub fn last_recall(&self) -> Option<[f64; 4]> {
        self.rows.iter().rev().find_map(|row| row.recall)
    }

    /// A picture of the loss (left axis) and, where it was measured, of recall at 30 (right axis).
    pub fn svg(&self, title: &str) -> String {
        let last = self.rows.last().map_or(1, |row| row.step).max(1) as f64;
        let highest = self.rows.iter().map(|row| row.loss).fold(1e-9, f64::max);
        let across = |step: usize| MARGIN + (step as f64 / last) * (WIDTH - 2.0 * MARGIN);
        let up = |share: f64| HEIGHT - MARGIN - share * (HEIGHT - 2.0 * MARGIN);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\" role=\"img\" aria-label=\"{0}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text x=\"{MARGIN}\" y=\"20\" font-size=\"14\">{0}</text>\n",
            escape(title)
        );
        for quarter in 0..=4 {
            let share = f64::from(quarter) / 4.0;
            let _ = writeln!(
                svg,
                "<line x1=\"{MARGIN}\" x2=\"{}\" y1=\"{1:.1}\" y2=\"{1:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\" fill=\"#1b5e9b\">{4:.2}</text>",
                WIDTH - MARGIN,
                up(share),
                MARGIN - 6.0,
                up(share) + 4.0,
                highest * share
            );
        }
        let line = |points: &mut dyn Iterator<Item = (usize, f64)>, colour: &str| {
            let points: Vec<String> = points
                .map(|(step, share)| format!("{:.1},{:.1}", across(step), up(share)))
                .collect();
            format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n",
                points.join(" ")
            )
        };
        svg += &line(&mut self.rows.iter().map(|row| (row.step, row.loss / highest)), "#1b5e9b");
        let recalls: Vec<(usize, f64)> =
            self.rows.iter().filter_map(|row| Some((row.step, row.recall?[3]))).collect();
        if !recalls.is_empty() {
            svg += &line(&mut recalls.iter().copied(), "#b3541e");
            for quarter in 0..=4 {
                let share = f64::from(quarter) / 4.0;
                let x = WIDTH - MARGIN + 6.0;
                let y = up(share) + 4.0;
                let label = format_args!("fill=\"#b3541e\">{share:.2}</text>");
                let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y:.1}\" {label}");
            }
        }
        let legend = if recalls.is_empty() {
            "loss"
        } else {
            "loss (left), R@30 of held-out topics (right)"
        };
        let _ = write!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{0}\">step 1</text><text x=\"{1}\" y=\"{0}\" text-anchor=\"end\">step {last}</text>\
             <text x=\"{2}\" y=\"{0}\" text-anchor=\"middle\">{legend}</text>\n</svg>\n",
            HEIGHT - MARGIN / 2.0,
            WIDTH - MARGIN,
            WIDTH / 2.0
        );
        svg
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> Curve {
        let row = |step, loss, recall| CurvePoint { step, rate: 1e-5, loss, norm: 1.0, recall };
        let rows = vec![row(1, 2.0, None), row(2, 1.0, Some([0.1, 0.2, 0.3, 0.4]))];
        Curve { rows, first_stage: None }
    }

    #[test]
    fn every_line_has_every_column() {
        let csv = curve().csv();
        assert_eq!(csv.lines().count(), 3);
        assert!(csv.lines().all(|line| line.matches(',').count() == 7), "{csv}");
        assert!(
            csv.ends_with("2,1e-5,1.000000,1.000000,0.100000,0.200000,0.300000,0.400000\n"),
            "{csv}"
        );
    }

    #[test]
    fn the_picture_has_both_lines() {
        let svg = curve().svg("a < b");
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains("a &lt; b"));
    }
}
