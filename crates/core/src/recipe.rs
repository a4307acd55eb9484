//! Training recipes: the parameters of `configs/models/*.toml`.

mod objective;

use crate::id::Name;
use crate::model::ModelKind;
use crate::model_options::Precision;
use crate::problem::{Location, Problem, Result};
use crate::split_role::TrainOn;
use crate::{bail, meant, number, problem};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

pub use objective::{ExampleForm, Objective};

/// A model that is trained, and everything that its weights depend on beside the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The name by which stages ask for the model.
    pub name: Name,
    /// A sentence for listings and model cards.
    #[serde(default)]
    pub description: String,
    /// The model that training begins with: a name, or a folder.
    pub base: String,
    /// The objective of the training, see below.
    pub objective: Objective,
    /// Passes over the examples; fractions are allowed.
    pub epochs: f64,
    /// The highest learning rate of the schedule.
    pub learning_rate: f64,
    /// The share of all steps in which the learning rate rises from 0.
    #[serde(default)]
    pub warm_up: f64,
    /// The learning rate after warm-up: `constant`, or `linear`, which falls to 0 at the last step.
    #[serde(default)]
    pub schedule: Schedule,
    /// Decoupled weight decay (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR
    /// 2019), not applied to biases and normalisation. 0 makes AdamW Adam.
    #[serde(default)]
    pub weight_decay: f64,
    /// The norm that the gradient of a step is cut down to; 0 for any.
    #[serde(default = "number::<1, _>")]
    pub clip: f64,
    /// Dropout in place of that of the base's configuration.
    pub dropout: Option<f64>,
    /// The longest text in tokens; longer texts are cut.
    #[serde(default = "number::<50, _>")]
    pub max_tokens: usize,
    /// `true`: `max_tokens` grows until a cross-encoder reads 19 of 20 documents whole, as far as its base reads; the
    /// card has the number.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lengthen: bool,
    /// Texts or pairs of a step that pass through the network together, by default all: fewer need
    /// less memory. The gradient is that of the whole step, and dropout is drawn anew.
    #[serde(default, skip_serializing_if = "is_default")]
    pub group: Option<usize>,
    /// The numbers that matrix products of the training take, `f32` or `bf16`; all else is 32-bit floats.
    #[serde(default, skip_serializing_if = "is_default")]
    pub precision: Precision,
    /// The splits whose labels it is trained on, `["train"]` by default; with `["train", "dev"]`, the model that answers
    /// test is also trained on dev, as the challenge allows, and the system declares `dev-labels`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub train_on: TrainOn,
    /// Everything random follows from it.
    #[serde(default = "number::<42, _>")]
    pub seed: u64,
    /// The share of the training topics that is held out, for the curve and for stopping early.
    #[serde(default)]
    pub held_out: f64,
    /// The system whose first documents a cross-encoder reorders for held-out topics, by default that
    /// of the collection.
    #[serde(default, skip_serializing_if = "is_default")]
    pub first_stage: Option<String>,
    /// The number of the held-out share, from 0, among the disjoint shares of that size.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fold: usize,
    /// Evaluations on held-out topics without a better one after which training stops; 0 for never.
    #[serde(default)]
    pub patience: usize,
    /// Steps between two evaluations, if topics are held out.
    #[serde(default = "number::<20, _>")]
    pub evaluate_every: usize,
    /// Steps between two checkpoints, from which `--resume` continues.
    #[serde(default = "number::<50, _>")]
    pub checkpoint_every: usize,
}

/// The learning rate after warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// Constant.
    #[default]
    Constant,
    /// Falls linearly to 0 at the last step.
    Linear,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// More epochs than any training has.
const MOST_EPOCHS: f64 = 10_000.0;
/// The largest number below 1.
const BELOW_1: f64 = 1.0 - f64::EPSILON / 2.0;

const KEYS: &str = "the documentation lists the keys of a recipe (reference, Models)";

