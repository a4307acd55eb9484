//! Scales from values to positions on a chart, and positions of labels beside each other.

/// A linear map from values to positions on the chart.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    /// The first and the last value.
    pub(crate) from: (f64, f64),
    /// Their positions.
    pub(crate) to: (f64, f64),
}

impl Scale {
    /// The position of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value - self.from.0) / (self.from.1 - self.from.0);
        self.to.0 + share * (self.to.1 - self.to.0)
    }
}

/// Writes a position to a tenth of a pixel: the same text on every machine.
pub(crate) fn px(position: f64) -> String {
    let text = format!("{position:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The smallest number of steps that reaches a value, from 1 to 100.
pub(crate) fn steps_to(value: f64, step: f64) -> usize {
    // Tenths are not exact in binary: a value within 1e-9 of a step is that step.
    (1..100).find(|&steps| steps as f64 * step >= value - 1e-9).unwrap_or(100)
}

/// A round step by which an axis reaches over `range` in at most ten.
pub(crate) fn step_for(range: f64) -> f64 {
    [0.01, 0.02, 0.05, 0.1].into_iter().find(|step| step * 8.0 >= range).unwrap_or(0.2)
}

/// Moves positions apart until neighbours are `gap` away from each other, as little as needed, none
/// below `lowest`. The order is kept; of equal positions, the first stays first.
pub(crate) fn spread(positions: &[f64], gap: f64, lowest: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|&a, &b| positions[a].total_cmp(&positions[b]));
    let mut moved = positions.to_vec();
    for pair in order.windows(2) {
        moved[pair[1]] = moved[pair[1]].max(moved[pair[0]] + gap);
    }
    // Positions beyond `lowest` move back and take their neighbours along.
    let mut floor = lowest;
    for &label in order.iter().rev() {
        moved[label] = moved[label].min(floor);
        floor = moved[label] - gap;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_positions() {
        let scale = Scale { from: (0.0, 1.0), to: (300.0, 20.0) };
        assert_eq!([px(scale.at(0.0)), px(scale.at(0.5)), px(scale.at(1.0))], ["300", "160", "20"]);
        assert_eq!([px(1.25), px(-0.01)], ["1.2", "0"]);
    }

    #[test]
    fn steps_reach_the_value_and_no_further() {
        assert_eq!([steps_to(0.0, 0.1), steps_to(0.3, 0.1), steps_to(0.31, 0.1)], [1, 3, 4]);
    }

    #[test]
    fn steps_are_round_and_few() {
        assert_eq!([step_for(0.05), step_for(0.3), step_for(2.0)], [0.01, 0.05, 0.2]);
    }

    #[test]
    fn neighbours_keep_their_distance_and_their_order() {
        assert_eq!(spread(&[50.0, 10.0, 12.0, 10.0], 10.0, 100.0), [50.0, 10.0, 30.0, 20.0]);
    }

    #[test]
    fn all_marks_lie_inside_the_chart() {
        assert_eq!(spread(&[98.0, 99.0, 20.0], 10.0, 100.0), [90.0, 100.0, 20.0]);
        assert!(spread(&[], 10.0, 100.0).is_empty());
    }
}
