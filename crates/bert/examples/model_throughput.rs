//! Seconds of encoder, cross-encoder and training; `scripts/bench-bert` sets them beside a peer's.
//!
//! Reads one text, or two separated by a tab, per line of standard input.
//!
//! Usage: `model_throughput encode|score|train|train-encoder MODEL THREADS ROUNDS [f32|bf16]`

use clariq_bert::train::train as run_training;
use clariq_bert::{BertEncoder, CrossEncoder};
use clariq_core::{
    Encoder, JudgedQuestions, ModelOptions, PairScorer, Precision, ReadingOverrides, Recipe,
    Training, TrainingEvent,
};
use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, model, threads, rounds, rest @ ..] = &arguments[..] else {
        return Err("see the source for usage".into());
    };
    let precision = if rest.first().is_some_and(|name| name == "bf16") {
        Precision::Bf16
    } else {
        Precision::F32
    };
    let options = ModelOptions {
        threads: threads.parse()?,
        precision,
        reading: ReadingOverrides::cut_at(50),
        ..ModelOptions::default()
    };
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let model = Path::new(model);
    let mut answer: Box<dyn FnMut() -> Result<f64, Box<dyn Error>>> = match what.as_str() {
        "encode" => {
            let encoder = BertEncoder::open(model, &options)?;
            let texts: Vec<&str> = input.lines().collect();
            Box::new(move || {
                // As documents: texts of requests are encoded one by one.
                Ok(encoder
                    .encode_documents(&texts, &|_| {})?
                    .values
                    .iter()
                    .map(|&value| f64::from(value))
                    .sum())
            })
        }
        "score" => {
            let scorer = CrossEncoder::open(model, &options)?;
            let pairs: Vec<(&str, &str)> =
                input.lines().filter_map(|line| line.split_once('\t')).collect();
            Box::new(move || {
                Ok(scorer.score(&pairs, &|_| {})?.iter().map(|&value| f64::from(value)).sum())
            })
        }
        _ => {
            let recipe = if what == "train-encoder" { IN_BATCH } else { PUBLISHED };
            let recipe = Recipe::parse("throughput", recipe)?;
            let examples = examples(&input);
            Box::new(move || {
                let folder = tempfile::tempdir()?;
                let data = String::new();
                let training = Training {
                    recipe: &recipe,
                    base: model,
                    examples: &examples,
                    data,
                    options: &options,
                    resume: false,
                };
                let mut start = None;
                let mut loss = 0.0;
                run_training(&training, &folder.path().join("model"), &mut |event| {
                    if let TrainingEvent::Step { loss: step_loss, .. } = event {
                        start.get_or_insert_with(Instant::now);
                        loss = *step_loss;
                    }
                })?;
                eprintln!(
                    "loop {:.6}",
                    start.map_or(0.0, |start: Instant| start.elapsed().as_secs_f64())
                );
                Ok(loss)
            })
        }
    };
    for _ in 0..rounds.parse()? {
        let start = Instant::now();
        let sum = answer()?;
        println!("{:.6} {sum:.6}", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// The published recipe, with as many steps as the pairs fill.
const PUBLISHED: &str = r#"
name = "m"
base = "b"
epochs = 1
learning_rate = 5e-7
clip = 0.5
[objective]
kind = "cross-entropy"
batch = 12
negatives = 1
system = "none"
"#;

const IN_BATCH: &str = r#"
name = "m"
base = "b"
epochs = 1
learning_rate = 5e-5
group = 32
[objective]
kind = "in-batch-softmax"
batch = 64
"#;

/// Every line is a relevant pair of a topic of its own.
fn examples(input: &str) -> JudgedQuestions {
    let mut judged = JudgedQuestions::default();
    for (place, line) in input.lines().enumerate() {
        let Some((request, question)) = line.split_once('\t') else { continue };
        judged.topics.push(place.to_string());
        judged.requests.push(format!("{request}{}", " ".repeat(place % 2)));
        judged.relevant.push(vec![judged.questions.len() as u32]);
        judged.candidates.push(Vec::new());
        judged.questions.push(question.to_owned());
    }
    judged
}
