//! Similarities of documents to the last utterance of a conversation and to what led to it.
//!
//! A document's score is a sum of similarities, which is its similarity to the sum of the vectors
//! but for the length of that sum: the same order for every request.

use crate::context::Context;
use crate::error::Error;
use crate::space::Space;
use crate::stages::history::{Said, ages, check_weights};
use crate::table::Table;
use clariq_core::{Doc, Explanation, Progress, Ranking, Request, rank_by_score};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The last utterances of the user among which the nearest counts.
const NEAREST_OF: usize = 4;

/// What is added to the similarity to the last utterance, which counts 1.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DenseHistory {
    /// The last utterance behind what led to it: the utterance before, the last sentence of the
    /// response to that, and the utterance itself, as one text.
    #[serde(default)]
    context: f64,
    /// The nearest of the last four utterances of the user.
    #[serde(default)]
    nearest: f64,
    /// What the system said one turn ago.
    #[serde(default)]
    system: f64,
    /// What `system` is multiplied by for each turn that has come since; 0 looks at the last
    /// response alone.
    #[serde(default)]
    decay: f64,
}

/// A text of a conversation, and what its similarity counts.
struct Part<'a> {
    what: &'static str,
    text: Cow<'a, str>,
    weight: f64,
}

impl DenseHistory {
    /// Takes the key `history` out of a stage's table, if it is there.
    pub(super) fn take(table: &mut Table) -> Result<Option<Self>, Error> {
        let at = table.at("history");
        let Some(history) = table.take_table("history")? else { return Ok(None) };
        let history: Self = history.read()?;
        let Self { context, nearest, system, decay } = history;
        check_weights(&[context, nearest, system, decay], at)?;
        Ok(Some(history))
    }

    /// The texts whose similarities are summed.
    fn parts<'a>(&self, said: &Said<'a>) -> Vec<Part<'a>> {
        let part = |what, text, weight| Part { what, text, weight };
        let mut parts = vec![
            part("last utterance", Cow::Borrowed(said.now), 1.0),
            part("last utterance in its context", Cow::Owned(said.in_context()), self.context),
        ];
        for (text, age) in said.system.iter().zip(ages(self.decay)) {
            parts.push(part("response", Cow::Borrowed(*text), self.system * age));
        }
        parts.retain(|part| part.weight != 0.0 && !part.text.trim().is_empty());
        parts
    }

    /// The utterances of which the nearest counts.
    fn nearest_of<'a>(&self, said: &Said<'a>) -> Vec<&'a str> {
        if self.nearest == 0.0 {
            return Vec::new();
        }
        let all = [said.now].into_iter().chain(said.user.iter().copied());
        all.take(NEAREST_OF).filter(|text| !text.trim().is_empty()).collect()
    }

    /// Ranks `docs` for each request.
    pub(super) fn rank(
        &self,
        context: &Context,
        space: &Space,
        requests: &[Request],
        docs: &[Doc],
        depth: usize,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let mut rankings = Vec::with_capacity(requests.len());
        for request in requests {
            let scores = self.scores(context, space, &Said::of(request), docs)?;
            rankings.push(rank_by_score(docs, scores.into_iter(), depth));
            progress(1);
        }
        Ok(rankings)
    }

    fn scores(
        &self,
        context: &Context,
        space: &Space,
        said: &Said,
        docs: &[Doc],
    ) -> Result<Vec<f32>, Error> {
        let (parts, nearest) = (self.parts(said), self.nearest_of(said));
        let texts = parts.iter().map(|part| part.text.as_ref());
        let texts: Vec<&str> = texts.chain(nearest.iter().copied()).collect();
        let likeness = space.to_documents_each(context.documents, context.models, &texts, docs)?;
        let mut scores = vec![0.0_f32; docs.len()];
        for (part, row) in parts.iter().zip(likeness.rows()) {
            let weight = part.weight as f32;
            scores.iter_mut().zip(row).for_each(|(score, &like)| *score += weight * like);
        }
        for (column, score) in scores.iter_mut().enumerate().filter(|_| !nearest.is_empty()) {
            let rows = (parts.len()..texts.len()).map(|row| likeness[[row, column]]);
            *score += self.nearest as f32 * rows.fold(f32::NEG_INFINITY, f32::max);
        }
        Ok(scores)
    }

    /// Explains what each text adds: its weight times its similarity to the document.
    pub(super) fn explain(
        &self,
        context: &Context,
        space: &Space,
        request: &Request,
        doc: Doc,
    ) -> Result<Explanation, Error> {
        let said = Said::of(request);
        let mut explained = Vec::new();
        for Part { what, text, weight } in self.parts(&said) {
            let likeness = likeness(context, space, &text, doc)?;
            let what = format!("{what}: {weight:.3} × {likeness:.6} {text:?}");
            explained.push(Explanation::value(weight * likeness, what));
        }
        let mut nearest: Option<(f64, &str)> = None;
        for text in self.nearest_of(&said) {
            let likeness = likeness(context, space, text, doc)?;
            if nearest.is_none_or(|(best, _)| likeness > best) {
                nearest = Some((likeness, text));
            }
        }
        if let Some((likeness, text)) = nearest {
            let weight = self.nearest;
            let what = format!("nearest utterance: {weight:.3} × {likeness:.6} {text:?}");
            explained.push(Explanation::value(weight * likeness, what));
        }
        let score = explained.iter().map(|part| part.value).sum();
        Ok(Explanation::of(score, "sum over what was said, weight × similarity", explained))
    }
}

fn likeness(context: &Context, space: &Space, text: &str, doc: Doc) -> Result<f64, Error> {
    let docs = [doc];
    let likeness = space.to_documents_each(context.documents, context.models, &[text], &docs)?;
    Ok(likeness[[0, 0]].into())
}
