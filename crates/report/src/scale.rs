//! Scales from values to positions on a chart.

/// A linear map from values to positions on the chart.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) from: (f64, f64),
    pub(crate) to: (f64, f64),
}

impl Scale {
    /// The position of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value - self.from.0) / (self.from.1 - self.from.0);
        self.to.0 + share * (self.to.1 - self.to.0)
    }
}

/// Writes a position to a tenth of a pixel: enough for any screen, and the same text on every
/// machine.
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
}
