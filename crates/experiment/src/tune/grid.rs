//! The combinations of values to try.

use clariq_core::{Result, bail};
use clariq_rank::Override;
use clariq_systems::parse_assignment;

/// The maximum number of points of a grid. The figures of all points and topics are in memory.
pub const MOST_POINTS: usize = 10_000;

/// Parameters and the values of each.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Parameters that all points have.
    pub fixed: Vec<Override>,
    axes: Vec<GridAxis>,
    points: usize,
}

#[derive(Debug, Clone)]
struct GridAxis {
    target: Override,
    values: Vec<String>,
}

impl Grid {
    /// Parses axes such as `bm25.k1=0.9,1.2`. A parameter that is given twice, and more than
    /// [`MOST_POINTS`] combinations, are refused.
    pub fn parse(texts: &[impl AsRef<str>]) -> Result<Self> {
        let axes = Vec::with_capacity(texts.len());
        let mut grid = Self { fixed: Vec::new(), axes, points: 1 };
        for text in texts {
            let target = parse_assignment(text.as_ref(), "--grid")?;
            let stage = &target.stage;
            let key = &target.key;
            if grid.axes.iter().any(|axis| axis.target.stage == *stage && axis.target.key == *key) {
                let hint = "write all values of a parameter in one --grid";
                bail!("--grid", "every parameter once", "`{stage}.{key}` twice", hint);
            }
            let values = split_values(&target.value);
            if let Some(range) = values.iter().find(|value| is_range(value)) {
                let hint = format!("for example `--grid {stage}.{key}=0.5,0.9,1.5`");
                bail!("--grid", "values with commas between them", "`{range}`", hint);
            }
            grid.points = grid.points.saturating_mul(values.len());
            grid.axes.push(GridAxis { target, values });
        }
        if grid.points > MOST_POINTS {
            let expected = format!("at most {MOST_POINTS} combinations");
            let found = grid.points;
            let hint = "try fewer values, and tune parameters one after the other";
            bail!("--grid", expected, "{found}", hint);
        }
        Ok(grid)
    }

    /// The same with parameters that all points have, such as `bm25.b=0.4`. A parameter that is given
    /// twice is refused.
    pub fn with_fixed(mut self, texts: &[impl AsRef<str>]) -> Result<Self> {
        for text in texts {
            let given = parse_assignment(text.as_ref(), "--set")?;
            let axes = self.axes.iter().map(|axis| &axis.target);
            let is_same =
                |other: &Override| (&other.stage, &other.key) == (&given.stage, &given.key);
            if axes.chain(&self.fixed).any(is_same) {
                let found = format!("`{}.{}` twice", given.stage, given.key);
                let hint = "--grid has the parameters that vary, --set those that do not";
                bail!("--set", "every parameter once", found, hint);
            }
            self.fixed.push(given);
        }
        Ok(self)
    }

    /// All parameters of a point.
    pub fn parameters(&self, point: &[Override]) -> Vec<Override> {
        [&self.fixed, point].concat()
    }

    /// The number of combinations.
    pub fn count(&self) -> usize {
        self.points
    }

    /// The parameters that vary in every combination, one by one, the last parameter varying fastest.
    pub fn points(&self) -> impl Iterator<Item = Vec<Override>> {
        (0..self.points).map(|point| {
            let mut rest = point;
            let mut values: Vec<Override> = Vec::with_capacity(self.axes.len());
            for axis in self.axes.iter().rev() {
                let value = axis.values[rest % axis.values.len()].clone();
                rest /= axis.values.len();
                values.push(Override { value, ..axis.target.clone() });
            }
            values.reverse();
            values
        })
    }
}

/// True for numbers with another sign than a comma between them, such as `0.9-1.5`.
fn is_range(value: &str) -> bool {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    let signs = ["-", "..", ":", ";", " "];
    !is_number(value) && signs.iter().any(|sign| value.split(sign).all(is_number))
}

/// Splits values at commas, except those inside lists and tables of TOML.
fn split_values(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut start = 0;
    let mut depth = 0_usize;
    for (index, character) in text.char_indices() {
        match character {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                values.push(text[start..index].trim().to_owned());
                start = index + 1;
            }
            _ => {}
        }
    }
    values.push(text[start..].trim().to_owned());
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(texts: &[&str]) -> String {
        Grid::parse(texts).unwrap_err().to_string()
    }

    #[test]
    fn the_last_parameter_varies_fastest() {
        let grid = Grid::parse(&["a.x=1, 2", "b.y=3,4,5"]).unwrap();
        let shown =
            |values: Vec<Override>| values.into_iter().map(|value| value.value).collect::<String>();
        let points: Vec<String> = grid.points().map(shown).collect();
        assert_eq!(points, ["13", "14", "15", "23", "24", "25"]);
        let fixed = Grid::parse(&["a.x=1,2"]).unwrap().with_fixed(&["b.y=[1,2]"]).unwrap();
        let points: Vec<Vec<Override>> = fixed.points().collect();
        assert_eq!(points.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(shown(fixed.parameters(&points[1])), "[1,2]2");
        for twice in ["a.x=1", "b.y=1"] {
            let text = fixed.clone().with_fixed(&[twice]).unwrap_err().to_string();
            assert!(text.starts_with("--set: expected every parameter once"), "{text}");
        }
        let lists = Grid::parse(&["fuse.weights=[1, 0.5],[1,1]"]).unwrap();
        let points: Vec<String> = lists.points().map(shown).collect();
        assert_eq!(points, ["[1, 0.5]", "[1,1]"]);
    }

    #[test]
    fn a_range_is_told_how_values_are_written() {
        for range in ["0.9-1.5", "1..3", "0.5:1.5:0.1", "0.9 1.5", "1;2"] {
            let text = message(&[&format!("bm25.k1={range}")]);
            let expected =
                format!("--grid: expected values with commas between them, found `{range}`");
            assert_eq!(text, expected);
        }
        for value in ["-0.5,1e-5", "lucene-default", "[1, 2],[2, 3]", "nltk", "2-gram"] {
            assert!(Grid::parse(&[format!("a.x={value}")]).is_ok(), "{value}");
        }
    }

    #[test]
    fn combinations_are_counted_before_they_are_made() {
        let thousand = vec!["1"; 1000].join(",");
        let axes: Vec<String> = ["a.x", "a.y", "a.z"].map(|key| format!("{key}={thousand}")).into();
        let text = Grid::parse(&axes).unwrap_err().to_string();
        assert!(text.contains("at most 10000 combinations, found 1000000000"), "{text}");
        let axes: Vec<String> = (0..30).map(|axis| format!("a.x{axis}={thousand}")).collect();
        assert!(Grid::parse(&axes).is_err(), "the product does not fit a number");
        assert!(message(&["a.x=1", "a.x=2"]).contains("`a.x` twice"));
    }
}
