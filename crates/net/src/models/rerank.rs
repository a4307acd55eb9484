//! Rerankers: `POST /rerank`.

use super::calls::{Call, CallAnswer};
use super::endpoint::{Asked, Endpoint, check_recorded};
use super::server::{MOST_OF_AN_ANSWER, in_32_bits, in_order, name_of};
use super::table::{
    DEFAULT_BATCH, Dialect, ModelTable, ServedKind, ServerConfig, is_default, table,
};
use clariq_core::{Checksum, ModelKind, PairScorer, Progress, Result, number, positive};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;

const KIND: ServedKind = ServedKind {
    name: "rerank",
    model: ModelKind::CrossEncoder,
    paths: &[(Dialect::V1, "rerank"), (Dialect::Tei, "rerank")],
};

table! { KIND;
    /// A reranker behind a server.
    RerankConfig {
        /// The paths and forms of the server's API, see below: `v1` or `tei`.
        #[serde(default)]
        pub(super) dialect: Dialect,
        /// Documents of a call.
        #[serde(default = "positive::<DEFAULT_BATCH>", skip_serializing)]
        pub(super) batch: NonZeroUsize,
        /// `true`: the server cuts texts that are too long; otherwise it refuses them (`tei`).
        #[serde(default, skip_serializing_if = "is_default")]
        pub(super) truncate: bool,
    }
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

impl Endpoint<RerankConfig> {
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
}

impl Asked for RerankConfig {
    type Answer = Vec<f32>;
    type Learned = ();

    fn ask(endpoint: &Endpoint<Self>, call: &Call) -> Result<CallAnswer<Vec<f32>>> {
        let Endpoint { server, keys, .. } = endpoint;
        let Call { about, request, .. } = call;
        let count = call.items as usize;
        if keys.dialect == Dialect::Tei {
            let body = json!({
                "query": request["query"],
                "texts": request["documents"],
                "raw_scores": true,
                "truncate": keys.truncate,
            });
            return server.ask(about, &body, MOST_OF_AN_ANSWER, |answer: Vec<TeiScore>| {
                let scores = answer.into_iter().map(|one| score(one.index, one.score));
                in_order(scores, count, "score")
            });
        }
        let mut body = json!({
            "query": request["query"],
            "documents": request["documents"],
        });
        server.name_model(&mut body);
        server.ask(about, &body, MOST_OF_AN_ANSWER, |answer: RerankResponse| {
            let scores = answer.results.into_iter();
            in_order(scores.map(|one| score(one.index, one.relevance_score)), count, "score")
        })
    }

    fn stand_in(call: &Call) -> Vec<f32> {
        vec![0.0; call.items as usize]
    }
}

/// A score with its index.
fn score(index: usize, score: f64) -> Result<(usize, f32), String> {
    Ok((index, in_32_bits("score", score, index)?))
}

impl PairScorer for Endpoint<RerankConfig> {
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
        let batch = self.keys.batch.get();
        let mut calls = Vec::new();
        for pairs in requests {
            for part in pairs.chunks(batch) {
                let documents: Vec<&str> = part.iter().map(|(_, document)| *document).collect();
                calls.push(self.call(part[0].0, &documents));
            }
        }
        let mut scores: Vec<f32> = Vec::new();
        for (call, answer) in calls.iter().zip(self.answers(&calls, &|_, _| Ok(()))?) {
            check_recorded(call, &answer, "score")?;
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
