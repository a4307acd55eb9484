//! The stage `dense` over collections of vectors: seconds, and own memory, as lines of JSON.
//!
//! ```text
//! cargo run --release -p clariq-rank --example dense -- DOCUMENTS LENGTH [REQUESTS]
//! ```
//!
//! Requests are ranked one by one, and again in batches as `clariq run` makes them: over random
//! vectors, and over vectors of a thousand topics, some of whose numbers are larger than others, as
//! those of encoders are. The vectors of more than one block are in files of the folder for
//! temporary files while it runs.

use clariq_collections::clariq::{Bank, BankRow};
use clariq_core::{
    Documents, Embeddings, Encoder, Error, Model, ModelName, Models, Progress, Request, Result,
    Rows, Vectors, bail,
};
use clariq_rank::{Batch, Context, System};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Requests of a batch.
const BATCH: usize = 512;
const DEPTH: usize = 100;

/// Vectors of a length, each made of the text.
#[derive(Clone, Copy)]
struct Random {
    length: usize,
    has_topics: bool,
}

/// Numbers from -1 to 1.
fn numbers(mut state: u64) -> impl Iterator<Item = f32> {
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    })
}

impl Encoder for Random {
    fn encode(&self, texts: &[&str], _: Progress) -> Result<Embeddings> {
        let Self { length, has_topics } = *self;
        let mut values = Vec::with_capacity(texts.len() * length);
        for text in texts {
            let seed = text
                .bytes()
                .fold(1_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            let own = numbers(seed).take(length);
            if !has_topics {
                values.extend(own.map(|number| number / (length as f32 / 3.0).sqrt()));
                continue;
            }
            let both = own.zip(numbers((seed >> 20) % 1000 + 1));
            let vector: Vec<f32> = (1..)
                .zip(both)
                .map(|(rank, (own, topic))| (own + 0.75 * topic) / (rank as f32).sqrt())
                .collect();
            let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
            values.extend(vector.iter().map(|number| number / norm));
        }
        Ok(Embeddings { dim: length, values })
    }

    fn checksum(&self) -> &'static str {
        "random"
    }
}

/// Opens encoders, and keeps the vectors of documents in a folder.
struct OnDisk<'f>(Random, &'f Path);

impl Models for OnDisk<'_> {
    fn open(&self, _: &ModelName) -> Result<Model> {
        Ok(Model::Encoder(Arc::new(self.0)))
    }

    fn embed_documents(
        &self,
        _: &ModelName,
        documents: &dyn Documents,
        progress: Progress,
    ) -> Result<Arc<Vectors>> {
        let make = |block: std::ops::Range<usize>| {
            let path = self.1.join(block.start.to_string());
            let mut made = self.0.encode_block(documents, block, progress)?;
            if let Rows::Memory(values) = &made.rows
                && documents.len() > Vectors::BLOCK
            {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                let written = File::create(&path).and_then(|mut file| file.write_all(&bytes));
                written.map_err(Error::io("write", &path))?;
                made.rows = Rows::File { path, offset: 0 };
            }
            Ok(made)
        };
        Ok(Arc::new(Vectors::of(documents.len(), make)?))
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
    let folder = std::env::temp_dir().join(format!("dense-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
    let text = format!(
        "name = \"dense\"\n[space]\nmodels = {{ random = 1.0 }}\n\
         [[stages]]\nstage = \"dense\"\ndepth = {DEPTH}"
    );
    let system = System::parse("dense.toml", &text, &[])?;
    let request = |number: usize| Request::new(&*number.to_string(), format!("r{number}"));
    let requests: Vec<Request> = (0..requests).map(request).collect();
    for has_topics in [false, true] {
        let models = OnDisk(Random { length, has_topics }, &folder);
        let mut context =
            Context::new(&bank, |_, _| bail!("index", "none", "one", "`dense` has none"));
        context.models = &models;
        for (step, batch, some) in [
            // The second request makes what later ones need.
            ("open", 1, &requests[..requests.len().min(2)]),
            ("one by one", 1, &requests[..requests.len().min(20)]),
            ("batches", BATCH, &requests[..]),
        ] {
            let (start, before) = (Instant::now(), processor());
            let (mut hits, mut scores) = (0, 0.0);
            for batch in some.chunks(batch) {
                let batch = Batch::new(&context, batch);
                let rankings = system.pipeline.run(&batch, batch.unranked())?;
                hits += rankings.iter().map(Vec::len).sum::<usize>();
                scores += rankings.iter().flatten().map(|hit| hit.score).sum::<f64>();
            }
            let seconds = start.elapsed().as_secs_f64();
            let figures = serde_json::json!({
                "topics": has_topics, "step": step, "requests": some.len(), "seconds": seconds,
                "hits": hits, "scores": scores,
                "requests_per_second": some.len() as f64 / seconds,
                "processor_seconds": processor() - before, "peak_own_mib": peak(),
            });
            println!("{figures}");
        }
    }
    fs::remove_dir_all(&folder).map_err(Error::io("remove", &folder))
}

/// The most memory of this process so far, in MiB, where the kernel tells.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) >> 10
}

/// Seconds of processor time of this process so far, where the kernel tells.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split(' ').collect();
    let ticks =
        fields.get(12..14).unwrap_or_default().iter().filter_map(|it| it.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
