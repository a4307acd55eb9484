//! A guess at the measure that a misspelt name meant.

use super::CATALOGUE;

/// A complete name close to what was written, if there is one: `ndcg@10` gives `nDCG@10`, `recal`
/// gives `R@30`.
pub(super) fn nearest(text: &str) -> Option<String> {
    let base = text.split(['(', '@']).next().unwrap_or_default();
    let base =
        base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_' || c == '.').to_lowercase();
    let names =
        CATALOGUE.iter().flat_map(|spec| spec.names().map(move |name| (name.to_lowercase(), spec)));
    let (_, spec) = names
        .map(|(name, spec)| (distance(&base, &name), spec))
        .filter(|(distance, _)| *distance <= base.chars().count() / 3)
        .min_by_key(|(distance, _)| *distance)?;
    let digits = &text[text.trim_end_matches(|c: char| c.is_ascii_digit()).len()..];
    let named = digits.bytes().any(|digit| digit != b'0') && !text.contains('(');
    Some(if named { format!("{}@{digits}", spec.name) } else { spec.example.to_owned() })
}

/// How many letters must be put in, taken out or replaced to make one word the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood() {
        let cases = [
            ("ndcg@10", "nDCG@10"),
            ("nDCG_5", "nDCG@5"),
            ("recall@20", "R@20"),
            ("R10", "R@10"),
            ("precision@5", "P@5"),
            ("Sucess@3", "Success@3"),
            ("mrr", "RR@10"),
            ("rbp", "RBP(p=0.8,rel=1)"),
            ("Recall", "R@30"),
        ];
        for (written, meant) in cases {
            assert_eq!(nearest(written).as_deref(), Some(meant), "{written}");
        }
        for written in ["bpref", "hits@5", "x", "", "10", "Ω"] {
            assert_eq!(nearest(written), None, "{written}");
        }
    }

    #[test]
    fn letters_are_counted() {
        assert_eq!(
            (distance("kitten", "sitting"), distance("", "abc"), distance("abc", "abc")),
            (3, 3, 0)
        );
    }
}
