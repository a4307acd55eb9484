//! Arguments that more than one subcommand takes, and parsers of their values.

use crate::output::Format;
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};
use clariq_core::{Precision, Problem, Result, bail, multiplies_bf16, problem};
use clariq_eval::{Measure, parse_measures};
use clariq_files::Source;
use clariq_index::{Analyzer, Variant};
use clariq_rank::{Override, Uses};
use clariq_systems::{Rewrites, parse_assignment};
use clariq_tracks::TRACKS;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Refuses the first flag that is given: none of them applies to `what`.
pub(crate) fn refuse_given(flags: &[(&str, bool)], what: &str) -> Result<(), Problem> {
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(does_not_apply(flag, what)),
        None => Ok(()),
    }
}

fn does_not_apply(flag: &str, what: &str) -> Problem {
    let hint = format!("leave {flag} out: it does not apply to {what}");
    problem!(flag, (format!("no {flag} with {what}")), (what.to_owned()), (hint))
}

/// Options that apply together, such as those of a track, and the first of them that was given.
pub(crate) struct OptionFamily<T> {
    pub(crate) options: T,
    given: Option<String>,
}

impl<T> OptionFamily<T> {
    pub(crate) fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// Refuses the options: none of them applies to `what`.
    pub(crate) fn refuse(&self, what: &str) -> Result<(), Problem> {
        self.given.as_deref().map_or(Ok(()), |flag| Err(does_not_apply(flag, what)))
    }
}

impl<T: Args> Args for OptionFamily<T> {
    fn group_id() -> Option<Id> {
        T::group_id()
    }

    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: Args> FromArgMatches for OptionFamily<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let options = T::from_arg_matches(matches)?;
        let given = T::group_id()
            .and_then(|group| matches.get_many::<Id>(group.as_str())?.next())
            .map(|id| format!("--{}", id.as_str().replace('_', "-")));
        Ok(Self { options, given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The measures of all uses of a flag, each measure once.
pub(crate) fn named_measures(names: &[String]) -> Result<Vec<Measure>> {
    let mut all = Vec::new();
    for text in names {
        let measures = parse_measures(text)?;
        if measures.is_empty() {
            bail!("-m", "the name of a measure", "`{text}`", "for example -m nDCG@10");
        }
        for measure in measures {
            if !all.contains(&measure) {
                all.push(measure);
            }
        }
    }
    Ok(all)
}

/// Flags that every subcommand has. `clariq help options` alone describes them.
#[derive(Args, Clone)]
#[command(next_help_heading = "Common options")]
pub(crate) struct CommonArguments {
    /// Folder of the collection [default: the variable `CLARIQ_DATA`, else data/clariq if present, else
    /// the built-in sample]; `run`, `eval`, `compare` and `report` take several, or a folder of
    /// folders
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "CLARIQ_DATA",
        hide_env = true,
        aliases = ["data_dir", "data-dir", "dataset", "corpus"]
    )]
    pub(crate) data: Vec<PathBuf>,
    /// Number of threads. It never changes results; training always uses two [default: one per
    /// core]
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Random seed for cross-validation, bootstraps and permutation tests. Recipes have their own
    #[arg(long, global = true, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Device for learned models: cpu, or cuda:0 with a CUDA build of libtorch
    #[arg(long, global = true, value_name = "DEVICE", default_value = "cpu")]
    pub(crate) device: String,
    /// Precision of learned models. `bf16` is faster on processors that support it, and less
    /// precise. `auto` picks `bf16` there, `f32` elsewhere
    #[arg(long, global = true, value_parser = one_of(PRECISIONS),
          default_value = "f32")]
    pub(crate) precision: PrecisionArgument,
    /// Output format [default: table]. Cells of csv and tsv are as they are, for programs: a spreadsheet
    /// may take one that begins with `=`, `+`, `-` or `@` for a formula; import them there as text
    #[arg(long, global = true, value_enum)]
    pub(crate) format: Option<Format>,
    /// Print more messages to standard error
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print only errors to standard error
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Do not show progress
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
}

/// The value of `--precision`; `None` for `auto`.
type PrecisionArgument = Option<Precision>;

const PRECISIONS: NamedValues<PrecisionArgument> = &[
    ("f32", Some(Precision::F32), "32-bit floats"),
    ("bf16", Some(Precision::Bf16), "16-bit floats with 8 bits of mantissa"),
    ("auto", None, "The faster one on this processor"),
];

