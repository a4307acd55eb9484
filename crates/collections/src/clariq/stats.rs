//! Statistics of a collection: its size, and how its labels are spread.

use crate::clariq::collection::{Collection, Split};

use crate::clariq::labelled::Labelled;
use clariq_core::Error;
use serde::Serialize;
use std::collections::HashSet;

/// The figures of one split.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SplitStats {
    /// Which split.
    pub split: Split,
    /// Requests.
    pub topics: usize,
    /// Information needs behind them; `None` without labels.
    pub facets: Option<usize>,
    /// Rows of the labelled file: single-turn conversations.
    pub rows: Option<usize>,
    /// Different questions judged relevant to some topic.
    pub questions: Option<usize>,
    /// Fewest, mean and most relevant questions of a topic.
    pub relevant: Option<(usize, f64, usize)>,
    /// Topics with the need labels 1, 2, 3 and 4.
    pub needs: Option<[usize; 4]>,
    /// Topics for which asking nothing is one of the right choices.
    pub no_question: Option<usize>,
    /// Mean words per request, separated by white space.
    pub request_words: f64,
    /// Mean words per answer that is not empty.
    pub answer_words: Option<f64>,
}

/// The figures of a collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistics {
    /// Questions in the bank, the empty one included.
    pub questions: usize,
    /// Words of the longest question.
    pub longest_question: usize,
    /// Mean words per question.
    pub question_words: f64,
    /// The bank's checksum.
    pub bank: clariq_core::Checksum,
    /// The splits that the folder has.
    pub splits: Vec<SplitStats>,
}

/// Counts a collection.
pub fn statistics(collection: &Collection) -> Result<Statistics, Error> {
    let words: Vec<usize> = collection.bank.rows().iter().map(|row| words(&row.text)).collect();
    let splits = Split::ALL.into_iter().filter(|&split| collection.has(split, false));
    let splits =
        splits.map(|split| split_statistics(collection, split)).collect::<Result<_, _>>()?;
    Ok(Statistics {
        questions: collection.bank.len(),
        longest_question: words.iter().copied().max().unwrap_or(0),
        question_words: mean(&words),
        bank: collection.bank.checksum().clone(),
        splits,
    })
}

fn split_statistics(collection: &Collection, split: Split) -> Result<SplitStats, Error> {
    let data = collection.split(split)?;
    let requests: Vec<usize> = data.topics.iter().map(|topic| words(&topic.request)).collect();
    let labels = data.labels.as_ref();
    Ok(SplitStats {
        split,
        topics: data.topics.len(),
        facets: labels.map(|labels| labels.facets.len()),
        rows: labels.map(|labels| labels.rows.len()),
        questions: labels.map(|labels| {
            labels.rows.iter().map(|row| &row.question).collect::<HashSet<_>>().len()
        }),
        relevant: labels.map(relevant_counts),
        needs: labels.map(need_counts),
        no_question: labels.map(|labels| {
            labels
                .relevant()
                .iter()
                .filter(|questions| questions.contains(crate::clariq::NO_QUESTION))
                .count()
        }),
        request_words: mean(&requests),
        answer_words: labels.map(|labels| {
            let answers: Vec<usize> =
                labels.rows.iter().map(|row| words(&row.answer)).filter(|&n| n > 0).collect();
            mean(&answers)
        }),
    })
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn mean(counts: &[usize]) -> f64 {
    if counts.is_empty() { 0.0 } else { counts.iter().sum::<usize>() as f64 / counts.len() as f64 }
}

fn relevant_counts(labels: &Labelled) -> (usize, f64, usize) {
    let sizes: Vec<usize> = labels.relevant().iter().map(HashSet::len).collect();
    let (least, most) = (sizes.iter().min(), sizes.iter().max());
    (least.copied().unwrap_or(0), mean(&sizes), most.copied().unwrap_or(0))
}

fn need_counts(labels: &Labelled) -> [usize; 4] {
    let mut counts = [0; 4];
    for need in labels.topics.iter().filter_map(|topic| topic.need) {
        counts[usize::from(need.get()) - 1] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::DataDir;

    #[test]
    fn counts_of_the_sample_add_up() {
        let statistics = statistics(&Collection::open(DataDir::Sample).unwrap()).unwrap();
        assert_eq!(statistics.splits.len(), 3);
        for split in &statistics.splits {
            assert_eq!(split.needs.unwrap().iter().sum::<usize>(), split.topics);
            assert!(split.facets.unwrap() > split.topics);
            assert!(split.questions.unwrap() < statistics.questions);
        }
    }
}
