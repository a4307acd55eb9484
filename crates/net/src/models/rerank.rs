//! Rerankers: `POST /rerank`.

use super::calls::{Call, CallAnswer};
use super::server::{MOST_OF_AN_ANSWER, Server, in_order, name_of};
use super::table::{DEFAULT_BATCH, Dialect, ModelTable, ServerConfig, table};
use clariq_core::{Checksum, ModelKind, PairScorer, Progress, Result, bail, number, positive};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;

table! {
    /// A reranker behind a server.
    RerankConfig {
        /// The paths and forms of the server's API, see below: `v1` or `tei`.
        #[serde(default)]
        pub(super) dialect: Dialect,
        /// Documents of a call.
        #[serde(default = "positive::<DEFAULT_BATCH>")]
        pub(super) batch: NonZeroUsize,
        /// `true`: the server cuts texts that are too long; otherwise it refuses them (`tei`).
        #[serde(default)]
        pub(super) truncate: bool,
    }
}

impl ModelTable for RerankConfig {
    fn kind(&self) -> &'static str {
        "rerank"
    }

    fn server(&self) -> ServerConfig<'_> {
        self.keys_of_server()
    }

    fn opens(&self) -> (ModelKind, &'static str) {
        (ModelKind::CrossEncoder, "rerank")
    }

    fn is_tei(&self) -> bool {
        self.dialect.is_tei()
    }

    fn truncates(&self) -> bool {
        self.truncate
    }

    fn identify(&self, identity: &mut Map<String, Value>) {
        let mut set = |key: &str, value: Value| identity.insert(key.to_owned(), value);
        set("dialect", json!(self.dialect));
        if self.truncate {
            set("truncate", true.into());
        }
    }
}

pub(super) struct RerankEndpoint {
    server: Server,
    config: RerankConfig,
}

/// The form of vLLM, llama.cpp, Jina and Cohere; Voyage calls the list `data`.
#[derive(Deserialize)]
struct RerankResponse {
    #[serde(alias = "data")]
    results: Vec<RelevanceScore>,
}

#[derive(Deserialize)]
struct RelevanceScore {
    index: usize,
    relevance_score: f64,
}

#[derive(Deserialize)]
struct TeiScore {
    index: usize,
    score: f64,
}

impl RerankEndpoint {
    pub(super) fn new(server: Server, config: RerankConfig) -> Self {
        Self { server, config }
    }

    fn call(&self, query: &str, documents: &[&str]) -> Call {
        let mut content = Map::new();
        content.insert("query".to_owned(), query.into());
        content.insert("documents".to_owned(), json!(documents));
        // A reranker reads the query with every document.
        let bytes = documents.iter().map(|document| query.len() + document.len()).sum::<usize>();
        Call {
            about: name_of(query),
            request: self.server.request(content),
            items: documents.len() as u64,
            bytes: bytes as u64,
            most_tokens: 0,
        }
    }

    fn ask(&self, call: &Call) -> Result<CallAnswer<Vec<f32>>> {
        let Call { about, request, .. } = call;
        let count = documents_of(request);
        if self.config.dialect.is_tei() {
            let body = json!({
                "query": request["query"],
                "texts": request["documents"],
                "raw_scores": true,
                "truncate": self.config.truncate,
            });
            return self.server.ask(about, &body, MOST_OF_AN_ANSWER, |answer: Vec<TeiScore>| {
                let scores = answer.into_iter().map(|one| score(one.index, one.score));
                in_order(scores, count, "score")
            });
        }
        let mut body = json!({
            "query": request["query"],
            "documents": request["documents"],
        });
        self.server.name_model(&mut body);
        self.server.ask(about, &body, MOST_OF_AN_ANSWER, |answer: RerankResponse| {
            let scores = answer.results.into_iter();
            in_order(scores.map(|one| score(one.index, one.relevance_score)), count, "score")
        })
    }
}

fn documents_of(request: &Value) -> usize {
    request["documents"].as_array().map_or(0, Vec::len)
}

/// A score with its index; an error if it is no number, or none of 32 bits.
fn score(index: usize, score: f64) -> Result<(usize, f32), String> {
    let narrow = score as f32;
    if !narrow.is_finite() {
        Err(format!("a score that is no finite number, for index {index}"))
    } else if narrow == 0.0 && score != 0.0 {
        Err(format!("the score {score:e}, which is 0 in 32 bits, for index {index}"))
    } else {
        Ok((index, narrow))
    }
}

impl PairScorer for RerankEndpoint {
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>> {
        let mut scores = Vec::with_capacity(pairs.len());
        let of_queries: Vec<Vec<(&str, &str)>> =
            pairs.chunk_by(|one, next| one.0 == next.0).map(<[_]>::to_vec).collect();
        scores.extend(self.score_each(&of_queries, &|_| {})?.into_iter().flatten());
        progress(pairs.len() as u64);
        Ok(scores)
    }

    fn score_each(
        &self,
        requests: &[Vec<(&str, &str)>],
        progress: Progress,
    ) -> Result<Vec<Vec<f32>>> {
        let batch = self.config.batch.get();
        let mut calls = Vec::new();
        for pairs in requests {
            for part in pairs.chunks(batch) {
                let documents: Vec<&str> = part.iter().map(|(_, document)| *document).collect();
                calls.push(self.call(part[0].0, &documents));
            }
        }
        let stand_in = |call: &Call| vec![0.0; documents_of(&call.request)];
        let ask = |call: &Call| self.ask(call);
        let answers =
            self.server.calls.answer(&self.server.caller, &calls, stand_in, ask, &|_, _| Ok(()))?;
        let mut scores: Vec<f32> = Vec::new();
        for (call, answer) in calls.iter().zip(answers) {
            let expected = documents_of(&call.request);
            if answer.len() != expected {
                let found = answer.len().to_string();
                bail!(call.about.as_str(), "{expected} recorded scores", found);
            }
            scores.extend(answer);
        }
        progress(requests.len() as u64);
        let mut scores = scores.into_iter();
        Ok(requests.iter().map(|pairs| scores.by_ref().take(pairs.len()).collect()).collect())
    }

    fn checksum(&self) -> &Checksum {
        &self.server.checksum
    }
}