/// The faster precision on this device. Recall on dev differs by at most .0017 between the two
/// (docs/benchmarks.md), as measured on CPUs; other devices use f32.
pub(crate) fn faster_precision(device: &str) -> Precision {
    if device == "cpu" && multiplies_bf16() { Precision::Bf16 } else { Precision::F32 }
}

/// Reads the name of a folder. `-`, which is standard input or output elsewhere, is refused.
pub(crate) fn folder() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|name| {
        if name == "-" {
            Err("expected a folder, which `-` is not")
        } else {
            Ok(PathBuf::from(name))
        }
    })
}

/// The folder and the options of indexes.
#[derive(Args, Clone)]
pub(crate) struct IndexPlace {
    /// Folder of the index [default: in the user's cache, one per bank and analyser]
    #[arg(long, value_name = "DIR", value_parser = folder())]
    pub(crate) index: Option<PathBuf>,
    /// Memory for building the index, such as 64M or 1G
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = parse_size)]
    pub(crate) memory: usize,
}

/// Labels in place of those of a split.
#[derive(Args, Clone, Default)]
pub(crate) struct QrelsArguments {
    /// TREC qrels to use instead of the labels of --split
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    pub(crate) qrels: Option<PathBuf>,
    /// Texts of the requests in --qrels: JSON lines, or id and text separated by a tab
    #[arg(long, value_name = "FILE", requires = "qrels")]
    pub(crate) requests: Option<PathBuf>,
}

/// The splits of all collections, for help texts. Documents of the user's own may have any.
pub(crate) fn splits() -> String {
    let kinds = TRACKS.kinds().iter().map(|kind| match kind.splits.len() {
        0..=MOST_SPLITS => format!("{}: {}", kind.name, kind.split_names().join(", ")),
        _ => format!("{}: any of these", kind.name),
    });
    kinds.collect::<Vec<_>>().join("; ")
}

/// The maximum number of splits of a collection that the help lists.
const MOST_SPLITS: usize = 5;

/// The help of a `--split` whose labels are used.
pub(crate) fn labelled_split() -> String {
    format!(
        "Split whose labels are used [{}] [default: the one in the run's record, or dev]",
        splits()
    )
}

/// Runs that are compared, and the labels for them.
#[derive(Args, Clone)]
pub(crate) struct RunArguments {
    /// TREC runs or iKAT submissions. The first is the baseline unless --baseline names another
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Run to compare the others with
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<PathBuf>,
    #[arg(long, value_name = "SPLIT", help = labelled_split())]
    pub(crate) split: Option<String>,
    #[command(flatten)]
    pub(crate) judged: QrelsArguments,
}

/// Utterances that were rewritten elsewhere.
#[derive(Args, Clone, Default)]
pub(crate) struct RewriteArguments {
    /// Rewritten utterances to use in place of the originals: JSON lines, or id and text separated
    /// by a tab (iKAT ids look like 9-1_3)
    #[arg(long, value_name = "FILE", requires = "rewritten_by")]
    pub(crate) rewrites: Option<PathBuf>,
    /// Author of --rewrites. Rewrites by people make an iKAT run a manual one
    #[arg(long, value_name = "WHO", requires = "rewrites", value_parser = one_of(WRITERS))]
    pub(crate) rewritten_by: Option<Uses>,
}

impl RewriteArguments {
    pub(crate) fn read(&self) -> Result<Option<Arc<Rewrites>>> {
        let Some((file, by)) = self.rewrites.as_ref().zip(self.rewritten_by) else {
            return Ok(None);
        };
        Ok(Some(Arc::new(Rewrites::read(&Source::new(file), by)?)))
    }
}

const WRITERS: NamedValues<Uses> =
    &[("model", Uses::RewritesByModel, ""), ("people", Uses::RewritesByPeople, "")];

