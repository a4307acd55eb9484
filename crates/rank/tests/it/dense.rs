//! The stage `dense` over so many documents that they are compared in portions.

use crate::common::conversation;
use clariq_collections::documents::{Bank, BankRow};
use clariq_core::{
    Checksum, Doc, Documents, Embeddings, Encoder, Error, Hit, Model, ModelName, Models, Progress,
    Ranking, Request, best_first,
};
use clariq_rank::{Batch, Context, SystemFile};
use ndarray::ArrayView2;
use std::sync::{Arc, LazyLock};

const DIM: usize = 8;
const DEPTH: usize = 40;

/// Pseudo-random vectors that depend on the letters of a text alone.
struct Chance;

impl Encoder for Chance {
    fn encode(&self, texts: &[&str], _: Progress) -> Result<Embeddings, Error> {
        let mut values = Vec::new();
        for text in texts {
            let add = |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            let mut state = text.bytes().fold(1, add);
            values.extend((0..DIM).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 40) as f32 / (1 << 23) as f32 - 1.0
            }));
        }
        Ok(Embeddings { dim: DIM, values })
    }

    fn checksum(&self) -> &Checksum {
        static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"chance"));
        &SUM
    }
}

struct Encoders;

impl Models for Encoders {
    fn open(&self, _: &ModelName) -> Result<Model, Error> {
        Ok(Model::Encoder(Arc::new(Chance)))
    }
}

/// Exhaustive search: all similarities, sorted.
fn naive(bank: &Bank, request: &Request) -> Ranking {
    let texts: Vec<&str> = bank.rows().iter().map(|row| row.text.as_str()).collect();
    let [all, one] = [&texts[..], &[&request.flatten()]]
        .map(|texts| Encoder::encode(&Chance, texts, &|_| {}).unwrap().values);
    let rows = |values| ArrayView2::from_shape((count(values), DIM), values).unwrap();
    let scores = rows(&one).dot(&rows(&all).t());
    let hits = Doc::all(bank.len()).zip(&scores).filter(|(doc, _)| !texts[doc.index()].is_empty());
    let mut hits: Ranking =
        hits.map(|(doc, &score)| Hit { doc, score: f64::from(score) }).collect();
    hits.sort_by(best_first);
    hits.truncate(DEPTH);
    hits
}

fn count(values: &[f32]) -> usize {
    values.len() / DIM
}

#[test]
fn comparing_the_documents_in_portions_changes_no_ranking() {
    let text = |number: usize| match number % 1000 {
        7 => String::new(),
        _ => format!("d{number}"),
    };
    let row =
        |number: usize| BankRow { id: format!("D{number:06}").as_str().into(), text: text(number) };
    let bank = Bank::new((0..16_000).map(row).collect(), "Q00001");
    let request = |number: usize| {
        let first = format!("r{}", number / 2);
        let asked = format!("d{}", number * 50 + 1);
        conversation(&[&first, &asked, &format!("a{number}")])
    };
    let requests: Vec<Request> = (0..300).map(request).collect();
    for (stage, least) in [
        ("", DEPTH),
        (
            "repeat = 2.0\nmin_likeness = 4.6\nweights = { question = 1, answer = 2, \
         refused_question = -1, refused_answer = 0, decay = 1 }",
            0,
        ),
        ("history = { context = 0.5, nearest = 0.75, system = 0.25, decay = 0.5 }", DEPTH),
    ] {
        let system = format!(
            "name = \"one\"\n[space]\nmodels = {{ chance = 1.0 }}\n[[stages]]\nstage = \"dense\"\n\
             depth = {DEPTH}\n{stage}"
        );
        let system = SystemFile::parse("one.toml", &system, &[]).unwrap();
        let rank = |requests: &[Request], size: usize| -> Vec<Ranking> {
            let mut context = Context::new(&bank, |_, _| unreachable!("no index is needed"));
            context.models = &Encoders;
            let rank = |requests: &[Request]| {
                let batch = Batch::new(&context, requests);
                system.pipeline.run(&batch, batch.unranked()).unwrap()
            };
            requests.chunks(size).flat_map(rank).collect()
        };
        let together = rank(&requests, requests.len());
        let some: Vec<usize> = (0..requests.len()).step_by(43).collect();
        let alone: Vec<Request> = some.iter().map(|&at| requests[at].clone()).collect();
        for (at, ranking) in some.iter().zip(rank(&alone, 1)) {
            assert_eq!(together[*at], ranking, "{stage}: {at}");
            assert!(ranking.len() >= least, "{stage}: {at}");
            if stage.is_empty() {
                assert_eq!(ranking, naive(&bank, &requests[*at]), "{at}");
            }
        }
        let lengths: Vec<usize> = together.iter().map(Vec::len).collect();
        let shortest = lengths.iter().min();
        let longest = lengths.iter().max();
        assert!(longest <= Some(&DEPTH) && (least > 0 || shortest < longest), "{lengths:?}");
    }
}
