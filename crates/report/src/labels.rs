//! Where do labels stand that must not cover each other?

/// Moves places apart until neighbours are `gap` away from each other, as little as needed, none below `lowest`. The
/// order is kept; of equal places the first comes first.
pub(crate) fn spread(places: &[f64], gap: f64, lowest: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    let mut moved = places.to_vec();
    for pair in order.windows(2) {
        moved[pair[1]] = moved[pair[1]].max(moved[pair[0]] + gap);
    }
    // What was pushed off the paper comes back, and takes its neighbours along.
    let mut floor = lowest;
    for &place in order.iter().rev() {
        moved[place] = moved[place].min(floor);
        floor = moved[place] - gap;
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
    fn nothing_falls_off_the_paper() {
        assert_eq!(spread(&[98.0, 99.0, 20.0], 10.0, 100.0), [90.0, 100.0, 20.0]);
        assert!(spread(&[], 10.0, 100.0).is_empty());
    }
}