/// The hint about a message of serde: the key or value that was meant, if it is known.
fn key_hint(message: &str) -> String {
    match meant(message) {
        // The message lists the keys of its table, and `objective` is a key of the outer one.
        Some(known) if message.starts_with("unknown field") && !message.contains("`objective`") => {
            format!("did you mean `objective.{known}`?")
        }
        Some(known) => format!("did you mean `{known}`?"),
        None => KEYS.to_owned(),
    }
}

impl Recipe {
    /// Parses a recipe; `file` is for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let recipe: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count() as u64);
            let at = Location { file: file.to_owned(), line };
            let message = error.message();
            let parts =
                message.strip_prefix("expected ").and_then(|rest| rest.split_once(", found "));
            if let Some((expected, found)) = parts {
                return problem!(at, expected, found, KEYS);
            }
            if message.starts_with("invalid ") {
                return Problem::of_serde(at, message, "a training recipe").hint(KEYS);
            }
            problem!(at, "a training recipe", message, (key_hint(message)))
        })?;
        recipe.check(file)?;
        Ok(recipe)
    }

    /// A copy with other parameters, each given as `key=value` or `objective.key=value`. A value is
    /// TOML; text that is not TOML is taken as a string.
    pub fn with(&self, assignments: &[impl AsRef<str>]) -> Result<Self> {
        let expected = "key=value with a key of a recipe, for example seed=7";
        let refused =
            |found: &str| -> Problem { problem!("--set", expected, found, (key_hint(found))) };
        let mut all = Table::try_from(self).map_err(|error| refused(&error.to_string()))?;
        for text in assignments.iter().map(AsRef::as_ref) {
            let wrong = || refused(&format!("`{text}`"));
            let (key, value) = text.split_once('=').ok_or_else(wrong)?;
            let (table, key) = match key.split_once('.') {
                None => (Some(&mut all), key),
                Some(("objective", key)) => {
                    (all.get_mut("objective").and_then(Value::as_table_mut), key)
                }
                Some(_) => (None, key),
            };
            let parsed = toml::from_str(&format!("value = {value}"));
            let parsed = parsed.ok().and_then(|mut read: Table| read.remove("value"));
            let value = parsed.unwrap_or_else(|| Value::String(value.to_owned()));
            table.ok_or_else(wrong)?.insert(key.to_owned(), value);
        }
        let recipe: Self = all.try_into().map_err(|error| refused(error.message().trim()))?;
        recipe.check("--set")?;
        Ok(recipe)
    }

    /// Refuses values that no training can use, by key.
    fn check(&self, file: &str) -> Result<()> {
        let any = f64::MIN_POSITIVE..=f64::MAX;
        let mut ranges = vec![
            ("epochs", self.epochs, f64::MIN_POSITIVE..=MOST_EPOCHS),
            ("learning_rate", self.learning_rate, any),
            ("warm_up", self.warm_up, 0.0..=1.0),
            ("weight_decay", self.weight_decay, 0.0..=f64::MAX),
            ("clip", self.clip, 0.0..=f64::MAX),
            ("dropout", self.dropout.unwrap_or(0.0), 0.0..=BELOW_1),
            ("held_out", self.held_out, 0.0..=BELOW_1),
        ];
        ranges.extend(self.objective.ranges());
        let form = self.objective.form();
        if let ExampleForm::Texts { weights, .. } = form
            && weights.iter().sum::<f64>() == 0.0
        {
            let expected = "request_to_question or another weight above 0";
            bail!(file, expected, "0 for all of them", KEYS);
        }
        for (key, value, range) in ranges {
            if !range.contains(&value) {
                let least = match *range.start() {
                    0.0 => "at least 0",
                    _ => "above 0",
                };
                let most = match *range.end() {
                    f64::MAX => String::new(),
                    BELOW_1 => " and below 1".to_owned(),
                    most => format!(", at most {most}"),
                };
                bail!(file, "{key} {least}{most}", "{value}", KEYS);
            }
        }
        let (batch, negatives) = self.objective.sizes();
        let (least_batch, least_group) = match form {
            // A softmax over the questions of one row is 1, whatever the model says.
            ExampleForm::Texts { .. } => (2, 1),
            ExampleForm::Pairs { .. } => (1, 1),
            ExampleForm::Lists { .. } => (1, negatives.saturating_add(1)),
        };
        for (key, value, least) in [
            ("batch", batch, least_batch),
            ("negatives", negatives, 1),
            ("group", self.group.unwrap_or(usize::MAX), least_group),
            ("max_tokens", self.max_tokens, 8),
            ("evaluate_every", self.evaluate_every, 1),
            ("checkpoint_every", self.checkpoint_every, 1),
        ] {
            if value < least {
                bail!(file, "{key} of at least {least}", "{value}", KEYS);
            }
        }
        let held_out_to_fold = (self.fold + 1) as f64 * self.held_out;
        if self.fold > 0 && !(self.held_out > 0.0 && held_out_to_fold <= 1.0 + 1e-9) {
            bail!(file, "a fold below 1 / held_out", (self.fold.to_string()), KEYS);
        }
        if self.lengthen && self.objective.kind() != ModelKind::CrossEncoder {
            let found = "one that reads documents alone";
            bail!(file, "a cross-encoder where lengthen is true", found, KEYS);
        }
        if self.patience > 0 && self.held_out == 0.0 {
            bail!(file, "held_out above 0 where patience is set", "0", KEYS);
        }
        Ok(())
    }

    /// Reads pairs of at least so many tokens, in smaller groups for the same memory.
    pub fn read_at_least(&mut self, tokens: usize) {
        if tokens <= self.max_tokens {
            return;
        }
        let (batch, negatives) = self.objective.sizes();
        // Numbers of a recipe may be as large as can be written.
        let list = negatives.saturating_add(1);
        let group = self.group.unwrap_or(batch.saturating_mul(list));
        self.group = Some((group.saturating_mul(self.max_tokens) / tokens).max(list));
        self.max_tokens = tokens;
    }

    /// The system that names negatives, and how many of its questions are wanted for each request.
    pub fn negatives(&self) -> Option<(&str, usize)> {
        self.objective.negatives()
    }

    /// The factors of the FLOPS of requests and questions at a step, counted from 0, of `steps`.
    pub fn flops(&self, step: usize, steps: usize) -> [f64; 2] {
        self.objective.flops(step, steps)
    }

    /// The learning rate of a step, counted from 0, of `steps`.
    #[expect(clippy::cast_sign_loss, reason = "the share of warm-up is checked to be at least 0")]
    pub fn rate(&self, step: usize, steps: usize) -> f64 {
        let warm = ((self.warm_up * steps as f64) as usize).max(usize::from(self.warm_up > 0.0));
        if step < warm {
            return self.learning_rate * (step + 1) as f64 / warm as f64;
        }
        match self.schedule {
            Schedule::Constant => self.learning_rate,
            Schedule::Linear => {
                self.learning_rate * (steps - step) as f64 / (steps - warm).max(1) as f64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_would_leave_the_cache_is_refused_with_its_line() {
        let recipe = |name: &str| {
            format!(
                "description = \"x\"\nname = \"{name}\"\nbase = \"b\"\nepochs = 1.0\nlearning_rate = 0.1\n\
                 [objective]\nkind = \"in-batch-softmax\"\nbatch = 2\n"
            )
        };
        assert_eq!(&*Recipe::parse("x.toml", &recipe("own-encoder")).unwrap().name, "own-encoder");
        for name in ["../../../X", "a/b", "/tmp/x", ".."] {
            let error = Recipe::parse("x.toml", &recipe(name)).unwrap_err().to_string();
            assert!(error.starts_with("x.toml:2: "), "{error}");
            assert!(error.contains("expected a name of at most 100 letters"), "{error}");
        }
    }

    #[test]
    fn values_of_another_type_are_refused_in_plain_words() {
        let text = "name = \"r\"\nbase = \"b\"\nepochs = 1.0\nlearning_rate = 0.1\nmax_tokens = 50\n\
                    [objective]\nkind = \"in-batch-softmax\"\nbatch = 2\n";
        for (from, to, says) in [
            ("0.1", "\"1e-5\"", "r.toml:4: expected a number, found string \"1e-5\""),
            ("50", "-5", "r.toml:5: expected a whole number of at least 0, found integer `-5`"),
        ] {
            let error = Recipe::parse("r.toml", &text.replace(from, to)).unwrap_err().to_string();
            assert_eq!(error, says);
        }
    }

    #[test]
    fn parameters_are_replaced_and_wrong_ones_refused() {
        let text = "name = \"r\"\nbase = \"b\"\nepochs = 1.0\nlearning_rate = 0.1\n\
                    [objective]\nkind = \"in-batch-softmax\"\nbatch = 2\n";
        let recipe = Recipe::parse("r.toml", text).unwrap();
        assert_eq!(recipe.with(&[] as &[&str]).unwrap(), recipe);
        let other = ["learning_rate=2e-5", "objective.scale=10.0", "held_out=0.2", "fold=4"];
        let other = recipe.with(&other).unwrap();
        assert_eq!((other.learning_rate, other.held_out, other.fold), (2e-5, 0.2, 4));
        assert!(
            matches!(other.objective.form(), ExampleForm::Texts { scale, .. } if scale == 10.0)
        );
        assert_eq!(recipe.with(&["base=some/folder"]).unwrap().base, "some/folder");
        for (wrong, says) in [
            ("seed", "`seed`"),
            ("stage.seed=1", "`stage.seed=1`"),
            ("sed=1", "unknown field `sed`"),
            ("objective.negatives=3", "unknown field `negatives`"),
            ("epochs=0", "epochs above 0"),
            ("epochs=1e300", "epochs above 0, at most 10000, found 1000"),
            ("learning_rate=inf", "learning_rate above 0, found inf"),
            ("held_out=1", "held_out at least 0 and below 1"),
            ("objective.scale=0", "scale above 0, found 0"),
            ("objective.scale=-5", "scale above 0, found -5"),
            ("objective.question_to_question=nan", "question_to_question at least 0, found NaN"),
            ("objective.request_to_question=0", "request_to_question or another weight above 0"),
            ("fold=1", "a fold below 1 / held_out"),
            ("group=0", "group of at least 1, found 0"),
            ("objective.batch=1", "batch of at least 2, found 1"),
            ("lengthen=true", "a cross-encoder where lengthen is true"),
        ] {
            let error = recipe.with(&[wrong]).unwrap_err().to_string();
            assert!(error.starts_with("--set") && error.contains(says), "{wrong}: {error}");
        }
        for (mistyped, known) in [
            ("epoch=3", "epochs"),
            ("schedule=\"lineer\"", "linear"),
            ("objective.bacth=3", "objective.batch"),
        ] {
            let problem = recipe.with(&[mistyped]).unwrap_err().to_problem();
            assert_eq!(problem.hint, format!("did you mean `{known}`?"));
        }
        let listwise = text.replace(
            "\"in-batch-softmax\"",
            "\"listwise\"\nnegatives = 7\nsystem = \"dense\"\ndepth = 10",
        );
        let listwise = Recipe::parse("r.toml", &listwise).unwrap();
        assert!(listwise.with(&["group=8"]).is_ok());
        let error = listwise.with(&["group=7"]).unwrap_err().to_string();
        assert!(error.contains("group of at least 8, found 7"), "a list is never cut: {error}");
        let mut long = listwise.with(&["max_tokens=64", "objective.batch=8"]).unwrap();
        long.read_at_least(50);
        assert_eq!((long.max_tokens, long.group), (64, None));
        long.read_at_least(256);
        assert_eq!((long.max_tokens, long.group), (256, Some(16)));
        long.read_at_least(512);
        assert_eq!((long.max_tokens, long.group), (512, Some(8)), "a list is never cut");
        let mut huge = long.with(&["objective.batch=9223372036854775807"]).unwrap();
        huge.group = None;
        huge.read_at_least(1024);
        assert_eq!(huge.group, Some(usize::MAX / 1024));
        let folds = |fold: &str| recipe.with(&["held_out=0.3333333333333333", fold]);
        assert!(folds("fold=2").is_ok() && folds("fold=3").is_err());
    }
}
