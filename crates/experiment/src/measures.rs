//! The measures that configurations can expect figures of.

use clariq_collections::clariq::evaluation::CUTOFFS;
use clariq_core::{Error, Location, Problem, ProblemKind};
use clariq_eval::parse_measure;
use toml::de::DeTable;

/// Weighted F1 of need labels.
pub(crate) const NEED_F1: &str = "need F1";

/// The measures of the challenge's leaderboard of document relevance.
pub(crate) const DOCUMENT_MEASURES: [&str; 4] = ["MRR100", "P1", "NDCG3", "NDCG5"];

/// The names of all measures, recall first.
pub fn measures() -> impl Iterator<Item = String> {
    let recalls = CUTOFFS.iter().map(|cutoff| format!("R@{cutoff}"));
    recalls.chain([NEED_F1.to_owned()]).chain(DOCUMENT_MEASURES.map(str::to_owned))
}

/// Refuses a configuration with a figure of no measure: it would be expected, and never compared.
/// What is no TOML passes, since parsing the system reports it.
pub(crate) fn check_measures(file: &str, text: &str) -> Result<(), Error> {
    let known: Vec<String> = measures().collect();
    let of_ikat: Vec<String> = clariq_collections::ikat::evaluation::names().collect();
    let Ok(table) = DeTable::parse(text) else { return Ok(()) };
    let expected = table.get_ref().get("expected").and_then(|value| value.get_ref().as_array());
    for entry in expected.into_iter().flatten() {
        for kind in ["measures", "published"] {
            let figures = entry.get_ref().get(kind).and_then(|value| value.get_ref().as_table());
            for (name, _) in figures.into_iter().flatten() {
                let name_known = known.iter().chain(&of_ikat).any(|known| known == name.get_ref());
                if !name_known && parse_measure(name.get_ref()).is_err() {
                    let line = 1 + text[..name.span().start].matches('\n').count() as u64;
                    let wanted = format!(
                        "one of the measures {}, or one that `clariq eval -m` knows",
                        known.join(", ")
                    );
                    let found = format!("`{}`", name.get_ref());
                    let at = Location::line(file, line);
                    return Err(Problem::new(at, ProblemKind::Configuration, wanted, found)
                        .hint("names are case-sensitive, as in nDCG@3")
                        .into());
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_measure_is_refused_with_its_line() {
        let text = "name = \"x\"\n[[expected]]\nsplit = \"dev\"\n[expected.measures]\n\"R@5\" = 1.0\n\"r@30\" = 0.5\n";
        let error = check_measures("x.toml", text).unwrap_err().to_string();
        assert!(error.starts_with("x.toml:6: bad configuration"), "{error}");
        assert!(error.contains("need F1, MRR100, P1, NDCG3, NDCG5, or one that"), "{error}");
        check_measures("x.toml", &text.replace("r@30", "R@30")).unwrap();
        let inline = "[[expected]]\npublished = { \"R@x\" = 0.5 }\n";
        assert!(check_measures("x.toml", inline).unwrap_err().to_string().starts_with("x.toml:2"));
    }
}
