//! Stage `elasticsearch`: retrieves documents from an Elasticsearch or OpenSearch server.
//!
//! Requests go to the server in batches, by its API `_msearch`, as `match` queries on one
//! field. The server has the documents of the collection, under the same ids.

use crate::build::Build;
use crate::stage::{About, Batch, Stage};
use crate::stages::candidates::rank_found;
use clariq_core::{
    Doc, Explanation, Problem, ProblemKind, Ranking, Request, Result, count_of, number, positive,
    problem,
};
use clariq_files::Source;
use clariq_net::{
    CertificateAuthorities, LONGEST_TIMEOUT, Patience, Reply, Service, ServiceAccess, check_address,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// The environment variable with the header `Authorization`: no secret belongs in a file that is
/// shared, or into the record of a run.
const AUTHORIZATION: &str = "CLARIQ_ELASTICSEARCH_AUTHORIZATION";

/// The maximum size of an answer in bytes.
const MOST_OF_AN_ANSWER: u64 = 256 << 20;

/// The hint if there is no server.
const ADDRESS: &str = "is the server there, and does it answer `curl` on this machine? \
                       `--set elasticsearch.url=URL` names another";

/// The hint if a certificate is not trusted.
const CERTIFICATE: &str = "`ca` names the PEM file of a private authority, and the certificate \
                           must be for the host in `url`";

/// The parts of each answer that are requested.
const PARTS: &str = "responses.status,responses.error,responses.timed_out,\
                     responses._shards.failed,responses.hits.hits._id,responses.hits.hits._score";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ElasticsearchKeys {
    /// The address of the server, `http://…` or `https://…`.
    url: String,
    /// The index, or its alias.
    index: String,
    /// The field with the text of a document.
    field: String,
    /// The maximum number of documents per request.
    #[serde(default = "positive::<1000>")]
    size: NonZeroUsize,
    /// Requests that are sent at once.
    #[serde(default = "positive::<100>", skip_serializing)]
    batch: NonZeroUsize,
    /// Seconds for the answer to a batch.
    #[serde(default = "positive::<60>", skip_serializing)]
    timeout: NonZeroUsize,
    /// The number of retries for a batch without an answer.
    #[serde(default = "number::<3, _>", skip_serializing)]
    retries: u32,
    /// A PEM file with the authority of the server's certificate, relative to the current folder.
    #[serde(default, skip_serializing)]
    ca: Option<PathBuf>,
}

struct Elasticsearch {
    keys: ElasticsearchKeys,
    service: Service,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>> {
    let at = build.table.at("url");
    let expected = format!("timeout from 1 to {LONGEST_TIMEOUT} seconds");
    build.table.check_number("timeout", 1.0..=LONGEST_TIMEOUT as f64, &expected, "")?;
    let keys: ElasticsearchKeys = build.table.read()?;
    check_address(at, &keys.url, &authorization_hint())?;
    let timeout = Duration::from_secs(keys.timeout.get() as u64);
    let patience = Patience { timeout, retries: keys.retries };
    let url = format!("{}/_msearch?filter_path={PARTS}", keys.url.trim_end_matches('/'));
    let authorities = keys.ca.as_ref().map(|path| CertificateAuthorities::read(&Source::new(path)));
    let access = ServiceAccess {
        authorization: std::env::var(AUTHORIZATION).ok().filter(|header| !header.is_empty()),
        authorization_hint: authorization_hint(),
        authorities: authorities.transpose()?,
        authorities_hint: CERTIFICATE.to_owned(),
        address_hint: ADDRESS.to_owned(),
        slow_hint: "the server is there, and slower than the key `timeout` allows".to_owned(),
    };
    Ok(Box::new(Elasticsearch { service: Service::new(url, access, patience), keys }))
}

fn authorization_hint() -> String {
    format!("the environment variable {AUTHORIZATION} holds the header, as `ApiKey …` or `Basic …`")
}

#[derive(Deserialize)]
struct MultiSearchResponse {
    responses: Vec<SearchResponse>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SearchResponse {
    status: u16,
    error: Option<Value>,
    timed_out: bool,
    #[serde(rename = "_shards")]
    shards: Shards,
    hits: HitList,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Shards {
    failed: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HitList {
    hits: Vec<FoundDocument>,
}

#[derive(Deserialize)]
struct FoundDocument {
    #[serde(rename = "_id")]
    id: String,
    #[serde(rename = "_score")]
    score: Option<f64>,
}

impl Elasticsearch {
    fn query(&self, batch: &Batch, requests: &[Request]) -> String {
        let mut lines = String::new();
        for request in requests {
            let mut query =
                json!({ "match": { &self.keys.field: { "query": request.flatten() } } });
            if let Some(own) = &request.candidates {
                let ids: Vec<_> = own.iter().map(|&doc| batch.context.documents.id(doc)).collect();
                let filter = json!({ "ids": { "values": ids } });
                query = json!({ "bool": { "must": query, "filter": filter } });
            }
            let size = self.keys.size;
            let search = json!({
                "query": query, "size": size, "_source": false, "track_total_hits": false,
            });
            lines.push_str(&json!({ "index": self.keys.index }).to_string());
            lines.push('\n');
            lines.push_str(&search.to_string());
            lines.push('\n');
        }
        lines
    }

    fn rank(&self, batch: &Batch, requests: &[Request]) -> Result<Vec<Ranking>> {
        let query = self.query(batch, requests);
        let read = |bytes: &[u8]| self.read(bytes, requests);
        let answers = self.service.ask("application/x-ndjson", &query, MOST_OF_AN_ANSWER, read)?;
        let rankings = answers.iter().zip(requests).map(|(answer, request)| {
            let found = answer.hits.hits.iter();
            let found = found.map(|found| (found.id.as_str(), found.score.unwrap_or_default()));
            rank_found(batch, request, found, self.keys.size.get(), |_, id| {
                let hint = "the index must hold the documents that are ranked here, by their ids";
                let at = self.service.location();
                let id = self.service.mask(id);
                problem!(at, "ids of documents of this collection", "`{id}`", hint)
            })
        });
        rankings.collect()
    }

    fn read(&self, bytes: &[u8], requests: &[Request]) -> Result<Reply<Vec<SearchResponse>>> {
        let wrong = |found: String| -> Problem {
            let hint = "`url` is the address of an Elasticsearch or OpenSearch server";
            let expected = format!("{} of `_msearch`", count_of(requests.len(), "answer"));
            problem!((self.service.location()), expected, found, hint).kind(ProblemKind::Server)
        };
        let MultiSearchResponse { responses } =
            serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if responses.len() != requests.len() {
            return Err(wrong(responses.len().to_string()).into());
        }
        if let Some(busy) = responses.iter().find(|answer| matches!(answer.status, 429 | 503)) {
            let why = trouble(busy).unwrap_or_else(|| format!("status {}", busy.status));
            return Ok(Reply::Busy(why));
        }
        for (answer, request) in responses.iter().zip(requests) {
            let Some(trouble) = trouble(answer) else { continue };
            let hint = match answer.status {
                401 | 403 => authorization_hint(),
                _ if trouble.contains("max_result_window") => {
                    "`size` is more than the server gives: lower it, or raise the setting \
                     `index.max_result_window` of the index"
                        .to_owned()
                }
                _ => "`index` and `field` are names on that server; nothing partial is used"
                    .to_owned(),
            };
            let problem = wrong(format!("for request {}: {trouble}", request.id)).hint(hint);
            // Status 400 concerns this request, perhaps its length; others concern the server.
            let kind = if answer.status == 400 { ProblemKind::Other } else { ProblemKind::Server };
            return Err(problem.kind(kind).into());
        }
        Ok(Reply::Whole(responses))
    }
}

/// The reason why an answer cannot be used: an error, or documents that were not searched.
fn trouble(answer: &SearchResponse) -> Option<String> {
    if let Some(error) = &answer.error {
        // The error itself may say no more than "all shards failed".
        let root = &error["root_cause"][0];
        let cause = if root["reason"].is_string() { root } else { error };
        let part = |key: &str| cause[key].as_str().unwrap_or("error").to_owned();
        return Some(format!("{}: {}", part("type"), part("reason")));
    }
    if answer.status >= 300 {
        return Some(format!("status {}", answer.status));
    }
    if answer.timed_out {
        return Some("the search was cut short by its own time limit".to_owned());
    }
    if answer.shards.failed > 0 {
        return Some(format!("{} of its shards failed", answer.shards.failed));
    }
    let unscored = answer.hits.hits.iter().any(|found| found.score.is_none());
    unscored.then(|| "documents without a score".to_owned())
}

impl Stage for Elasticsearch {
    fn about(&self) -> About {
        About::new("elasticsearch", &self.keys)
    }

    fn apply(&self, batch: &Batch, _: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let mut rankings = Vec::with_capacity(batch.requests.len());
        for requests in batch.requests.chunks(self.keys.batch.get()) {
            rankings.extend(self.rank(batch, requests)?);
            (batch.progress)(requests.len() as u64);
        }
        Ok(rankings)
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let ranking = self.rank(one, one.requests)?.into_iter().flatten();
        let hit = ranking.into_iter().find(|hit| hit.doc == doc);
        let what = format!("its score in `{}` at {}", self.keys.index, self.keys.url);
        Ok(hit.map(|hit| Explanation::value(hit.score, what)))
    }
}
