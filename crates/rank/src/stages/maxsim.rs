//! Stage `maxsim`: reorders the first documents of every ranking by how well their tokens answer those of
//! the request.
//!
//! For each token of the request, the most similar token of the document counts (Khattab and Zaharia,
//! "`ColBERT`", SIGIR 2020); the score is the mean of these similarities. With `before`, it is added to the
//! score so far times that weight, as in Chen et al., "M3-Embedding", Findings of ACL 2024, who add the
//! similarity of the texts' vectors to that of their tokens.

use super::cross_encoder::QueryText;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use clariq_core::{
    Doc, Encoder, Explanation, Hit, ModelKind, ModelName, Ranking, ReadingOverrides, Request,
    RequestVectors, Result, TextSide, TokenVectors, best_first, positive,
};
use parking_lot::Mutex;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Requests whose documents' vectors are in memory at a time, beside those that are kept. 100 documents of
/// 256 tokens with 384 numbers take 20 MB.
const REQUESTS_AT_ONCE: usize = 4;
/// The most bytes of documents' vectors that are kept for later requests.
const KEPT_BYTES: usize = 256 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaxSim {
    /// The folder of an encoder, or of a model that gives each token a vector.
    model: String,
    /// The longest text in tokens; by default that of the folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    /// The number of documents that are reordered.
    #[serde(default = "positive::<100>")]
    depth: NonZeroUsize,
    /// The part of a conversation whose tokens are answered, as for `rerank`.
    #[serde(default, skip_serializing_if = "QueryText::is_all")]
    query: QueryText,
    /// The weight of the score so far, which is added; without it, the score so far does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<f64>,
    #[serde(skip)]
    kept: Mutex<KeptTokens>,
}

/// The vectors of documents by their texts, of which the latest are kept.
struct KeptTokens {
    documents: HashMap<String, (Arc<TokenVectors>, u64)>,
    bytes: usize,
    most_bytes: usize,
    /// Counts the uses.
    round: u64,
}

impl Default for KeptTokens {
    fn default() -> Self {
        Self { documents: HashMap::new(), bytes: 0, most_bytes: KEPT_BYTES, round: 0 }
    }
}

impl KeptTokens {
    /// The vectors of texts; `encode` gets those that are not kept.
    fn vectors(
        &mut self,
        texts: &[Cow<str>],
        encode: impl FnOnce(&[&str]) -> Result<Vec<TokenVectors>>,
    ) -> Result<Vec<Arc<TokenVectors>>> {
        self.round += 1;
        let mut missing: Vec<&str> = Vec::new();
        for text in texts {
            match self.documents.get_mut(&**text) {
                Some((_, used)) => *used = self.round,
                None => missing.push(text),
            }
        }
        missing.sort_unstable();
        missing.dedup();
        for (text, vectors) in missing.iter().zip(encode(&missing)?) {
            self.bytes += vectors.bytes() + text.len();
            self.documents.insert((*text).to_owned(), (Arc::new(vectors), self.round));
        }
        let found = texts.iter().map(|text| Arc::clone(&self.documents[&**text].0)).collect();
        self.drop_the_oldest();
        Ok(found)
    }

    fn drop_the_oldest(&mut self) {
        if self.bytes <= self.most_bytes {
            return;
        }
        let uses = self.documents.iter().map(|(text, (_, used))| (*used, text.clone()));
        let mut uses: Vec<(u64, String)> = uses.collect();
        uses.sort_unstable();
        for (_, text) in uses {
            if self.bytes <= self.most_bytes {
                return;
            }
            if let Some((vectors, _)) = self.documents.remove(&text) {
                self.bytes -= vectors.bytes() + text.len();
            }
        }
    }
}

impl MaxSim {
    fn model_name(&self) -> ModelName {
        let reading = ReadingOverrides::cut_at(self.max_tokens);
        ModelName { reading, ..ModelName::new(&*self.model, ModelKind::Encoder) }
    }

    fn requests(&self, encoder: &dyn Encoder, requests: &[Request]) -> Result<Vec<TokenVectors>> {
        let texts: Vec<Cow<str>> = requests.iter().map(|request| self.query.of(request)).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        encoder.encode_tokens(&texts, TextSide::Request, &|_| {})
    }

    fn documents(
        &self,
        encoder: &dyn Encoder,
        context: &Context,
        docs: impl Iterator<Item = Doc>,
    ) -> Result<Vec<Arc<TokenVectors>>> {
        let texts: Vec<Cow<str>> =
            docs.map(|doc| context.documents.text(doc)).collect::<Result<_>>()?;
        let encode = |texts: &[&str]| encoder.encode_tokens(texts, TextSide::Document, &|_| {});
        self.kept.lock().vectors(&texts, encode)
    }

