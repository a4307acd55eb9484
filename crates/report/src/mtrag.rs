//! The page about runs of MTRAG: figures, differences, and every conversation with the reference
//! response, the passages of each run, and where a question is asked.

use crate::answer::answer;
use crate::differences::{self, Focus, TopicRow};
use crate::page::{Page, Section};
use crate::request::{PageRequest, RenderedPage};
use crate::scores::{self, ComparedRuns, RunScores};
use crate::words::count;
use clariq_collections::evaluation::{Answers, Evaluation};
use clariq_collections::{Collection, Split};
use clariq_core::{Documents, Error, RequestId, Speaker, bail, fit};
use clariq_eval::{Qrels, RankedRun};
use clariq_track_mtrag::{Answerability, Mtrag, MtragEvaluation, MtragTask, PASSAGES, asks};
use maud::{Markup, html};
use std::collections::HashMap;

/// Passages shown of each run.
const SHOWN: usize = 5;
/// The number of characters shown of a passage.
const EXCERPT: usize = 240;

/// The rankings and responses of a run.
struct RunByRequest<'a> {
    name: &'a str,
    ranked: RankedRun,
    responses: HashMap<RequestId, String>,
}

/// The content of the section of conversations.
struct ConversationSection<'a> {
    mtrag: &'a Mtrag,
    qrels: &'a Qrels,
    compared: &'a ComparedRuns<'a>,
    runs: &'a [RunByRequest<'a>],
    /// The positions of judged requests in the columns.
    judged: &'a HashMap<&'a str, usize>,
    focus: usize,
}

/// The page of runs over a split.
pub(crate) fn page(
    mtrag: &Mtrag,
    split: Split,
    request: &PageRequest,
) -> Result<RenderedPage, Error> {
    if let Some((_, need)) = request.needs.first() {
        let hint = "a need file has scores of its own, and no page";
        bail!("--need", "runs of ClariQ beside it", (need.name()), hint);
    }
    let evaluation = MtragEvaluation::open(mtrag, split)?;
    let mut warnings = evaluation.warnings().to_vec();
    let mut measured = Vec::new();
    let mut runs = Vec::new();
    for run in request.runs {
        let found = evaluation.cases(Answers::File(&run.file), &request.options(run))?.compared();
        let file = run.file.name();
        warnings.extend(found.warnings.iter().map(|warning| format!("{file}: {warning}")));
        measured.push(RunScores { name: &run.name, uses: &run.uses, scores: found.scores });
        let (ranked, responses) = evaluation.answers(&run.file)?;
        runs.push(RunByRequest { name: &run.name, ranked, responses });
    }
    let compared = ComparedRuns::new(measured, request.baseline, request.seed, "request");
    let preferred = if request.measures.is_empty() { evaluation.focus() } else { 0 };
    let focus = compared.telling_of_all(preferred);
    let tasks = mtrag.tasks(split)?;
    let last: HashMap<&str, &str> = tasks
        .iter()
        .map(|task| (task.id.as_str(), task.said.last().map_or("", |said| said.text.as_str())))
        .collect();
    let places: HashMap<&str, usize> =
        tasks.iter().zip(0..).map(|(task, place)| (task.id.as_str(), place)).collect();
    let values = &compared.baseline().scores[focus].values;
    let judged: HashMap<&str, usize> =
        values.iter().zip(0..).map(|((id, _), index)| (id.as_str(), index)).collect();
    let topics = values.iter().map(|(id, _)| TopicRow {
        id: id.as_str(),
        request: last.get(id.as_str()).copied().unwrap_or_default(),
        anchor: format!("request-{}", places.get(id.as_str()).copied().unwrap_or_default()),
    });
    let requests = count(values.len(), "judged request");
    let intro = format!(
        "nDCG and recall, as in trec_eval, over {requests}; one that is not answered counts 0."
    );
    let mut sections = vec![scores::section(&compared, &intro, ["Scores of every run"; 2], &[])];
    sections.extend(differences::section(
        &compared,
        &Focus {
            id: "differences",
            name: "Differences",
            heading: "Differences by request".to_owned(),
            column: focus,
            topics: topics.collect(),
        },
    ));
    let qrels = mtrag.qrels(split, PASSAGES)?.unwrap_or_default();
    let content = ConversationSection {
        mtrag,
        qrels: &qrels,
        compared: &compared,
        runs: &runs,
        judged: &judged,
        focus,
    }
    .section(tasks)?;
    sections.push(Section { id: "conversations", name: "Conversations", content });
    let shown = count(compared.runs.len(), "run");
    let remark = mtrag.remark(split);
    let remark = remark.map_or_else(String::new, |remark| format!(" Note: {remark}."));
    let page = Page {
        title: request.title,
        lead: format!("{shown} on {requests} of {split}{}.{remark}", compared.against()),
        answer: answer(&compared, focus),
        sections,
        footer: html! { "Split " (split.name()) ", seed " (request.seed) "." },
        style: include_str!("ikat/style.css"),
    };
    Ok(RenderedPage { html: page.render(), topics: tasks.len(), warnings })
}

