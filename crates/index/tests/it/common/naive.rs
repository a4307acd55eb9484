//! BM25 as the papers write it: plain loops over texts, sharing no code with the crate.

use clariq_core::{Doc, Hit};
use clariq_index::{Variant, WeightingModel, byte_length};
use std::collections::{HashMap, HashSet};

pub(crate) struct Naive {
    questions: Vec<Vec<String>>,
    frequencies: HashMap<String, usize>,
}

impl Naive {
    pub(crate) fn new(questions: Vec<Vec<String>>) -> Self {
        let mut frequencies = HashMap::new();
        for question in &questions {
            for token in question.iter().collect::<HashSet<_>>() {
                *frequencies.entry(token.clone()).or_insert(0) += 1;
            }
        }
        Self { questions, frequencies }
    }

    fn raw_idf(&self, variant: Variant, token: &str) -> f64 {
        let n = self.counted(variant) as f64;
        let df = self.frequencies[token] as f64;
        match variant {
            // Robertson and Spärck Jones' weight, as `rank_bm25.BM25Okapi._calc_idf` writes it.
            Variant::Okapi => (n - df + 0.5).ln() - (df + 0.5).ln(),
            // Lucene's `BM25Similarity.idf`.
            Variant::Lucene | Variant::LuceneDefault => (1.0 + (n - df + 0.5) / (df + 0.5)).ln(),
            // Lv and Zhai 2011 (CIKM), section 4.
            Variant::Plus => ((n + 1.0) / df).ln(),
            // Lv and Zhai 2011 (SIGIR), section 4.
            Variant::L => ((n + 1.0) / (df + 0.5)).ln(),
            Variant::Ql => unreachable!("it has no idf"),
        }
    }

    /// The number of questions that a variant counts: Lucene's `docCount` leaves out empty ones.
    fn counted(&self, variant: Variant) -> usize {
        let is_counted =
            |question: &&Vec<String>| variant != Variant::LuceneDefault || !question.is_empty();
        self.questions.iter().filter(is_counted).count()
    }

    pub(crate) fn idf(&self, variant: Variant, token: &str) -> f64 {
        let idf = self.raw_idf(variant, token);
        if variant == Variant::Okapi && idf < 0.0 {
            let sum: f64 = self.frequencies.keys().map(|token| self.raw_idf(variant, token)).sum();
            return 0.25 * sum / self.frequencies.len() as f64;
        }
        idf
    }

    /// The score of a question, if it shares a token with the request.
    pub(crate) fn score(
        &self,
        mut model: WeightingModel,
        request: &[String],
        question: &[String],
    ) -> Option<f64> {
        let variant = model.variant();
        let [k1, b, delta, mu] = ["k1", "b", "delta", "mu"]
            .map(|key| model.parameter(key).map_or(f64::NAN, |value| *value));
        let total: usize = self.questions.iter().map(Vec::len).sum();
        let length = match variant {
            Variant::LuceneDefault | Variant::Ql => byte_length(question.len() as u32) as usize,
            _ => question.len(),
        };
        let relative_length = length as f64 * self.counted(variant) as f64 / total as f64;
        let mut score = None;
        for token in request {
            let tf = question.iter().filter(|other| *other == token).count() as f64;
            if tf == 0.0 {
                continue;
            }
            if variant == Variant::Ql {
                let all = self.questions.iter().flatten();
                let count = all.filter(|other| *other == token).count() as f64;
                let probability = (count + 1.0) / (total as f64 + 1.0);
                let smoothing = (mu / (length as f64 + mu)).ln();
                let part = (1.0 + tf / (mu * probability)).ln() + smoothing;
                *score.get_or_insert(0.0) += part.max(0.0);
                continue;
            }
            let length_part = 1.0 - b + b * relative_length;
            let part = match variant {
                Variant::Okapi => tf * (k1 + 1.0) / (tf + k1 * length_part),
                Variant::Lucene | Variant::LuceneDefault => tf / (tf + k1 * length_part),
                Variant::Plus => delta + tf * (k1 + 1.0) / (tf + k1 * length_part),
                Variant::L => {
                    let c = tf / length_part;
                    (k1 + 1.0) * (c + delta) / (k1 + c + delta)
                }
                Variant::Ql => unreachable!("computed above"),
            };
            *score.get_or_insert(0.0) += self.idf(variant, token) * part;
        }
        score
    }

    /// All questions with a token of the request, and if `pad`, the others with score 0, in the
    /// project's order.
    pub(crate) fn ranking(&self, model: WeightingModel, request: &[String], pad: bool) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (number, question) in self.questions.iter().enumerate() {
            let score = self.score(model, request, question).or(pad.then_some(0.0));
            let question = u32::try_from(number).expect("a small bank");
            hits.extend(score.map(|score| Hit { doc: Doc(question), score }));
        }
        hits.sort_by(|x, y| {
            y.score.partial_cmp(&x.score).expect("a number").then(y.doc.cmp(&x.doc))
        });
        hits
    }
}

/// Equal except for rounding.
pub(crate) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// The first mistake in `found` as the first `limit` hits of the ranking `expected`, if there is
/// one. If naive scores are equal except for rounding, any order by the scores found and then by
/// descending number is right.
pub(crate) fn difference(found: &[Hit], expected: &[Hit], limit: usize) -> Option<String> {
    if found.len() != limit.min(expected.len()) {
        return Some(format!("{} hits for {} of {limit}", found.len(), expected.len()));
    }
    let scores: HashMap<u32, f64> = expected.iter().map(|hit| (hit.doc.0, hit.score)).collect();
    let ordered = |pair: &[Hit]| {
        pair[0].score > pair[1].score
            || (pair[0].score == pair[1].score && pair[0].doc > pair[1].doc)
    };
    if let Some(pair) = found.windows(2).find(|pair| !ordered(pair)) {
        return Some(format!("not in order: {pair:?}"));
    }
    found.iter().enumerate().find_map(|(place, hit)| {
        let wanted = expected[place];
        let apart = |other: usize| {
            expected.get(other).is_none_or(|other| !close(other.score, wanted.score))
        };
        let unique = apart(place + 1) && (place == 0 || apart(place - 1));
        let right = close(hit.score, wanted.score)
            && scores.get(&hit.doc.0).is_some_and(|&score| close(score, hit.score))
            && (!unique || hit.doc.0 == wanted.doc.0);
        (!right).then(|| format!("at {place}: {hit:?}, but {wanted:?} is wanted"))
    })
}