    /// Reorders the first documents. The others follow, with their distances from each other.
    fn reorder(
        &self,
        ranking: &Ranking,
        request: &RequestVectors,
        documents: &[Arc<TokenVectors>],
    ) -> Ranking {
        let (first, others) = ranking.split_at(documents.len());
        let similarities: Vec<f64> =
            documents.par_iter().map(|document| request.mean_max_sim(document)).collect();
        let mut reordered: Ranking = first
            .iter()
            .zip(similarities)
            .map(|(hit, similarity)| Hit { score: self.score(hit.score, similarity), ..*hit })
            .collect();
        reordered.sort_unstable_by(best_first);
        if let (Some(least), Some(next)) = (reordered.last().copied(), others.first()) {
            let below = least.score.next_down();
            let follow = |hit: &Hit| Hit { score: below - (next.score - hit.score), ..*hit };
            reordered.extend(others.iter().map(follow));
        }
        reordered
    }

    fn score(&self, so_far: f64, similarity: f64) -> f64 {
        self.before.map_or(similarity, |weight| weight * so_far + similarity)
    }
}

impl Stage for MaxSim {
    fn about(&self) -> About {
        About { models: vec![self.model_name()], ..About::new("maxsim", self) }
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let encoder = batch.context.models.encoder(&self.model_name())?;
        let mut reordered = Vec::with_capacity(rankings.len());
        let pieces = batch.requests.chunks(REQUESTS_AT_ONCE).zip(rankings.chunks(REQUESTS_AT_ONCE));
        for (requests, rankings) in pieces {
            let mut depths = Vec::with_capacity(requests.len());
            for (request, ranking) in requests.iter().zip(rankings) {
                depths.push(request.depth(self.depth.get()).min(ranking.len()));
            }
            let first =
                rankings.iter().zip(&depths).flat_map(|(ranking, &depth)| &ranking[..depth]);
            let documents = self.documents(&*encoder, batch.context, first.map(|hit| hit.doc))?;
            let vectors = self.requests(&*encoder, requests)?;
            let mut documents = &documents[..];
            for ((ranking, depth), vectors) in rankings.iter().zip(depths).zip(&vectors) {
                let (own, others) = documents.split_at(depth);
                documents = others;
                reordered.push(self.reorder(ranking, &vectors.request(), own));
                (batch.progress)(1);
            }
        }
        Ok(reordered)
    }

    fn explain(&self, one: &Batch, doc: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let place = before.iter().position(|hit| hit.doc == doc);
        let Some((place, request)) = place.zip(one.requests.first()) else { return Ok(None) };
        if place >= request.depth(self.depth.get()) {
            let what = format!("behind the first {}, which are reordered", self.depth);
            return Ok(Some(Explanation::value(before[place].score, what)));
        }
        let encoder = one.context.models.encoder(&self.model_name())?;
        let requests = self.requests(&*encoder, one.requests)?;
        let documents = self.documents(&*encoder, one.context, [doc].into_iter())?;
        let (Some(request), Some(document)) = (requests.first(), documents.first()) else {
            return Ok(None);
        };
        let matches = request.request().matches(document);
        let tokens = matches.iter().map(|found| {
            let answer = found.answer.map_or("nothing".into(), |answer| encoder.token(answer));
            let token = encoder.token(found.token);
            Explanation::value(f64::from(found.similarity), format!("{token} ← {answer}"))
        });
        let similarity = request.request().mean_max_sim(document);
        let what = format!(
            "mean over {} tokens of the request: the most similar token of the document",
            matches.len()
        );
        let similarity = Explanation::of(similarity, what, tokens.collect());
        let Some(weight) = self.before else { return Ok(Some(similarity)) };
        let so_far = before[place].score;
        let what = format!("{weight} × {so_far:.6}, the score so far");
        let so_far = Explanation::value(weight * so_far, what);
        Ok(Some(Explanation::sum("sum", vec![so_far, similarity])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_encoded_once_while_they_are_kept() {
        let mut kept = KeptTokens { most_bytes: 40, ..KeptTokens::default() };
        let mut ask = |texts: &[&str]| {
            let mut encoded = Vec::new();
            let texts: Vec<Cow<str>> = texts.iter().map(|&text| text.into()).collect();
            let encode = |missing: &[&str]| {
                encoded.extend(missing.iter().map(|&text| text.to_owned()));
                let length = |text: &&str| TokenVectors::new(vec![0], &[text.len() as f32]);
                Ok(missing.iter().map(length).collect())
            };
            let vectors = kept.vectors(&texts, encode).unwrap();
            for (text, vectors) in texts.iter().zip(vectors) {
                assert_eq!(*vectors, TokenVectors::new(vec![0], &[text.len() as f32]));
            }
            assert!(kept.bytes <= 40, "{}", kept.bytes);
            encoded
        };
        assert_eq!(ask(&["aa", "b", "aa"]), ["aa", "b"]);
        assert_eq!(ask(&["b", "ccc"]), ["ccc"]);
        // 8 to 10 bytes each: with five of them, those that were used longest ago are dropped.
        assert_eq!(ask(&["ccc", "dddd", "eeeee"]), ["dddd", "eeeee"]);
        assert_eq!(ask(&["ccc", "aa"]), ["aa"]);
    }
}
