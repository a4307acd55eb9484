//! Measures by name, in the spellings of three tools, and the spelling that was meant.

use super::Measure;
use super::catalogue::MeasureSpec;
use super::definitions::CATALOGUE;
use super::parameters::{AT, whole};
use clariq_core::{Error, Result, problem};

/// Makes a measure from its name, in any of three spellings:
///
/// * that of `ir_measures`, `R@30`, `nDCG`, `P(rel=2)@5`, `RBP(p=0.5)`;
/// * that of `trec_eval`, `recall_30`, `ndcg_cut_10`, `map`, `recip_rank`, with `.` in place of
///   the last `_` as well;
/// * that of the `ClariQ` scorer, `Recall30`, `NDCG10`, `P5`, `MRR100`; all but the first mean
///   documents in `ClariQ`: see [`Measure::clariq_documents`].
///
/// Capitals matter in the last spelling alone, where `NDCG10` and `nDCG@10` are two things.
pub fn parse_measure(text: &str) -> Result<Measure> {
    let text = text.trim();
    let (name, mut given) = split(text).ok_or_else(|| no_form(text))?;
    let bare = name == text;
    let spec = CATALOGUE.iter().find(|spec| spec.name == name || spec.alias == Some(name));
    let spec = spec.or_else(|| CATALOGUE.iter().find(|spec| bare && spec.trec == Some(name)));
    if let Some(spec) = spec {
        return spec.build(given);
    }
    let numbered = if bare { with_number(name) } else { None };
    let Some(NumberedName { spec, cutoff, documents }) = numbered else {
        let is_named = |known: Option<&str>| known.is_some_and(|it| it.eq_ignore_ascii_case(name));
        let in_any_case = CATALOGUE.iter().find(|spec| {
            is_named(Some(spec.name)) || is_named(spec.alias) || bare && is_named(spec.trec)
        });
        return in_any_case.ok_or_else(|| unknown(text))?.build(given);
    };
    given.push(("cutoff", cutoff));
    Ok(Measure { documents, ..spec.build(given)? })
}

/// Makes measures from names between commas or white space, as in `R@5, RBP(p=0.5,rel=2) map`. A
/// measure that is named twice is made once.
pub fn parse_measures(text: &str) -> Result<Vec<Measure>> {
    let names = split_outside(text, '(', ')', |c| c == ',' || c.is_whitespace());
    let mut measures: Vec<Measure> = Vec::new();
    for name in names.filter(|name| !name.is_empty()) {
        let measure = parse_measure(name)?;
        if !measures.contains(&measure) {
            measures.push(measure);
        }
    }
    Ok(measures)
}

/// The parts of a text between separators outside brackets.
fn split_outside(
    text: &str,
    open: char,
    close: char,
    separates: impl Fn(char) -> bool,
) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |c: char| {
        depth += i32::from(c == open) - i32::from(c == close);
        depth <= 0 && separates(c)
    })
}

/// The name, and the parameters with the cut-off among them; `None` for a text of another form.
fn split(text: &str) -> Option<(&str, Vec<(&str, &str)>)> {
    let (head, cutoff) =
        text.split_once('@').map_or((text, None), |(head, cutoff)| (head, Some(cutoff.trim())));
    if cutoff.is_some_and(|cutoff| cutoff.contains('(')) {
        return None;
    }
    let (name, inside) = match head.trim_end().split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')')?),
        None => (head, ""),
    };
    let name = name.trim_end();
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
    };
    let mut parameters = Vec::new();
    if !inside.trim().is_empty() {
        for parameter in split_outside(inside, '{', '}', |c| c == ',') {
            let (key, value) = parameter.split_once('=')?;
            parameters.push((key.trim(), value.trim()));
        }
    }
    parameters.extend(cutoff.map(|cutoff| ("cutoff", cutoff)));
    let mut keys: Vec<&str> = parameters.iter().map(|(key, _)| *key).collect();
    keys.sort_unstable();
    let twice = keys.windows(2).any(|pair| pair[0] == pair[1]);
    (is_word(name) && keys.iter().all(|key| is_word(key)) && !twice).then_some((name, parameters))
}