impl ConversationSection<'_> {
    fn section(&self, tasks: &[MtragTask]) -> Result<Markup, Error> {
        let mut tasks: Vec<(usize, &MtragTask)> = tasks.iter().enumerate().collect();
        tasks.sort_by(|a, b| self.difference(b.1).total_cmp(&self.difference(a.1)));
        let mut shown = Vec::with_capacity(tasks.len());
        for (place, task) in tasks {
            shown.push(self.conversation(place, task)?);
        }
        Ok(html! {
            section id="conversations" {
                h2 { "Conversations" }
                p {
                    "Open a request to see the conversation, the reference response, and the first "
                    "passages of each run. " span.mark { "✓" } " marks a relevant passage. A request "
                    "that is " b { "underspecified" } " has a clarifying question as its reference. "
                    "Requests on which runs differ most from the baseline come first."
                }
                @for conversation in shown { (conversation) }
            }
        })
    }

    /// The largest difference of a run from the baseline; none for requests that are not judged.
    fn difference(&self, task: &MtragTask) -> f64 {
        let judged = self.judged.get(task.id.as_str());
        judged.map_or(0.0, |index| self.compared.difference(self.focus, *index))
    }

    fn conversation(&self, place: usize, task: &MtragTask) -> Result<Markup, Error> {
        let asks = task.answerability == Some(Answerability::Underspecified);
        let mut answers = Vec::with_capacity(self.runs.len());
        for run in self.runs {
            answers.push(self.answer(run, task)?);
        }
        let last = task.said.last().map_or("", |said| said.text.as_str());
        Ok(html! {
            details.topic id={ "request-" (place) } {
                summary {
                    span.number { (task.id) } " "
                    span.request { (last) } " "
                    @if let Some(label) = task.answerability {
                        @if asks { b { "underspecified" } } @else { (label.name().to_lowercase()) }
                        " "
                    }
                    @if let Some(index) = self.judged.get(task.id.as_str()) {
                        (self.compared.change(self.focus, *index))
                    }
                }
                div.inside {
                    @for said in &task.said {
                        p {
                            b { @if said.speaker == Speaker::User { "User: " } @else { "System: " } }
                            (said.text)
                        }
                    }
                    div.answer {
                        h3 { @if asks { "Reference: a question" } @else { "Reference" } }
                        @for text in &task.targets { p.response { (text) } }
                        @if task.targets.is_empty() { p.note { "No response." } }
                    }
                    @for answer in answers { (answer) }
                }
            }
        })
    }

    fn answer(&self, run: &RunByRequest, task: &MtragTask) -> Result<Markup, Error> {
        let ranking = run.ranked.ranking(&task.id);
        let documents = self.mtrag.documents(task.domain.task());
        let mut passages = Vec::new();
        for id in ranking.iter().take(SHOWN) {
            let documents: Option<&dyn Documents> = documents.as_ref().ok().copied();
            let found = documents.and_then(|it| it.find(id.as_str()).map(|doc| it.text(doc)));
            let text = found.transpose()?.map_or_else(
                || "(not in the collection)".to_owned(),
                |text| fit(text.trim(), EXCERPT).into_owned(),
            );
            let judgements = self.qrels.topic(&task.id);
            let is_relevant = judgements.is_some_and(|judged| judged.is_relevant(id, 1));
            passages.push((id, text, is_relevant));
        }
        Ok(html! {
            div.answer {
                h3 { (run.name) }
                @if let Some(response) = run.responses.get(&task.id) {
                    @if asks(response) { p.note { "Asks:" } }
                    p.response { (response) }
                }
                @if passages.is_empty() { p.note { "No passage." } }
                ol {
                    @for (id, text, is_relevant) in passages {
                        li.hit[is_relevant] {
                            @if is_relevant {
                                span.mark aria-hidden="true" { "✓ " }
                                span.unseen { "relevant: " }
                            }
                            (text) " " span.id { (id) }
                        }
                    }
                }
            }
        })
    }
}
