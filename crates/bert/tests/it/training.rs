//! Training learns, resumes to the same bytes, and leaves a folder that can be used.

use crate::families::{families, folder as family_folder};
use crate::model_files::tiny;
use clariq_bert::train::{Curve, train as run_training};
use clariq_bert::{BertEncoder, CrossEncoder};
use clariq_core::{
    Encoder, JudgedQuestions, ModelKind, ModelOptions, PairScorer, Precision, Recipe, Result,
    TopicEvaluation, Training, TrainingEvent,
};
use clariq_folder::ModelFolder;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const OBJECTIVES: [&str; 4] = [
    "kind = \"in-batch-softmax\"\nbatch = 6\nper_request = 2\nquestion_to_request = 1.0\nquestion_to_question = 0.5",
    "kind = \"cross-entropy\"\nbatch = 6\nnegatives = 4\nsystem = \"bm25\"",
    "kind = \"listwise\"\nbatch = 3\nnegatives = 3\nsystem = \"bm25\"\ndepth = 4",
    "kind = \"late-softmax\"\nbatch = 6\nper_request = 2\nquestion_to_request = 1.0\nquestion_to_question = 0.5",
];

/// The others differ from these in no layer.
const ENCODER_AND_CROSS_ENCODER: [&str; 2] = [OBJECTIVES[0], OBJECTIVES[1]];

pub(crate) fn recipe(objective: &str, epochs: f64) -> Recipe {
    let text = format!(
        "name = \"m\"\nbase = \"tiny\"\nepochs = {epochs}\nlearning_rate = 5e-3\nwarm_up = 0.1\nschedule = \"linear\"\n\
         weight_decay = 0.01\nheld_out = 0.3\nevaluate_every = 2\ncheckpoint_every = 2\n[objective]\n{objective}"
    );
    Recipe::parse("m.toml", &text).unwrap()
}

/// libtorch draws dropout from one generator per process: trainings side by side would disturb each
/// other.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock()
}

/// Topics whose questions share a word with their request.
fn judged() -> JudgedQuestions {
    let words = ["tent", "bees", "wind", "honey", "car", "animal", "system", "buying"];
    let mut judged =
        JudgedQuestions { questions: vec![String::new()], ..JudgedQuestions::default() };
    for (topic, word) in words.iter().enumerate() {
        judged.topics.push(topic.to_string());
        judged.requests.push(format!("tell me about {word}"));
        let first = judged.questions.len() as u32;
        judged.questions.extend([
            format!("do you need {word}"),
            format!("which {word} do you mean"),
            format!("is it the {word}"),
        ]);
        judged.relevant.push(vec![first, first + 1, first + 2]);
    }
    let all = judged.questions.len() as u32;
    judged.candidates = judged
        .relevant
        .iter()
        .map(|relevant| (1..all).filter(|question| !relevant.contains(question)).take(5).collect())
        .collect();
    // A pool has one relevant question, and the bank's empty question is relevant and found by none.
    judged.evaluation = judged
        .relevant
        .iter()
        .zip(&judged.candidates)
        .map(|(relevant, candidates)| TopicEvaluation {
            relevant: [&[0], &relevant[..]].concat(),
            pool: [&relevant[..1], &candidates[..]].concat(),
        })
        .collect();
    judged
}

pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entry = |entry: Result<fs::DirEntry, _>| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
    };
    fs::read_dir(folder).unwrap().map(entry).collect()
}

/// A training of the topics above.
pub(crate) struct TestTraining {
    base: PathBuf,
    recipe: Recipe,
    pub(crate) threads: usize,
    folder: TempDir,
}

