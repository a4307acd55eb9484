//! Topics with their scores, the documents that each run found, and the relevant ones.

use crate::page::{mark_rank, scroll};
use crate::scores::ComparedRuns;
use crate::words::{count, figure};
use clariq_core::{DocId, Documents, Error, RequestId, fit};
use clariq_eval::{Qrels, RankedRun};
use clariq_files::TopicJudgements;
use maud::{Markup, html};

/// Documents shown for each run.
const SHOWN: usize = 10;
/// Relevant documents shown for each topic.
const RELEVANT: usize = 20;
/// Characters shown of each document.
const CHARACTERS: usize = 240;
/// Topics shown with documents; further topics only have scores, to limit the size of the page.
const MOST_TOPICS: usize = 500;

/// The content of the section.
pub(super) struct TopicSection<'a> {
    pub(super) compared: &'a ComparedRuns<'a>,
    /// The column that topics are ordered by.
    pub(super) column: usize,
    /// The rankings of runs, in the order of the page.
    pub(super) rankings: &'a [RankedRun],
    pub(super) qrels: &'a Qrels,
    /// The texts, if the collection is known.
    pub(super) documents: Option<&'a dyn Documents>,
}

/// A document of a topic.
struct DocumentRow {
    id: DocId,
    text: String,
    grade: Option<i32>,
}

impl TopicSection<'_> {
    /// The section of topics. Those on which runs differ most from the baseline come first.
    pub(super) fn section<'r>(
        &self,
        request: impl Fn(&RequestId) -> &'r str,
    ) -> Result<Markup, Error> {
        let values = &self.compared.baseline().scores[self.column].values;
        let mut topics = Vec::new();
        for (place, &index) in self.compared.by_difference(self.column).iter().enumerate() {
            let topic = &values[index].0;
            let found = if place < MOST_TOPICS {
                self.found(topic)?
            } else {
                html! {}
            };
            topics.push(html! {
                details.topic id={ "topic-" (index) } {
                    summary {
                        span.number { (topic) } " " span.request { (request(topic)) } " "
                        (self.compared.change(self.column, index))
                    }
                    div.inside {
                        (scroll(&format!("Scores of topic {topic}"), &self.score_table(index)))
                        (found)
                    }
                }
            });
        }
        Ok(html! {
            section id="topics" {
                h2 { "Topics and their documents" }
                p {
                    "Open a topic to see the documents of each run and the relevant ones. "
                    span.mark { "✓" } " and bold mark a relevant document, " span.cross { "✗" }
                    " one that a run did not find."
                    @if self.compared.runs.len() > 1 {
                        " Topics on which runs differ most from the baseline come first."
                    }
                    @if values.len() > MOST_TOPICS {
                        " Documents are shown for the first " (MOST_TOPICS) "."
                    }
                }
                @for topic in topics { (topic) }
            }
        })
    }

    fn score_table(&self, index: usize) -> Markup {
        html! {
            table {
                thead {
                    tr {
                        th scope="col" { "run" }
                        @for column in &self.compared.baseline().scores {
                            th scope="col" { (column.measure) }
                        }
                    }
                }
                tbody {
                    @for run in &self.compared.runs {
                        tr {
                            th scope="row" { (run.name) }
                            @for column in &run.scores { td { (figure(column.values[index].1)) } }
                        }
                    }
                }
            }
        }
    }

    /// The relevant documents of a topic with their ranks, and the first documents of each run.
    fn found(&self, topic: &RequestId) -> Result<Markup, Error> {
        let mut relevant = self.relevant(topic);
        let all = relevant.len();
        relevant.truncate(RELEVANT);
        let mut rows = Vec::new();
        for id in relevant {
            let ranks = self
                .rankings
                .iter()
                .map(|run| run.ranking(topic).iter().position(|found| *found == id));
            rows.push((self.show(topic, &id)?, ranks.collect::<Vec<_>>()));
        }
        let mut lists = Vec::new();
        for (run, ranked) in self.compared.runs.iter().zip(self.rankings) {
            let ranking = ranked.ranking(topic);
            let mut first = Vec::new();
            for id in ranking.iter().take(SHOWN) {
                first.push(self.show(topic, id)?);
            }
            lists.push(list(run.name, &first, ranking.len()));
        }
        Ok(html! {
            @if !rows.is_empty() {
                (scroll(&format!("Relevant documents of topic {topic}"), &self.ranks(&rows, all)))
            }
            div.lists { @for list in lists { (list) } }
        })
    }

    /// The relevant documents of a topic, highest grades first.
    fn relevant(&self, topic: &RequestId) -> Vec<DocId> {
        let judgements = self.qrels.topic(topic);
        let documents = judgements.into_iter().flat_map(TopicJudgements::documents);
        let mut relevant: Vec<(i32, &DocId)> = documents
            .filter(|(_, grade)| *grade > 0)
            .map(|(document, grade)| (grade, document))
            .collect();
        relevant.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        relevant.into_iter().map(|(_, document)| document.clone()).collect()
    }

    fn ranks(&self, rows: &[(DocumentRow, Vec<Option<usize>>)], all: usize) -> Markup {
        html! {
            table.texts {
                caption {
                    @if rows.len() < all {
                        (rows.len()) " of " (count(all, "relevant document")) " and their ranks"
                    } @else {
                        "Relevant documents and their ranks"
                    }
                }
                thead {
                    tr {
                        th.text scope="col" { "document" }
                        th scope="col" { "grade" }
                        @for run in &self.compared.runs { th scope="col" { (run.name) } }
                    }
                }
                tbody {
                    @for (document, ranks) in rows {
                        tr {
                            th.text scope="row" { (words(document)) }
                            td { @if let Some(grade) = document.grade { (grade) } }
                            @for rank in ranks { td { (mark_rank(*rank)) } }
                        }
                    }
                }
            }
        }
    }

    fn show(&self, topic: &RequestId, id: &DocId) -> Result<DocumentRow, Error> {
        let found = self
            .documents
            .and_then(|documents| documents.find(id.as_str()).map(|doc| documents.text(doc)));
        let text = match (found.transpose()?, self.documents) {
            (Some(text), _) if text.trim().is_empty() => "(no words)".to_owned(),
            (Some(text), _) => {
                let words: Vec<&str> = text.split_whitespace().take(CHARACTERS).collect();
                fit(&words.join(" "), CHARACTERS).into_owned()
            }
            (None, Some(_)) => "(not in the collection)".to_owned(),
            (None, None) => String::new(),
        };
        let grade = self.qrels.topic(topic).and_then(|judgements| judgements.grade(id));
        Ok(DocumentRow { id: id.clone(), text, grade })
    }
}

fn list(name: &str, first: &[DocumentRow], length: usize) -> Markup {
    html! {
        div.list {
            h3 { (name) }
            @if first.is_empty() {
                p { "No answer." }
            } @else {
                p.note { "The first " (first.len()) " of " (count(length, "document")) }
            }
            ol {
                @for document in first {
                    @if document.grade.is_some_and(|grade| grade > 0) {
                        li.hit {
                            span.mark aria-hidden="true" { "✓ " }
                            span.unseen { "relevant: " } (words(document))
                        }
                    } @else {
                        li { (words(document)) }
                    }
                }
            }
        }
    }
}

fn words(document: &DocumentRow) -> Markup {
    html! { (document.text) " " span.id { (document.id) } }
}
