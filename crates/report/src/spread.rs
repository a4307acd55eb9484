//! Positions of labels that must not cover each other.

/// Moves positions apart until neighbours are `gap` away from each other, as little as needed, none
/// below `lowest`. The order is kept; of equal positions, the first stays first.
pub(crate) fn spread(positions: &[f64], gap: f64, lowest: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|&a, &b| positions[a].total_cmp(&positions[b]));
    let mut moved = positions.to_vec();
    for pair in order.windows(2) {
        moved[pair[1]] = moved[pair[1]].max(moved[pair[0]] + gap);
    }
    // What was pushed off the chart moves back and takes its neighbours along.
    let mut floor = lowest;
    for &label in order.iter().rev() {
        moved[label] = moved[label].min(floor);
        floor = moved[label] - gap;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn neighbours_keep_their_distance_and_their_order() {
        assert_eq!(spread(&[50.0, 10.0, 12.0, 10.0], 10.0, 100.0), [50.0, 10.0, 30.0, 20.0]);
    }

    #[test]
    fn nothing_falls_off_the_chart() {
        assert_eq!(spread(&[98.0, 99.0, 20.0], 10.0, 100.0), [90.0, 100.0, 20.0]);
        assert!(spread(&[], 10.0, 100.0).is_empty());
    }
}