impl TestTraining {
    pub(crate) fn new(base: &Path, recipe: Recipe) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { base: base.to_owned(), recipe, threads: 1, folder }
    }

    /// The folder of the model.
    pub(crate) fn model(&self) -> PathBuf {
        self.folder.path().join("model")
    }

    fn checkpoints(&self) -> PathBuf {
        self.folder.path().join("model.training")
    }

    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files(&self.model())
    }

    pub(crate) fn run(&self, resume: bool, tell: &mut dyn FnMut(&TrainingEvent)) -> Result<Curve> {
        let options = ModelOptions { threads: self.threads, ..ModelOptions::default() };
        let training = Training {
            recipe: &self.recipe,
            base: &self.base,
            examples: &judged(),
            data: String::new(),
            options: &options,
            resume,
        };
        run_training(&training, &self.model(), tell)
    }

    /// The losses at the beginning and at the end.
    pub(crate) fn losses(&self) -> (f64, f64) {
        self.run(false, &mut |_| {}).unwrap().loss(3).unwrap()
    }

    /// Begins, and ends at the fourth step.
    pub(crate) fn interrupt(&self) {
        let interrupted = catch_unwind(AssertUnwindSafe(|| {
            self.run(false, &mut |event| {
                assert!(!matches!(event, TrainingEvent::Step { step: 4, .. }), "interrupted here");
            })
        }));
        assert!(interrupted.is_err() && !self.model().exists());
    }

    /// Ends what was interrupted. Returns the step that it continues from.
    pub(crate) fn resume(&self) -> Option<usize> {
        let mut resumed = None;
        let tell = &mut |event: &TrainingEvent| {
            if let TrainingEvent::Resumed(step) = event {
                resumed = Some(*step);
            }
        };
        self.run(true, tell).unwrap();
        resumed
    }
}

