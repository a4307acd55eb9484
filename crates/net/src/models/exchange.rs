//! Requests with their answers, as they are kept beside a run and replayed.

use clariq_core::{Checksum, DistinctKeys, Location, Result, bail};
use clariq_files::Source;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, Write};

/// A request to a model and its answer. Neither contains a key, an address or a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// The purpose of the request, for messages. It does not change the answer.
    pub about: String,
    /// Everything that the answer depends on: kind, model and content.
    #[serde(deserialize_with = "with_distinct_keys")]
    pub request: Value,
    /// The parsed answer: a completion, vectors or scores.
    #[serde(deserialize_with = "with_distinct_keys")]
    pub answer: Value,
}

fn with_distinct_keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    DistinctKeys::deserialize(deserializer).map(|DistinctKeys(value)| value)
}

/// The key of a request.
pub(super) fn request_key(request: &Value) -> String {
    Checksum::of(request.to_string().as_bytes()).to_string()
}

/// Writes exchanges as JSON lines.
pub fn write_exchanges(out: &mut dyn Write, exchanges: &[Exchange]) -> io::Result<()> {
    for exchange in exchanges {
        serde_json::to_writer(&mut *out, exchange)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The maximum size of recorded answers in bytes: they are kept in memory.
const MOST_OF_A_RECORDING: u64 = 8 << 30;

/// The recorded answers of a run, which take the place of a server.
#[derive(Debug, Default)]
pub struct Recording {
    name: String,
    answers: HashMap<String, Value>,
}

impl Recording {
    /// Reads the file that was kept beside a run.
    pub fn read(source: &Source) -> Result<Self> {
        let input = source.read_at_most(MOST_OF_A_RECORDING)?;
        let mut answers: HashMap<String, Value> = HashMap::new();
        for (line, text) in (1..).zip(input.bytes.split(|&byte| byte == b'\n')) {
            if text.is_empty() {
                continue;
            }
            match serde_json::from_slice::<Exchange>(text) {
                Ok(Exchange { about, request, answer }) => {
                    let key = request_key(&request);
                    if answers.get(&key).is_some_and(|known| *known != answer) {
                        let at = Location::line(&input.name, line);
                        let found = format!("another one for {about} in an earlier line");
                        let hint = "recordings of two runs with different answers cannot be joined";
                        bail!(at, "one answer to a request", found, hint)
                    }
                    answers.insert(key, answer);
                }
                Err(error) => {
                    let hint = "it stands beside a run, as <run>.completions.jsonl.zst";
                    let at = Location::line(&input.name, line);
                    bail!(at, "a request with its answer", (error.to_string()), hint)
                }
            }
        }
        Ok(Self { name: input.name, answers })
    }

    /// The answer to a request; an error that names it if there is none.
    pub(super) fn answer(&self, key: &str, about: &str) -> Result<&Value> {
        if let Some(answer) = self.answers.get(key) {
            return Ok(answer);
        }
        let hint = "the run was made with another configuration, other data or another version; \
                    without --replay, the server is asked";
        bail!(&*self.name, "the answer for {about}", "none to this request", hint)
    }
}