/// A name that ends with its cut-off.
struct NumberedName<'n> {
    spec: &'static MeasureSpec,
    cutoff: &'n str,
    /// See [`Measure::clariq_documents`].
    documents: bool,
}

/// `recall_30`, `recall.30`, `Recall30`.
fn with_number(name: &str) -> Option<NumberedName<'_>> {
    let rest = |known: Option<&str>| known.and_then(|known| name.strip_prefix(known));
    CATALOGUE.iter().find_map(|spec| {
        let after_mark =
            spec.trec_cut.and_then(|known| after(name, known)?.strip_prefix(['_', '.']));
        let of_questions = after_mark.or_else(|| rest(spec.clariq));
        let documents = of_questions.is_none();
        let cutoff = of_questions.or_else(|| rest(spec.clariq_documents))?;
        whole(cutoff).filter(|_| !cutoff.is_empty()).map(|_| NumberedName {
            spec,
            cutoff,
            documents,
        })
    })
}

/// The rest of a name after its beginning in capitals or small letters.
fn after<'n>(name: &'n str, beginning: &str) -> Option<&'n str> {
    let (found, rest) = name.split_at_checked(beginning.len())?;
    found.eq_ignore_ascii_case(beginning).then_some(rest)
}

/// The error for a text that does not have the form of a measure.
fn no_form(text: &str) -> Error {
    let hint = list();
    problem!(AT, "`NAME(parameter=value)@cut-off`", "`{text}`", hint).into()
}

/// The error for an unknown name.
fn unknown(text: &str) -> Error {
    let hint = meant(text).map_or_else(list, |meant| format!("did you mean `{meant}`?"));
    problem!(AT, "the name of a measure", "`{text}`", hint).into()
}

fn list() -> String {
    let examples = CATALOGUE.iter().map(|spec| format!("`{}`", spec.example));
    format!("measures are {}", examples.collect::<Vec<_>>().join(", "))
}

/// The measure that was meant, if the name is one of its names but for capitals, punctuation and the
/// place of the cut-off: `nDCG_5` and `ndcg5` are `nDCG@5`. A name that is merely similar may be another
/// measure, as `ERR@20` and `RR@20` are, and with parameters the meaning is not certain.
fn meant(text: &str) -> Option<String> {
    let name = text.split('@').next().unwrap_or_default();
    let base = letters(name.trim_end_matches(|c: char| c.is_ascii_digit()));
    let is_named = |spec: &&MeasureSpec| spec.names().any(|known| letters(known) == base);
    let spec = CATALOGUE.iter().find(is_named).filter(|_| !text.contains('('))?;
    let cutoff = &text[text.trim_end_matches(|c: char| c.is_ascii_digit()).len()..];
    let full = format!("{}@{cutoff}", spec.name);
    let written = [full.as_str(), spec.name, spec.example];
    let of_text = if cutoff.is_empty() { &written[1..] } else { &written[..1] };
    of_text.iter().find_map(|name| Some(parse_measure(name).ok()?.name()))
}