#[test]
fn a_few_steps_lower_the_loss_and_leave_a_usable_folder() {
    let _alone = alone();
    for objective in OBJECTIVES {
        let training = TestTraining::new(&tiny(), recipe(objective, 8.0));
        let (first, last) = training.losses();
        assert!(last < first * 0.9, "{objective}: {first} {last}");
        let model = training.model();
        let names = training.files();
        for name in [
            "README.md",
            "config.json",
            "curve.csv",
            "curve.svg",
            "model.safetensors",
            "training.json",
            "vocab.txt",
        ] {
            assert!(names.contains_key(name), "{objective}: {name}");
        }
        let card = String::from_utf8_lossy(&names["README.md"]).into_owned();
        assert!(card.contains("\"seed\": 42") && card.contains("steps; mean loss"), "{card}");
        if recipe(objective, 1.0).objective.kind() == ModelKind::Encoder {
            let vectors = BertEncoder::open(&model, &ModelOptions::default())
                .unwrap()
                .encode(&["tent"], &|_| {})
                .unwrap();
            assert!((vectors.row(0).iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
        } else {
            let scorer = CrossEncoder::open(&model, &ModelOptions::default()).unwrap();
            let scores = scorer.score(
                &[
                    ("tell me about bees", "do you need bees"),
                    ("tell me about bees", "is it the car"),
                ],
                &|_| {},
            );
            assert!(scores.unwrap().iter().all(|score| score.is_finite()));
        }
        assert!(!training.checkpoints().exists(), "checkpoints are of no use any more");
    }
}

#[test]
fn training_in_bf16_leaves_32_bit_weights_and_repeats_its_bytes() {
    let _alone = alone();
    for objective in ENCODER_AND_CROSS_ENCODER {
        let exact = recipe(objective, 1.0);
        let mixed = Recipe { precision: Precision::Bf16, ..exact.clone() };
        let [exact, mixed, again] = [exact, mixed.clone(), mixed].map(|recipe| {
            let training = TestTraining::new(&tiny(), recipe);
            (training.losses(), training.files())
        });
        let ((first, _), (exact_first, _)) = (mixed.0, exact.0);
        assert!((first / exact_first - 1.0).abs() < 0.02, "{objective}: {first} {exact_first}");
        assert!(mixed.1 == again.1, "{objective}: the same bytes again");
        let weights = |files: &BTreeMap<String, Vec<u8>>| files["model.safetensors"].clone();
        let (exact, mixed) = (weights(&exact.1), weights(&mixed.1));
        assert_eq!(exact.len(), mixed.len(), "{objective}: 32-bit weights");
        assert!(exact != mixed, "{objective}: the products were rounded");
    }
}

#[test]
fn training_in_bf16_learns() {
    let _alone = alone();
    let recipe = Recipe {
        precision: Precision::Bf16,
        evaluate_every: 1000,
        checkpoint_every: 1000,
        ..recipe(OBJECTIVES[0], 8.0)
    };
    let (first, last) = TestTraining::new(&tiny(), recipe).losses();
    assert!(last < first * 0.9, "{first} {last}");
}

#[test]
fn training_does_not_depend_on_the_number_of_threads() {
    let _alone = alone();
    for objective in OBJECTIVES {
        let models = [1, 5].map(|threads| {
            let recipe = recipe(objective, 1.0);
            let mut training = TestTraining::new(&tiny(), recipe);
            training.threads = threads;
            training.losses();
            training.files()
        });
        assert!(models[0] == models[1], "{objective}");
    }
}

#[test]
fn an_interrupted_training_ends_with_the_same_bytes() {
    let _alone = alone();
    for objective in OBJECTIVES {
        let whole = TestTraining::new(&tiny(), recipe(objective, 2.0));
        let broken = TestTraining::new(&tiny(), recipe(objective, 2.0));
        whole.losses();
        broken.interrupt();
        assert_eq!(broken.resume(), Some(2), "{objective}");
        assert_eq!(whole.files(), broken.files(), "{objective}");
    }
}

#[test]
fn every_family_learns_and_resumes_to_the_same_bytes() {
    let _alone = alone();
    for family in families() {
        let (name, base) = (&family["name"], family_folder(&family));
        for objective in ENCODER_AND_CROSS_ENCODER {
            let recipe = Recipe { evaluate_every: 1000, ..recipe(objective, 1.0) };
            let whole = TestTraining::new(base.path(), recipe.clone());
            if ["qwen3", "gemma3_text"].iter().any(|decoder| name == decoder) {
                let refused = whole.run(false, &mut |_| {});
                let is_there = whole.model().exists();
                assert!(refused.is_err() && !is_there, "{name} is no base of a training");
                continue;
            }
            let (first, last) = whole.losses();
            assert!(last < first, "{name}, {objective}: {first} {last}");
            ModelFolder::open(&whole.model()).unwrap();
            // A cross-encoder has all weights of an encoder.
            if objective == OBJECTIVES[0] {
                continue;
            }
            let broken = TestTraining::new(base.path(), recipe);
            broken.interrupt();
            broken.resume();
            assert!(whole.files() == broken.files(), "{name}, {objective}");
        }
    }
}

#[test]
fn a_checkpoint_of_another_training_is_not_used() {
    let _alone = alone();
    let mut training = TestTraining::new(&tiny(), recipe(OBJECTIVES[0], 2.0));
    training.interrupt();
    training.recipe.learning_rate = 1e-3;
    assert_eq!(training.resume(), None);
}

#[test]
fn a_changed_byte_of_a_checkpoint_is_an_error() {
    let _alone = alone();
    let training = TestTraining::new(&tiny(), recipe(OBJECTIVES[0], 2.0));
    training.interrupt();
    let checkpoint = training.checkpoints().join("checkpoint.safetensors");
    let whole = fs::read(&checkpoint).unwrap();
    for part in 1..12 {
        let at = whole.len() * part / 12;
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&checkpoint, changed).unwrap();
        let error = training.run(true, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("checkpoint.safetensors"), "byte {at}: {error}");
    }
    assert!(!training.model().exists());
}

#[test]
fn early_stopping_keeps_the_best_weights() {
    let _alone = alone();
    // A rate at which nothing is learned: the first evaluation stays the best.
    let recipe = Recipe { learning_rate: 1e-12, patience: 2, ..recipe(OBJECTIVES[0], 20.0) };
    let mut stopped = None;
    let tell = &mut |event: &TrainingEvent| {
        if let TrainingEvent::StoppedEarly(step) = event {
            stopped = Some(*step);
        }
    };
    TestTraining::new(&tiny(), recipe).run(false, tell).unwrap();
    assert_eq!(stopped, Some(6));
}

#[test]
fn held_out_recall_is_that_of_the_pool_or_of_the_bank() {
    let _alone = alone();
    for (objective, found) in [(OBJECTIVES[0], 0.75), (OBJECTIVES[1], 0.25), (OBJECTIVES[2], 0.25)]
    {
        let training = TestTraining::new(&tiny(), recipe(objective, 1.0));
        let curve = training.run(false, &mut |_| {}).unwrap();
        // All 24 questions with a text are among the first 30, and all 6 of a pool.
        assert_eq!(curve.last_recall().unwrap()[3], found, "{objective}");
    }
}

#[test]
fn a_loss_that_is_no_number_is_an_error() {
    let _alone = alone();
    let recipe =
        Recipe { learning_rate: 1e30, clip: 0.0, warm_up: 0.0, ..recipe(OBJECTIVES[1], 10.0) };
    let training = TestTraining::new(&tiny(), recipe);
    let error = training.run(false, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("finite"), "{error}");
    assert!(!training.model().exists());
}
