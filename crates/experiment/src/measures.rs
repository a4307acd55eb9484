//! The measures that configurations can expect figures of.

use clariq_collections::clariq::evaluation::CUTOFFS;
use clariq_core::{Result, bail};
use clariq_eval::parse_measure;
use clariq_rank::Expected;

/// Weighted F1 of need labels.
pub(crate) const NEED_F1: &str = "need F1";

/// The measures of the challenge's leaderboard of document relevance.
pub(crate) const DOCUMENT_MEASURES: [&str; 4] = ["MRR100", "P1", "NDCG3", "NDCG5"];

/// The names of all measures, recall first.
pub fn measures() -> impl Iterator<Item = String> {
    let recalls = CUTOFFS.iter().map(|cutoff| format!("R@{cutoff}"));
    recalls.chain([NEED_F1.to_owned()]).chain(DOCUMENT_MEASURES.map(str::to_owned))
}

/// Refuses a figure of no measure: it would be expected, and never compared.
pub(crate) fn check_measures(expected: &[Expected]) -> Result<()> {
    let known: Vec<String> = measures().collect();
    let of_ikat: Vec<String> = clariq_collections::ikat::evaluation::names().collect();
    for (name, at) in expected.iter().flat_map(|expected| &expected.lines) {
        if !known.iter().chain(&of_ikat).any(|known| known == name) && parse_measure(name).is_err()
        {
            let known = known.join(", ");
            let wanted = format!("one of the measures {known}, or one that `clariq eval -m` knows");
            bail!(at, wanted, "`{name}`", "names are case-sensitive, as in nDCG@3")
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_rank::System;

    #[test]
    fn a_misspelt_measure_is_refused_with_its_line() {
        let check = |expected: &str| {
            let stages = "[[stages]]\nstage = \"no_question\"\nrank = 1\n";
            let of = "collection = \"c\"\nbank = \"b\"\nsplit = \"dev\"\n";
            let text = format!("name = \"x\"\n{stages}[[expected]]\n{of}{expected}\n");
            let system = System::parse("x.toml", &text, &[]).unwrap();
            check_measures(&system.expected).map_err(|error| error.to_string())
        };
        let error = check("[expected.measures]\n\"R@5\" = 1.0\n\"r@30\" = 0.5").unwrap_err();
        assert!(error.starts_with("x.toml:11: ") && error.ends_with("`r@30`"), "{error}");
        assert!(error.contains("need F1, MRR100, P1, NDCG3, NDCG5, or one that"), "{error}");
        check("measures = { \"R@5\" = 1.0, \"R@30\" = 0.5 }").unwrap();
        let error = check("measures = {}\npublished = { \"R@x\" = 0.5 }").unwrap_err();
        assert!(error.starts_with("x.toml:10: "), "{error}");
    }
}
