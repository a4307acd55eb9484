//! The stage `dense` over a collection of random vectors: seconds, and own memory, as lines of JSON.
//!
//! ```text
//! cargo run --release -p clariq-rank --example dense -- DOCUMENTS LENGTH [REQUESTS]
//! ```
//!
//! Requests are ranked one by one, and again in batches as `clariq run` makes them.

use clariq_collections::clariq::{Bank, BankRow};
use clariq_core::{Embeddings, Encoder, Model, ModelName, Models, Progress, Request, Result, bail};
use clariq_rank::{Batch, Context, System};
use std::sync::Arc;
use std::time::Instant;

/// Requests of a batch.
const BATCH: usize = 512;
const DEPTH: usize = 100;

/// Vectors of a length, each made of the text.
struct Random(usize);

impl Encoder for Random {
    fn encode(&self, texts: &[&str], _: Progress) -> Result<Embeddings> {
        let mut values = Vec::with_capacity(texts.len() * self.0);
        for text in texts {
            let mut state = text
                .bytes()
                .fold(1_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            values.extend((0..self.0).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ((state >> 40) as f32 / (1 << 23) as f32 - 1.0) / (self.0 as f32 / 3.0).sqrt()
            }));
        }
        Ok(Embeddings { dim: self.0, values })
    }

    fn checksum(&self) -> &'static str {
        "random"
    }
}

impl Models for Random {
    fn open(&self, _: &ModelName) -> Result<Model> {
        Ok(Model::Encoder(Arc::new(Self(self.0))))
    }
}

fn main() -> Result<()> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    let [documents, length, ref rest @ ..] = numbers[..] else {
        bail!("arguments", "DOCUMENTS LENGTH [REQUESTS]", "others", "the module explains them");
    };
    let requests = rest.first().copied().unwrap_or(2 * BATCH);
    let row = |number| BankRow {
        id: format!("D{number:09}").as_str().into(),
        text: format!("d{number}"),
    };
    let bank = Bank::from_rows((0..documents).map(row).collect());
    let random = Random(length);
    let mut context = Context::new(&bank, |_, _| bail!("index", "none", "one", "`dense` has none"));
    context.models = &random;
    let text = format!(
        "name = \"dense\"\n[space]\nmodels = {{ random = 1.0 }}\n\
         [[stages]]\nstage = \"dense\"\ndepth = {DEPTH}"
    );
    let system = System::parse("dense.toml", &text, &[])?;
    let request = |number: usize| Request::new(&*number.to_string(), format!("r{number}"));
    let requests: Vec<Request> = (0..requests).map(request).collect();
    for (step, batch, some) in [
        ("open", 1, &requests[..1]),
        ("one by one", 1, &requests[..requests.len().min(20)]),
        ("batches", BATCH, &requests[..]),
    ] {
        let (start, mut hits) = (Instant::now(), 0);
        for batch in some.chunks(batch) {
            let batch = Batch::new(&context, batch);
            hits +=
                system.pipeline.run(&batch, batch.unranked())?.iter().map(Vec::len).sum::<usize>();
        }
        let seconds = start.elapsed().as_secs_f64();
        let figures = serde_json::json!({
            "step": step, "requests": some.len(), "seconds": seconds, "hits": hits,
            "requests_per_second": some.len() as f64 / seconds, "peak_own_mib": peak(),
        });
        println!("{figures}");
    }
    Ok(())
}

/// The most memory of this process so far, in MiB, where the kernel tells.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) >> 10
}
