//! Significance tests of each run against the baseline.

use crate::judged::Judged;
use clariq_eval::{CUTOFFS, PairedTest, ROUNDS, holm, paired_test};

/// The accepted probability of any false mark on the page.
pub(crate) const LEVEL: f64 = 0.05;

/// One run against the baseline at one depth.
pub(crate) struct Tested {
    /// The position of the run.
    pub(crate) run: usize,
    /// The position in [`CUTOFFS`].
    pub(crate) cutoff: usize,
    pub(crate) test: PairedTest,
    /// The p-value of the randomisation test, corrected for all comparisons of the page.
    pub(crate) corrected: f64,
}

impl Tested {
    pub(crate) fn is_significant(&self) -> bool {
        self.corrected <= LEVEL
    }
}

/// Tests every other run against the baseline, at every depth.
pub(crate) fn test_against_baseline(judged: &Judged, seed: u64) -> Vec<Tested> {
    let mut tested: Vec<Tested> = judged
        .others()
        .flat_map(|(index, run)| (0..CUTOFFS.len()).map(move |cutoff| (index, run, cutoff)))
        .map(|(index, run, cutoff)| {
            let test =
                paired_test(&run.recalls(cutoff), &judged.baseline().recalls(cutoff), ROUNDS, seed);
            Tested { run: index, cutoff, test, corrected: 1.0 }
        })
        .collect();
    let corrected =
        holm(&tested.iter().map(|tested| tested.test.randomisation_p).collect::<Vec<_>>());
    tested.iter_mut().zip(corrected).for_each(|(tested, corrected)| tested.corrected = corrected);
    tested
}
