//! Statistics of a collection: its size, and how its labels are spread.

use crate::clariq::collection::{ClariQ, Split};
use crate::clariq::labelled::Labelled;
use crate::statistics::{Amount, Statistics, StatisticsRow, count_words, mean};
use clariq_core::Error;
use serde::Serialize;
use std::collections::HashSet;

/// The figures of one split.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct SplitStats {
    /// Which split.
    split: Split,
    /// Requests.
    topics: usize,
    /// Information needs behind them; `None` without labels.
    facets: Option<usize>,
    /// Rows of the labelled file: single-turn conversations.
    rows: Option<usize>,
    /// Different questions judged relevant to some topic.
    questions: Option<usize>,
    /// Fewest, mean and most relevant questions of a topic.
    relevant: Option<(usize, f64, usize)>,
    /// Topics with the need labels 1, 2, 3 and 4.
    needs: Option<[usize; 4]>,
    /// Topics for which asking nothing is one of the right choices.
    no_question: Option<usize>,
    /// Mean words per request, separated by white space.
    request_words: f64,
    /// Mean words per answer that is not empty.
    answer_words: Option<f64>,
}

/// The figures of a collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Counts {
    /// Questions in the bank, the empty one included.
    questions: usize,
    /// Words of the longest question.
    longest_question: usize,
    /// Mean words per question.
    question_words: f64,
    /// The bank's checksum.
    bank: clariq_core::Checksum,
    /// The splits that the folder has.
    splits: Vec<SplitStats>,
}

/// A figure of a split.
type Figure = (&'static str, fn(&SplitStats) -> Option<Amount>);

/// The rows of the table, like those in `ClariQ`'s README.
const FIGURES: &[Figure] = &[
    ("topics", |split| count(split.topics)),
    ("facets", |split| count(split.facets?)),
    ("single-turn conversations (rows)", |split| count(split.rows?)),
    ("relevant questions, distinct", |split| count(split.questions?)),
    ("relevant per topic, fewest", |split| count(split.relevant?.0)),
    ("relevant per topic, mean", |split| Some(Amount::Mean(split.relevant?.1))),
    ("relevant per topic, most", |split| count(split.relevant?.2)),
    ("topics where asking nothing is right", |split| count(split.no_question?)),
    ("need label 1 (clear)", |split| count(split.needs?[0])),
    ("need label 2", |split| count(split.needs?[1])),
    ("need label 3", |split| count(split.needs?[2])),
    ("need label 4 (ambiguous)", |split| count(split.needs?[3])),
    ("words per request, mean", |split| Some(Amount::Mean(split.request_words))),
    ("words per answer, mean", |split| Some(Amount::Mean(split.answer_words?))),
];

#[expect(clippy::unnecessary_wraps, reason = "as every figure of a split is")]
fn count(count: usize) -> Option<Amount> {
    Some(Amount::Count(count))
}

/// Counts a collection.
pub(crate) fn statistics(collection: &ClariQ) -> Result<Statistics, Error> {
    let counts = counts(collection)?;
    let mut columns: Vec<&str> = counts.splits.iter().map(|split| split.split.name()).collect();
    columns.push("bank");
    let mut rows = Vec::with_capacity(FIGURES.len() + 3);
    for (name, figure) in FIGURES {
        let mut amounts: Vec<Option<Amount>> = counts.splits.iter().map(figure).collect();
        amounts.push(None);
        rows.push(StatisticsRow { name, amounts });
    }
    let bank = [
        ("questions in the bank", Amount::Count(counts.questions)),
        ("words per question, mean", Amount::Mean(counts.question_words)),
        ("words of the longest question", Amount::Count(counts.longest_question)),
    ];
    for (name, amount) in bank {
        let mut amounts = vec![None; counts.splits.len()];
        amounts.push(Some(amount));
        rows.push(StatisticsRow { name, amounts });
    }
    let named = serde_json::to_value(&counts).unwrap_or_default();
    Ok(Statistics { columns, rows, named })
}

fn counts(collection: &ClariQ) -> Result<Counts, Error> {
    let rows = collection.bank.rows();
    let words: Vec<usize> = rows.iter().map(|row| count_words(&row.text)).collect();
    let splits = Split::ALL.into_iter().filter(|&split| collection.has(split, false));
    let splits =
        splits.map(|split| split_statistics(collection, split)).collect::<Result<_, _>>()?;
    Ok(Counts {
        questions: collection.bank.len(),
        longest_question: words.iter().copied().max().unwrap_or(0),
        question_words: mean(&words),
        bank: collection.bank.checksum().clone(),
        splits,
    })
}

fn split_statistics(collection: &ClariQ, split: Split) -> Result<SplitStats, Error> {
    let data = collection.split(split)?;
    let requests: Vec<usize> =
        data.topics.iter().map(|topic| count_words(&topic.request)).collect();
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
                labels.rows.iter().map(|row| count_words(&row.answer)).filter(|&n| n > 0).collect();
            mean(&answers)
        }),
    })
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
        let sample = ClariQ::open(DataDir::Sample).unwrap();
        let table = statistics(&sample).unwrap();
        assert!(table.rows.iter().all(|row| row.amounts.len() == table.columns.len()));
        assert_eq!(table.columns, ["train", "dev", "test", "bank"]);
        let statistics = counts(&sample).unwrap();
        for split in &statistics.splits {
            assert_eq!(split.needs.unwrap().iter().sum::<usize>(), split.topics);
            assert!(split.facets.unwrap() > split.topics);
            assert!(split.questions.unwrap() < statistics.questions);
        }
    }
}
