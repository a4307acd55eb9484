//! Statistics of a collection: its size, and the distribution of its labels.

use crate::collection::ClariQ;
use crate::labelled::Labelled;
use crate::question_bank::NO_QUESTION;
use crate::splits;
use clariq_collections::Split;
use clariq_collections::statistics::{Figure, Statistics, WordCounts, figure, mean};
use clariq_core::{Documents, Error};
use serde::Serialize;
use serde_json::json;
use std::collections::HashSet;

/// The figures of one split.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct SplitStats {
    split: &'static str,
    topics: usize,
    /// Facets of the topics; `None` without labels.
    facets: Option<usize>,
    /// Topics with a single facet.
    single: Option<usize>,
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
    request_words: f64,
    /// Mean words per answer that is not empty.
    answer_words: Option<f64>,
}

/// Computes the statistics of a collection.
pub(crate) fn statistics(collection: &ClariQ) -> Result<Statistics, Error> {
    let words = WordCounts::of_documents(&collection.bank)?;
    let splits = splits::ALL.into_iter().filter(|&split| collection.has(split, false));
    let splits = splits.map(|split| SplitStats::of(collection, split));
    let splits = splits.collect::<Result<Vec<_>, Error>>()?;
    let bank = [
        ("questions in the bank", words.texts.into()),
        ("words per question, mean", words.mean.into()),
        ("words of the longest question", words.longest.into()),
    ];
    let named = json!({
        "questions": words.texts,
        "longest_question": words.longest,
        "question_words": words.mean,
        "bank": collection.bank.checksum(),
        "splits": splits,
    });
    let columns: Vec<_> = splits.iter().map(|split| (split.split, split.figures())).collect();
    Ok(Statistics::new(&columns, ("bank", &bank), named))
}

impl SplitStats {
    /// The rows of the table, like those in `ClariQ`'s README.
    fn figures(&self) -> Vec<Figure> {
        let relevant = self.relevant;
        let needs = self.needs;
        vec![
            figure("topics", Some(self.topics)),
            figure("facets", self.facets),
            figure("topics with a single facet", self.single),
            figure("single-turn conversations (rows)", self.rows),
            figure("relevant questions, distinct", self.questions),
            figure("relevant per topic, fewest", relevant.map(|(fewest, ..)| fewest)),
            figure("relevant per topic, mean", relevant.map(|(_, mean, _)| mean)),
            figure("relevant per topic, most", relevant.map(|(.., most)| most)),
            figure("topics where asking nothing is right", self.no_question),
            figure("need label 1 (clear)", needs.map(|[one, ..]| one)),
            figure("need label 2", needs.map(|[_, two, ..]| two)),
            figure("need label 3", needs.map(|[.., three, _]| three)),
            figure("need label 4 (ambiguous)", needs.map(|[.., four]| four)),
            figure("words per request, mean", Some(self.request_words)),
            figure("words per answer, mean", self.answer_words),
        ]
    }

    fn of(collection: &ClariQ, split: Split) -> Result<Self, Error> {
        let data = collection.split(split)?;
        let labels = data.labels.as_ref();
        let relevant = labels.map(Labelled::relevant);
        let answers = |labels: &Labelled| {
            let answers = labels.rows.iter().map(|row| row.answer.as_str());
            WordCounts::of(answers.filter(|answer| !answer.trim().is_empty())).mean
        };
        Ok(Self {
            split: split.name(),
            topics: data.topics.len(),
            facets: labels.map(|labels| labels.facets.len()),
            single: labels.map(single_topics),
            rows: labels.map(|labels| labels.rows.len()),
            questions: labels.map(|labels| {
                labels.rows.iter().map(|row| &row.question).collect::<HashSet<_>>().len()
            }),
            relevant: relevant.as_deref().map(|relevant| {
                let sizes: Vec<usize> = relevant.iter().map(HashSet::len).collect();
                let least = sizes.iter().min();
                let most = sizes.iter().max();
                (least.copied().unwrap_or(0), mean(&sizes), most.copied().unwrap_or(0))
            }),
            needs: labels.map(need_counts),
            no_question: relevant.map(|relevant| {
                relevant.iter().filter(|questions| questions.contains(NO_QUESTION)).count()
            }),
            request_words: WordCounts::of(data.topics.iter().map(|topic| topic.request.as_str()))
                .mean,
            answer_words: labels.map(answers),
        })
    }
}

/// The number of topics with one facet.
fn single_topics(labels: &Labelled) -> usize {
    let mut facets = vec![0; labels.topics.len()];
    for facet in &labels.facets {
        facets[facet.topic] += 1;
    }
    facets.into_iter().filter(|count| *count == 1).count()
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

    #[test]
    fn counts_of_the_sample_add_up() {
        let sample = ClariQ::open(crate::SAMPLE).unwrap();
        let table = statistics(&sample).unwrap();
        assert!(table.rows.iter().all(|row| row.amounts.len() == table.columns.len()));
        assert_eq!(table.columns, ["train", "dev", "test", "bank"]);
        for split in splits::ALL {
            let split = SplitStats::of(&sample, split).unwrap();
            assert_eq!(split.needs.unwrap().iter().sum::<usize>(), split.topics);
            assert!(split.facets.unwrap() > split.topics);
            assert!(split.questions.unwrap() < sample.bank.len());
        }
    }
}