/// Parameters that override those of a configuration.
#[derive(Args, Clone, Default)]
pub(crate) struct ParameterArguments {
    /// Term saturation of the stage `bm25`, at least 0
    #[arg(long, value_name = "X")]
    pub(crate) k1: Option<f64>,
    /// Length normalisation of the stage `bm25`, from 0 to 1
    #[arg(long, value_name = "X")]
    pub(crate) b: Option<f64>,
    /// Formula of the stage `bm25`
    #[arg(long, value_parser = one_of(VARIANTS))]
    pub(crate) variant: Option<Variant>,
    /// Override a parameter of a stage, or of `answer`, `ask` or `need`, as stage.key=value, or of a
    /// model behind a server, as models.NAME.key=value; can be repeated
    #[arg(long = "set", value_name = "STAGE.KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

impl ParameterArguments {
    pub(crate) fn overrides(&self) -> Result<Vec<Override>> {
        let bm25 = |key: &str, value: String| Override {
            stage: "bm25".to_owned(),
            key: key.to_owned(),
            value,
        };
        let mut overrides = Vec::new();
        overrides.extend(self.k1.map(|k1| bm25("k1", as_toml(k1))));
        overrides.extend(self.b.map(|b| bm25("b", as_toml(b))));
        let name = self.variant.and_then(|variant| serde_json::to_string(&variant).ok());
        overrides.extend(name.map(|name| bm25("variant", name)));
        for text in &self.set {
            overrides.push(parse_assignment(text, "--set")?);
        }
        let mut keys = HashSet::new();
        let mut all = overrides.iter();
        if let Some(again) = all.find(|given| !keys.insert((&given.stage, &given.key))) {
            let Override { stage, key, value } = again;
            let found = format!("another beside `{value}`");
            bail!("--set", "one value of `{stage}.{key}`", found, "leave one of them out");
        }
        Ok(overrides)
    }
}

/// TOML writes `nan` in lower case.
fn as_toml(number: f64) -> String {
    format!("{number:?}").to_lowercase()
}

/// Names of values, with the value and its help. Most values are of types of other crates, which do not
/// know clap, so that they cannot be its `ValueEnum`s.
pub(crate) type NamedValues<T> = &'static [(&'static str, T, &'static str)];

/// Parses a value by its name; lists the names with their help.
pub(crate) fn one_of<T>(names: NamedValues<T>) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let shown = names
        .iter()
        .map(|&(name, _, help)| PossibleValue::new(name).help((!help.is_empty()).then_some(help)));
    PossibleValuesParser::new(shown).try_map(|text| {
        names.iter().find(|(name, ..)| *name == text).map(|named| named.1).ok_or("no such name")
    })
}

/// The names of analysers.
pub(crate) fn analyzer() -> impl TypedValueParser<Value = Analyzer> {
    PossibleValuesParser::new(Analyzer::all().map(Analyzer::name)).try_map(|text| {
        Analyzer::all().into_iter().find(|analyzer| analyzer.name() == text).ok_or("no such name")
    })
}

const VARIANTS: NamedValues<Variant> = &[
    ("okapi", Variant::Okapi, ""),
    ("lucene", Variant::Lucene, ""),
    ("lucene-default", Variant::LuceneDefault, ""),
    ("bm25plus", Variant::Plus, ""),
    ("bm25l", Variant::L, ""),
    ("ql", Variant::Ql, ""),
];

/// A run tag, as in `TEAM/MODEL`: a field of a line.
pub(crate) fn parse_tag(text: &str) -> Result<String, &'static str> {
    if text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("expected a tag without blanks, such as TEAM/MODEL");
    }
    Ok(text.to_owned())
}

/// `64M`, `1G`, `500000K` or plain bytes; decimal units.
fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((end, 'K' | 'k')) => (&text[..end], 1_000),
        Some((end, 'M' | 'm')) => (&text[..end], 1_000_000),
        Some((end, 'G' | 'g')) => (&text[..end], 1_000_000_000),
        _ => (text, 1),
    };
    let size = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    size.filter(|&size| size > 0).ok_or_else(|| "expected a size such as 64M or 1G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_with_or_without_a_unit() {
        assert_eq!(parse_size("64M"), Ok(64_000_000));
        assert_eq!(parse_size("123"), Ok(123));
        for bad in ["", "M", "0", "-1", "1T", "99999999999999999999G"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_parameter_has_one_value() {
        let given = |k1, set: &[&str]| ParameterArguments {
            k1,
            set: set.iter().map(|&text| text.to_owned()).collect(),
            ..ParameterArguments::default()
        };
        for twice in [given(Some(0.3), &["bm25.k1=2"]), given(None, &["bm25.k1=2", "bm25.k1=2"])] {
            let problem = twice.overrides().unwrap_err().to_problem();
            assert_eq!(problem.expected, "one value of `bm25.k1`");
        }
        let different = given(Some(0.3), &["bm25.b=1", "passages.bm25.k1=2"]);
        assert_eq!(different.overrides().unwrap().len(), 3);
    }

    #[test]
    fn auto_precision_is_bf16_on_processors_that_support_it() {
        assert_eq!(faster_precision("cpu") == Precision::Bf16, multiplies_bf16());
        assert_eq!(faster_precision("cuda:0"), Precision::F32);
    }
}
