//! Stage `dense`: ranks documents by their similarity to what was said.
//!
//! Without `weights` and `history`, everything said is one text. With `weights`, a document's score
//! is the weighted mean of its similarities to what was said; with `history`, the sum of those to
//! the last utterance and to what led to it. Such a sum is the similarity to the sum of the vectors,
//! but for its length: the same order for every request. It is made of one row of similarities per
//! text, because few texts make many conversations: a file of 1.7 million has some 12,000 of them.

use crate::build::Build;
use crate::context::Context;
use crate::space::{Space, SpaceConfig};
use crate::stage::{About, Batch, Stage};
use crate::stages::conversation::{Conversation, VectorHistory, explain};
use clariq_core::{Best, Doc, Explanation, Progress, Ranking, Request, Result, Role, Said, bail};
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;

/// So many similarities of texts to documents are kept at a time: 32 MB.
const ROOM: usize = 1 << 23;

/// Texts are compared with so many documents at a time at least, where there are as many. Of a large
/// collection the vectors are read for many texts together.
const FEWEST_DOCS: usize = 1 << 13;

/// How many texts are compared with these documents at a time.
fn most_texts(docs: &[Doc]) -> usize {
    ROOM / docs.len().clamp(1, FEWEST_DOCS)
}

/// The documents that so many texts are compared with at a time, one part after the other.
fn portions(docs: &[Doc], texts: usize) -> impl Iterator<Item = &[Doc]> {
    docs.chunks((ROOM / texts.max(1)).max(1))
}

/// What documents are ranked over.
#[derive(Clone, Copy)]
struct Over<'a> {
    context: &'a Context<'a>,
    space: &'a Space,
    /// The documents, in ascending order.
    docs: &'a [Doc],
}

/// Retrieves: whatever ranking comes in is replaced. Documents without a text are left out.
#[derive(Serialize)]
struct Dense {
    /// How many documents are kept; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<NonZeroUsize>,
    #[serde(flatten)]
    conversation: Option<Conversation<VectorHistory>>,
    /// Where nothing that the user said is as near as this to any document, nothing is ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_likeness: Option<f32>,
    /// A document as near as this to what the system said is the same in other words, and left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<f32>,
    space: SpaceConfig,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    depth: Option<NonZeroUsize>,
    min_likeness: Option<f32>,
    repeat: Option<f32>,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let space = build.space()?;
    let conversation = Conversation::take(&mut build.table)?;
    let locations = ["min_likeness", "repeat"].map(|key| (key, build.table.at(key)));
    let Given { depth, min_likeness, repeat } = build.table.read()?;
    if !matches!(conversation, Some(Conversation::Weights(_))) {
        let given = [min_likeness, repeat].into_iter().zip(locations);
        if let Some((_, (key, at))) = given.into_iter().find(|(value, _)| value.is_some()) {
            let expected = format!("a table `weights`, whose texts `{key}` looks at");
            let hint = "configs/dense-conversation.toml is an example";
            bail!(at, expected, "a stage without it", hint);
        }
    }
    Ok(Box::new(Dense { depth, conversation, min_likeness, repeat, space }))
}

/// The distinct texts of some requests, and for each request their rows and weights.
#[derive(Default)]
struct Texts<'a> {
    distinct: Vec<&'a str>,
    rows: HashMap<&'a str, usize>,
    requests: Vec<Vec<Weighed>>,
}

/// A text of a request: its row among the distinct texts, and its weight.
struct Weighed {
    row: usize,
    role: Role,
    weight: f32,
}

impl<'a> Texts<'a> {
    /// Adds a request, unless there would be more than `most` texts.
    fn add(&mut self, said: &'a [Said], most: usize) -> bool {
        let new = said.iter().filter(|said| !self.rows.contains_key(&*said.text)).count();
        if !self.requests.is_empty() && self.distinct.len() + new > most {
            return false;
        }
        let mut weighed = Vec::with_capacity(said.len());
        for said in said {
            let row = *self.rows.entry(&said.text).or_insert_with(|| {
                self.distinct.push(&said.text);
                self.distinct.len() - 1
            });
            weighed.push(Weighed { row, role: said.role, weight: said.weight as f32 });
        }
        self.requests.push(weighed);
        true
    }
}

/// Similarities of texts (rows) to some of the documents (columns).
struct Likenesses<'d> {
    docs: &'d [Doc],
    rows: Array2<f32>,
}

/// A request's documents so far.
struct Ranked {
    best: Best,
    /// Those of the best that say what the system said.
    repeats: HashSet<Doc>,
}

fn add(scores: &mut [f32], row: ArrayView1<f32>, weight: f32) {
    scores.iter_mut().zip(row).for_each(|(score, &like)| *score += weight * like);
}

