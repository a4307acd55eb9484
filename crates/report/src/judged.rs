//! The page of runs that are scored by judgements: measures of the literature, differences, and the
//! documents of every topic.

mod topics;

use self::topics::TopicSection;
use crate::answer::answer;
use crate::differences::{self, Focus};
use crate::page::{Page, Section};
use crate::request::{PageRequest, RenderedPage};
use crate::scores::{self, ComparedRuns, RunScores};
use crate::words::count;
use clariq_collections::evaluation::{Answers, Evaluation};
use clariq_core::{Documents, Error, RequestId, bail};
use clariq_eval::{Qrels, RankedRun};
use clariq_files::Run;
use maud::html;
use std::collections::HashMap;

/// Judgements, and what is known of the collection that they belong to.
pub struct JudgedPage<'a> {
    pub evaluation: &'a dyn Evaluation,
    pub qrels: &'a Qrels,
    /// The name of the split, or of the judgements.
    pub split: &'a str,
    /// The user's last utterance of each request.
    pub requests: HashMap<RequestId, String>,
    /// The texts, if the collection is known.
    pub documents: Option<&'a dyn Documents>,
}

impl JudgedPage<'_> {
    pub fn page(&self, request: &PageRequest) -> Result<RenderedPage, Error> {
        if let Some((_, need)) = request.needs.first() {
            let hint = "leave it out: this collection has no need labels";
            bail!("--need", "runs of a collection with need labels", (need.name()), hint);
        }
        let mut warnings = self.evaluation.warnings().to_vec();
        let mut measured = Vec::new();
        let mut rankings = Vec::new();
        for run in request.runs {
            let answers = Answers::File(&run.file);
            let found = self.evaluation.cases(answers, &request.options(run))?.compared();
            let of_run = found.rankings.map_or_else(Run::default, |rankings| rankings.run);
            rankings.push(RankedRun::new(&of_run));
            let file = run.file.name();
            warnings.extend(found.warnings.iter().map(|warning| format!("{file}: {warning}")));
            measured.push(RunScores { name: &run.name, uses: &run.uses, scores: found.scores });
        }
        let compared = ComparedRuns::new(measured, request.baseline, request.seed, "topic");
        let topics = compared.baseline().scores[0].values.len();
        let html = self.render(request, &compared, &rankings)?;
        Ok(RenderedPage { html, topics, warnings })
    }

    fn render(
        &self,
        request: &PageRequest,
        compared: &ComparedRuns,
        rankings: &[RankedRun],
    ) -> Result<String, Error> {
        let column = compared.telling_of_all(0);
        let values = &compared.baseline().scores[column].values;
        let text_of = |topic: &RequestId| self.requests.get(topic).map_or("", String::as_str);
        let topics = count(values.len(), "topic");
        let intro = format!("Standard measures, as in trec_eval, over {topics}.");
        let titles = ["Scores of every run"; 2];
        let mut sections = vec![scores::section(compared, &intro, titles, &[])];
        let shown = values.iter().map(|(topic, _)| (topic.as_str(), text_of(topic)));
        sections.extend(differences::section(compared, &Focus::by_topic(column, shown)));
        let topics_of = TopicSection {
            compared,
            column,
            rankings,
            qrels: self.qrels,
            documents: self.documents,
        };
        let content = topics_of.section(text_of)?;
        sections.push(Section { id: "topics", name: "Topics", content });
        let runs = count(compared.runs.len(), "run");
        let split = self.split;
        let page = Page {
            title: request.title,
            lead: format!("{runs} on {topics} of {split}{}.", compared.against()),
            answer: answer(compared, column),
            sections,
            footer: html! {
                "Split " (split) ", seed " (request.seed)
                ". Equal scores are in the order of descending ids."
            },
            style: "",
        };
        Ok(page.render())
    }
}