/// A name without capitals and punctuation.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::catalogue::CutoffRule;
    use proptest::prelude::*;

    #[test]
    fn a_mistyped_measure_is_told_the_one_that_was_meant() {
        let hint = |name: &str| parse_measure(name).unwrap_err().to_problem().hint;
        // In ClariQ's spelling, it would be a measure of documents.
        assert_eq!(hint("ndcg10"), "did you mean `nDCG@10`?");
        assert_eq!(hint("n_dcg_10"), "did you mean `nDCG@10`?");
        assert_eq!(hint("hit_rate@5"), "did you mean `Success@5`?");
        assert_eq!(hint("AP(cut=5)"), "`AP` takes `rel`, `judged_only`, a cut-off");
        for similar in ["ndgc@10", "NERR@20", "INST", "SDCG@10", "map_@10(rel=2)"] {
            assert!(hint(similar).starts_with("measures are "), "{similar}");
        }
    }

    fn name(text: &str) -> String {
        parse_measure(text).unwrap_or_else(|error| panic!("{text}: {error}")).name()
    }

    #[test]
    fn three_spellings_name_one_measure() {
        let cases = [
            ("R@5", ["Recall@5", "recall_5", "recall.5", "Recall5", "r@5", "Recall_5"].as_slice()),
            (
                "P@10",
                &["Precision@10", "P_10", "P.10", "P10", " P ( rel = 1 ) @ 10 ", "P(cutoff=10)"],
            ),
            ("nDCG", &["NDCG", "ndcg", "nDCG()"]),
            ("nDCG@10", &["NDCG@10", "ndcg@10", "ndcg_cut_10", "ndcg_cut.10", "NDCG10"]),
            ("AP", &["MAP", "map", "AP(rel=1)"]),
            ("AP@5", &["MAP@5", "map_cut_5", "AP@05"]),
            ("RR", &["MRR", "mrr", "recip_rank"]),
            ("RR@100", &["MRR@100", "MRR100"]),
            ("Success@1", &["success_1", "success.1"]),
            ("RBP(p=0.8,rel=1)", &["RBP", "RBP(p=0.8)", "RBP(rel=1)", "RBP(p=.8)"]),
            ("RBP(p=0.5,rel=2)@7", &["RBP(rel=2,p=0.5)@7", "RBP(cutoff=7, rel=2, p=5e-1)"]),
            ("RBP(p=0.0,rel=1)", &["RBP(p=0)", "RBP(p=-0)"]),
            ("R(rel=3)@5", &["Recall(rel=3)@5"]),
            ("Rprec", &["RPrec", "rprec"]),
            ("Bpref", &["BPref", "bpref"]),
            ("SetF", &["set_F", "SetF(beta=1)"]),
            ("nDCG(dcg='exp-log2')@10", &["ndcg(dcg=\"exp-log2\")@10"]),
            ("AP(rel=2,judged_only=True)@5", &["MAP(judged_only=True,rel=2)@5"]),
            ("nDCG(gains={1:3,2:7})@5", &["ndcg(gains={2: 7, 0:0, 1 :3}, cutoff=5)"]),
            ("nDCG(gains={-1:0})", &["nDCG(dcg='log2',gains={-1:0,3:3})"]),
            ("nDCG@3", &["nDCG(gains={1:1})@3"]),
        ];
        for (canonical, others) in cases {
            assert_eq!(name(canonical), canonical);
            for other in others {
                assert_eq!(name(other), canonical, "{other}");
            }
        }
    }

    #[test]
    fn only_names_of_the_clariq_scorer_mean_its_documents() {
        let documents = |text: &str| parse_measure(text).unwrap().clariq_documents();
        for name in ["MRR100", "P1", "NDCG3", "NDCG20"] {
            assert_eq!(documents(name).as_deref(), Some(name));
        }
        for name in
            ["RR@100", "MRR@100", "recip_rank", "P_1", "P.1", "P@1", "ndcg_cut_3", "Recall5"]
        {
            assert_eq!(documents(name), None, "{name}");
        }
        let both = parse_measures("MRR100,RR@100,MRR100,Recall5,R@5").unwrap();
        assert_eq!(both.iter().map(Measure::name).collect::<Vec<_>>(), ["RR@100", "RR@100", "R@5"]);
    }

    #[test]
    fn every_example_of_the_catalogue_is_its_own_name() {
        for spec in CATALOGUE {
            assert_eq!(name(spec.example), spec.example);
            assert!(spec.example.starts_with(spec.name));
        }
    }

    #[test]
    fn faults_of_a_measure_are_distinguished() {
        let error = |text: &str| parse_measure(text).unwrap_err().to_problem().expected;
        for text in [
            "",
            "@5",
            "R@5(rel=1)",
            "R(rel=1",
            "R(rel)@5",
            "R(rel=1,rel=2)@5",
            "R(cutoff=3)@5",
            "R 5",
            "R(=1)@5",
        ] {
            assert_eq!(error(text), "`NAME(parameter=value)@cut-off`", "{text}");
        }
        for text in
            ["recal", "recall_", "recall_x", "recall_5_6", "recall_5@3", "MRRx", "AP5", "ndcg10"]
        {
            assert_eq!(error(text), "the name of a measure", "{text}");
        }
        for text in ["R", "P(rel=2)", "Success"] {
            assert_eq!(error(text), "a cut-off", "{text}");
        }
        for text in [
            "R@0",
            "R@-5",
            "R@+5",
            "R@5.0",
            "R@",
            "R@99999999999999999999",
            "Recall0",
            "recall_0",
            "P@٣",
        ] {
            assert!(error(text).ends_with(" as cut-off"), "{text}");
        }
        for text in ["P(rel=0)@5", "P(rel=-1)@5", "P(rel=x)@5", "P(rel=3000000000)@5", "P(rel=)@5"]
        {
            assert!(error(text).ends_with(" as rel"), "{text}");
        }
        for text in
            ["nDCG(gains={})", "nDCG(gains={1:3,1:4})", "nDCG(gains={1:0.5})", "nDCG(gains=1:3)"]
        {
            assert!(error(text).ends_with(" as gains"), "{text}");
        }
        assert_eq!(error("nDCG(gains={1:3},dcg='exp-log2')"), "dcg='exp-log2' or gains");
        for text in ["RBP(p=1)", "RBP(p=-0.1)", "RBP(p=nan)", "RBP(p=inf)", "RBP(p=)"] {
            assert!(error(text).ends_with(" as p"), "{text}");
        }
        for text in ["R(p=0.5)@5", "nDCG(rel=2)", "Bpref(judged_only=True)", "Bpref@5"] {
            assert!(error(text).starts_with("a parameter of "), "{text}");
        }
    }

    #[test]
    fn lists_are_split_outside_brackets_and_repeats_dropped() {
        let names = |text: &str| {
            parse_measures(text).map(|all| all.iter().map(Measure::name).collect::<Vec<_>>())
        };
        let some = names("R@5,Recall5  RBP(p=0.5, rel=2)@3,\nmap").unwrap();
        assert_eq!(some, ["R@5", "RBP(p=0.5,rel=2)@3", "AP"]);
        assert!(names(" , ").unwrap().is_empty());
        assert!(names("R@5,10").is_err());
    }

    proptest! {
        #[test]
        fn names_round_trip(
            spec in prop::sample::select(CATALOGUE.to_vec()),
            cutoff in 1..2000_usize,
            rel in 1..9,
            p in 0.0..1.0_f64,
        ) {
            let mut given = Vec::new();
            for parameter in spec.parameters {
                given.push(match parameter.name {
                    "rel" => format!("rel={rel}"),
                    "judged_only" => "judged_only=True".to_owned(),
                    "dcg" => "dcg=log2".to_owned(),
                    "gains" => format!("gains={{{rel}:3,0:{rel}}}"),
                    number => format!("{number}={p}"),
                });
            }
            let cutoff = if spec.cutoff == CutoffRule::Never { String::new() } else { format!("@{cutoff}") };
            let measure = parse_measure(&format!("{}({}){cutoff}", spec.name, given.join(","))).unwrap();
            let again = parse_measure(&measure.name()).unwrap();
            prop_assert_eq!(format!("{measure:?}"), format!("{again:?}"));
            prop_assert_eq!(measure.name(), again.name());
        }

        #[test]
        fn no_text_panics(text in r"(R|P|nDCG|RBP|recall_|MRR|é)?[()@=,.\-0-9 a-zé_]{0,12}") {
            let _ = parse_measure(&text).map_err(|error| error.to_string());
            let _ = parse_measures(&text);
        }
    }

    #[test]
    fn only_another_spelling_of_a_measure_is_meant() {
        let cases = [
            ("ndcg@10", "nDCG@10"),
            ("nDCG_5", "nDCG@5"),
            ("n.dcg", "nDCG"),
            ("recall@20", "R@20"),
            ("R10", "R@10"),
            ("precision@5", "P@5"),
            ("mrr", "RR"),
            ("rbp", "RBP(p=0.8,rel=1)"),
            ("Recall", "R@30"),
            ("r_prec", "Rprec"),
            ("SET_F", "SetF"),
        ];
        for (written, measure) in cases {
            assert_eq!(meant(written).as_deref(), Some(measure), "{written}");
        }
        for written in
            ["hits@5", "x", "", "10", "Ω", "R@0", "Sucess@3", "F1", "NERR8", "rbp(p=2)", "bpref@5"]
        {
            assert_eq!(meant(written), None, "{written}");
        }
    }
}