impl Dense {
    /// The texts that count, or that documents are compared with; `None` where everything said is
    /// one text. By the table `weights`, a score is a mean: the weights above 0 sum to 1.
    fn said<'a>(&self, request: &'a Request) -> Option<Vec<Said<'a>>> {
        let conversation = self.conversation.as_ref()?;
        let mut said = conversation.said(request);
        if let Conversation::Weights(_) = conversation {
            let compared = |said: &Said| {
                self.repeat.is_some() && said.role.is_system() && !said.text.trim().is_empty()
            };
            said.retain(|said| said.counts() || compared(said));
            let whole: f64 = said.iter().map(|said| said.weight.max(0.0)).sum();
            for said in &mut said {
                said.weight /= whole;
            }
        }
        Some(said)
    }

    /// Ranks the same documents for several requests.
    fn rank(&self, batch: &Batch, requests: &[Request], docs: &[Doc]) -> Result<Vec<Ranking>> {
        let context = batch.context;
        let space = &*context.space(&self.space)?;
        let depth = self.depth.map_or(usize::MAX, NonZeroUsize::get);
        // All have the same candidates, or none has any.
        let depth = requests.first().map_or(depth, |request| request.depth(depth));
        let said: Option<Vec<Vec<Said>>> =
            requests.iter().map(|request| self.said(request)).collect();
        if let Some(said) = said {
            let over = Over { context, space, docs };
            return self.rank_texts(over, &said, depth, batch.progress);
        }
        let texts: Vec<Cow<str>> = requests.iter().map(Request::flatten).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let vectors = space.encode(context.models, &texts)?;
        let (all, most) = (texts.len(), most_texts(docs));
        let mut rankings = Vec::with_capacity(all);
        for start in (0..all).step_by(most) {
            let some = start..all.min(start + most);
            let mut best = vec![Best::new(depth); some.len()];
            for docs in portions(docs, some.len()) {
                let scores = space.similarities(&texts, &vectors, some.clone(), docs);
                let add = |(row, best): (usize, &mut Best)| {
                    best.add(docs, scores.row(row).iter().copied());
                };
                best.par_iter_mut().enumerate().for_each(add);
            }
            (batch.progress)(some.len() as u64);
            rankings.par_extend(best.into_par_iter().map(Best::ranking));
        }
        Ok(rankings)
    }

    /// Ranks documents for requests in which these texts were said.
    fn rank_texts(
        &self,
        over: Over,
        said: &[Vec<Said>],
        depth: usize,
        progress: Progress,
    ) -> Result<Vec<Ranking>> {
        let most = most_texts(over.docs);
        let mut rankings = Vec::with_capacity(said.len());
        while rankings.len() < said.len() {
            let start = rankings.len();
            let mut texts = Texts::default();
            let added = said[start..].iter().take_while(|said| texts.add(said, most)).count();
            rankings.extend(self.rank_block(over, &texts, depth)?);
            progress(added as u64);
        }
        Ok(rankings)
    }

    /// Ranks documents for requests with these texts, a part of the documents after the other.
    fn rank_block(&self, over: Over, texts: &Texts, depth: usize) -> Result<Vec<Ranking>> {
        let Over { context, space, docs } = over;
        let all = 0..texts.distinct.len();
        let vectors = space.encode(context.models, &texts.distinct)?;
        let mut highest = vec![f32::NEG_INFINITY; all.len()];
        let none = || Ranked { best: Best::new(depth), repeats: HashSet::new() };
        let mut ranked: Vec<Ranked> = texts.requests.iter().map(|_| none()).collect();
        for docs in portions(docs, all.len().max(texts.requests.len())) {
            let rows = space.similarities(&texts.distinct, &vectors, all.clone(), docs);
            for (highest, row) in highest.iter_mut().zip(rows.rows()) {
                *highest = row.iter().copied().fold(*highest, f32::max);
            }
            let likenesses = Likenesses { docs, rows };
            let add = |scores: &mut Vec<f32>, (index, ranked): (usize, &mut Ranked)| {
                self.add(&likenesses, &texts.requests[index], scores, ranked);
            };
            ranked.par_iter_mut().enumerate().for_each_init(Vec::new, add);
        }
        let is_near = |text: &Weighed| {
            let near = self.min_likeness.is_none_or(|least| highest[text.row] >= least);
            near && !text.role.is_system()
        };
        let finish = |(Ranked { best, repeats }, texts): (Ranked, &Vec<Weighed>)| {
            if matches!(self.conversation, Some(Conversation::Weights(_)))
                && !texts.iter().any(is_near)
            {
                return Ranking::new();
            }
            let mut ranking = best.ranking();
            ranking.retain(|hit| !repeats.contains(&hit.doc));
            ranking
        };
        Ok(ranked.into_par_iter().zip(&texts.requests).map(finish).collect())
    }

    /// Adds documents to those of a request with these texts. What `scores` holds is overwritten.
    fn add(
        &self,
        Likenesses { docs, rows }: &Likenesses,
        texts: &[Weighed],
        scores: &mut Vec<f32>,
        Ranked { best, repeats }: &mut Ranked,
    ) {
        scores.clear();
        scores.resize(docs.len(), 0.0);
        let (nearest, summed): (Vec<_>, Vec<_>) =
            texts.iter().partition(|text| text.role == Role::Nearest);
        for text in summed {
            add(scores, rows.row(text.row), text.weight);
        }
        if let Some(Weighed { weight, .. }) = nearest.first() {
            for (column, score) in scores.iter_mut().enumerate() {
                let likeness = nearest.iter().map(|text| rows[[text.row, column]]);
                *score += weight * likeness.fold(f32::NEG_INFINITY, f32::max);
            }
        }
        best.add(docs, scores.iter().copied());
        if let Some(same) = self.repeat {
            let asked = texts.iter().filter(|text| text.role.is_system());
            let asked: Vec<_> = asked.map(|text| rows.row(text.row)).collect();
            for hit in best.hits() {
                // The columns are in the order of the documents' numbers.
                let Ok(column) = docs.binary_search(&hit.doc) else { continue };
                if !asked.iter().all(|row| row[column] < same) {
                    repeats.insert(hit.doc);
                }
            }
        }
    }

    /// Explains what each text of a conversation adds to the score of a document.
    fn explain_texts(&self, over: Over, said: &[Said], doc: Doc) -> Result<Explanation> {
        let mut parts = Vec::new();
        let mut nearest: Option<Explanation> = None;
        for said in said {
            let part = self.explain_text(over, said, doc)?;
            if said.role != Role::Nearest {
                parts.push(part);
            } else if nearest.as_ref().is_none_or(|best| part.value > best.value) {
                nearest = Some(part);
            }
        }
        parts.extend(nearest);
        let what = "sum over what was said, weight × similarity";
        let mut explained = Explanation::sum(what, parts);
        if let Some(least) = self.min_likeness {
            let of_user = said.iter().filter(|said| !said.role.is_system());
            let texts: Vec<&str> = of_user.map(|said| said.text.as_ref()).collect();
            let Over { context, space, docs } = over;
            let vectors = space.encode(context.models, &texts)?;
            let mut nearest = f32::NEG_INFINITY;
            for docs in portions(docs, texts.len()) {
                let rows = space.similarities(&texts, &vectors, 0..texts.len(), docs);
                nearest = rows.iter().copied().fold(nearest, f32::max);
            }
            let what = format!(
                "similarity of what the user said to the nearest document, at least {least} needed"
            );
            explained.parts.push(Explanation::value(nearest.into(), what));
        }
        Ok(explained)
    }

    fn explain_text(&self, over: Over, said: &Said, doc: Doc) -> Result<Explanation> {
        let channels = over.space.explain(over.context.models, &said.text, doc)?;
        let likeness = channels.value;
        let mut explained = explain(said, channels.parts);
        if let Some(same) = self.repeat
            && said.role.is_system()
            && likeness >= f64::from(same)
        {
            let what = format!("left out: from {same}, it says the same");
            explained.parts.push(Explanation::value(likeness, what));
        }
        Ok(explained)
    }
}

impl Stage for Dense {
    fn about(&self) -> About {
        let models = self.space.models();
        About { models, ..About::new("dense", self) }
    }

    fn apply(&self, batch: &Batch, _: Vec<Ranking>) -> Result<Vec<Ranking>> {
        // Opened before the first request, so that a run knows its weights before it ranks.
        let space = batch.context.space(&self.space)?;
        let mut rankings = Vec::with_capacity(batch.requests.len());
        for requests in batch.requests.chunk_by(|one, next| one.candidates == next.candidates) {
            let own = requests.first().and_then(|request| request.candidates.as_deref());
            rankings.extend(self.rank(batch, requests, own.unwrap_or(&space.with_text))?);
        }
        Ok(rankings)
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let space = one.context.space(&self.space)?;
        let Some(request) = one.requests.first() else { return Ok(None) };
        let Some(said) = self.said(request) else {
            return space.explain(one.context.models, &request.flatten(), doc).map(Some);
        };
        let docs = match &request.candidates {
            Some(own) => own.as_slice(),
            None => &space.with_text,
        };
        let over = Over { context: one.context, space: &space, docs };
        self.explain_texts(over, &said, doc).map(Some)
    }
}
