//! The check that configurations expect figures of measures that there are.

use clariq_collections::KINDS;
use clariq_core::{Result, bail};
use clariq_eval::parse_measure;
use clariq_rank::Expected;

/// The names that are listed in a message.
const MOST_NAMED: usize = 9;

/// Refuses a figure of no measure: it would be expected, and never compared.
pub(crate) fn check_measures(expected: &[Expected]) -> Result<()> {
    let own: Vec<String> = KINDS.iter().flat_map(|kind| (kind.figures)()).collect();
    for (name, at) in expected.iter().flat_map(|expected| &expected.lines) {
        if !own.contains(name) && parse_measure(name).is_err() {
            let own = own[..MOST_NAMED.min(own.len())].join(", ");
            let wanted = format!("a measure such as {own}, or one that `clariq eval -m` knows");
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
