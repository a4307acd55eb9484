//! Systems and training recipes: each that is accepted runs, or fails with a hint.

use clariq_collections::documents::{Bank, BankRow};
use clariq_core::{
    Checksum, Embeddings, Encoder, Error, Model, ModelKind, ModelName, Models, NoModels,
    PairScorer, Problem, Progress, Ranking, Recipe, Request, Utterance,
};
use clariq_files::Source;
use clariq_index::{BuildOptions, DocumentIndex};
use clariq_rank::{Batch, Context, SystemFile};
use clariq_systems::SystemConfig;
use std::sync::{Arc, LazyLock, OnceLock};
use tempfile::TempDir;

const NAME: &str = "fuzzed.toml";

/// Reads the bytes as a system and as a recipe, and ranks a few questions by the system.
pub fn systems(bytes: &[u8]) {
    let config = SystemConfig::read(&Source::memory(NAME, bytes), &[]);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return is_helpful(&config.err().expect("text that is not UTF-8").to_problem());
    };
    if let Err(error) = Recipe::parse(NAME, text) {
        is_helpful(&error.to_problem());
    }
    let system = match SystemFile::parse(NAME, text, &[]) {
        Ok(system) => system,
        Err(error) => return is_helpful(&error.to_problem()),
    };
    match config {
        Ok(_) => rank(&system),
        // It uses models or labels that it does not declare.
        Err(error) => assert!(!error.to_problem().hint.is_empty(), "{error}"),
    }
}

fn is_helpful(report: &Problem) {
    assert!(report.title().starts_with(NAME) && !report.hint.is_empty(), "{report:?}");
}

/// Rankings name documents of the bank, with scores that are numbers.
fn rank(system: &SystemFile) {
    // Systems that ask a server are not run.
    if system
        .pipelines()
        .any(|pipeline| pipeline.about().any(|stage| stage.name == "elasticsearch"))
    {
        return;
    }
    let bank = bank();
    let mut context = Context::new(&bank, |analyzer, documents| {
        let folder = folder().join(analyzer.name());
        Ok(DocumentIndex::open_or_build(&folder, documents, analyzer, &BuildOptions::default())?.0)
    });
    context.models = &Letters;
    let first = Request::new("1", "tell me about the red fox");
    let mut second = Request::new("2", "blue");
    second.said.extend([Utterance::system("which one"), Utterance::user("the boat")]);
    let requests = [first, second];
    let batch = Batch::new(&context, &requests);
    match system.pipeline.run(&batch, batch.unranked()) {
        Ok(rankings) => {
            assert_eq!(rankings.len(), requests.len());
            for ranking in &rankings {
                is_sound(ranking, TEXTS.len());
            }
        }
        Err(error) => {
            let report = error.to_problem();
            assert!(!report.hint.is_empty(), "{report:?}");
        }
    }
}

fn is_sound(ranking: &Ranking, documents: usize) {
    for hit in ranking {
        assert!(hit.doc.index() < documents && !hit.score.is_nan(), "{ranking:?}");
    }
}

const TEXTS: [(&str, &str); 5] = [
    ("Q00001", ""),
    ("Q00002", "which red fox"),
    ("Q00003", "a blue fox or a red one"),
    ("Q00004", "do you mean the car"),
    ("Q00005", "blue boat"),
];

fn bank() -> Bank {
    let row = |(id, text): (&str, &str)| BankRow { id: id.into(), text: text.to_owned() };
    Bank::new(TEXTS.map(row).to_vec(), "Q00001")
}

/// The folder of the indexes over the bank, which are built once.
fn folder() -> &'static std::path::Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| TempDir::new().expect("a folder for temporary files")).path()
}

/// Vectors that count some letters; logits that count all of them.
struct Letters;

const COUNTED: [char; 4] = ['a', 'e', 'o', 'r'];

impl Encoder for Letters {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings, Error> {
        let count = |text: &str, letter| text.chars().filter(|found| *found == letter).count();
        let mut values = Vec::new();
        for text in texts {
            let counts = COUNTED.map(|letter| count(text, letter) as f32);
            let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt().max(1.0);
            values.extend(counts.map(|count| count / length));
        }
        progress(texts.len() as u64);
        Ok(Embeddings { dim: COUNTED.len(), values })
    }

    fn checksum(&self) -> &Checksum {
        static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"letters"));
        &SUM
    }
}

impl PairScorer for Letters {
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>, Error> {
        progress(pairs.len() as u64);
        Ok(pairs.iter().map(|(_, document)| document.len() as f32).collect())
    }

    fn checksum(&self) -> &Checksum {
        static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"letters"));
        &SUM
    }
}

impl Models for Letters {
    fn open(&self, model: &ModelName) -> Result<Model, Error> {
        match model.kind {
            ModelKind::Encoder => Ok(Model::Encoder(Arc::new(Letters))),
            ModelKind::Sparse | ModelKind::TextGenerator | ModelKind::Chat => NoModels.open(model),
            ModelKind::CrossEncoder => Ok(Model::CrossEncoder(Arc::new(Letters))),
        }
    }
}
