//! One topic of compared runs: its values, and its documents with their rank in each run.

use super::ScoredRun;
use super::sheets::shown_names;
use crate::failure::Outcome;
use crate::labels::LabelSource;
use crate::output::{Cell, Format, Sheet, print_all};
use crate::settings::Settings;
use clariq_collections::Task;
use clariq_core::{DocId, Hint, RequestId, Result, bail};
use clariq_eval::{RankedRun, Score, Ties, parse_measure, side_by_side};

/// The number of documents of each run by a measure without a cut-off.
const USUAL_DEPTH: usize = 10;

pub(super) struct ComparedTopic<'a> {
    /// Its name, in any spelling of the collection.
    pub(super) topic: &'a str,
    /// All runs, the baseline first.
    pub(super) runs: &'a [ScoredRun],
    /// The position of the score whose cut-off is the number of documents of each run.
    pub(super) focus: usize,
    pub(super) ties: Ties,
    pub(super) labels: &'a LabelSource,
    /// The part of the runs that is scored, if one was named.
    pub(super) part: Option<&'a str>,
}

impl ComparedTopic<'_> {
    pub(super) fn print(&self, settings: &Settings) -> Result<Outcome> {
        let format = settings.format;
        let documents = self.documents(format)?;
        let mut sheets = vec![("documents", documents)];
        if !format.is_some_and(Format::is_one_table) {
            sheets.insert(0, ("values", self.values(format)));
        }
        print_all(&sheets, format)?;
        settings.note("ranks in each run, -: not ranked; grade -: not judged");
        if let LabelSource::Split(_, split) = self.labels {
            let words =
                format!("explain --topic {} DOCUMENT --system SYSTEM --split {split}", self.topic);
            settings.advise(&Hint::on_data(words).and(" derives a rank"));
        }
        Ok(Outcome::Done)
    }

    /// The value of each measure in each run.
    fn values(&self, format: Option<Format>) -> Sheet {
        let mut header = vec!["by".to_owned()];
        header.extend(shown_names(self.runs, format));
        let mut sheet = Sheet::new(&header);
        for (index, score) in self.runs[0].scores.iter().enumerate() {
            let mut row = vec![Cell::text(score.name())];
            row.extend(self.runs.iter().map(|run| self.value(&run.scores[index])));
            sheet.row(row);
        }
        sheet
    }

    fn value(&self, score: &Score) -> Cell {
        let mut values = score.values.iter();
        let of_topic = values.find(|(topic, _)| self.is_named(topic));
        of_topic.map_or(Cell::Nothing, |(_, value)| Cell::Number(*value, 4))
    }

    /// The first documents of each run, with their grades, ranks and texts.
    fn documents(&self, format: Option<Format>) -> Result<Sheet> {
        let mut ranked = Vec::with_capacity(self.runs.len());
        let mut task = None;
        for run in self.runs {
            if run.kept.is_some() {
                bail!(&*run.path, "a run for --topic", "kept scores, which have no documents");
            }
            let Some(rankings) = &run.rankings else {
                let found = format!("--task {}", self.part.unwrap_or("of all parts"));
                let hint = "--task ptkb_provenance compares its statements";
                bail!("--topic", "--task passages beside it", found, hint);
            };
            task = task.or(rankings.task);
            ranked.push(RankedRun::ordered(&rankings.run, self.ties));
        }
        let rankings: Vec<&[DocId]> = ranked.iter().map(|run| self.ranking(run)).collect();
        let found = side_by_side(&rankings, self.depth());
        if found.is_empty() {
            let values = &self.runs[0].scores[self.focus].values;
            let example = values.first().map_or("", |(topic, _)| topic.as_str());
            let hint =
                format!("ids look like {example}; without --topic, `clariq compare` names some");
            let topic = &self.topic;
            bail!("--topic", "a topic of the runs", "`{topic}`", hint);
        }
        let judged = self.labels.judged(self.topic, task.map(Task::name).or(self.part))?;
        let mut header = vec!["document".to_owned(), "grade".to_owned()];
        header.extend(shown_names(self.runs, format));
        header.extend(judged.has_texts().then(|| "text".to_owned()));
        let mut sheet = Sheet::new(&header);
        for one in found {
            let (grade, text) = judged.of(&one.document)?;
            let grade = grade.map_or(Cell::Nothing, of_grade);
            let mut row = vec![Cell::text(one.document.as_str()), grade];
            row.extend(one.ranks.iter().map(|rank| rank.map_or(Cell::Nothing, Cell::count)));
            if judged.has_texts() {
                row.push(text.map_or(Cell::Nothing, Cell::text));
            }
            sheet.row(row);
        }
        let last = header.len() - 1;
        Ok(if judged.has_texts() { sheet.fit(last, format) } else { sheet })
    }

    fn is_named(&self, topic: &RequestId) -> bool {
        self.labels.is_named(topic, self.topic)
    }

    /// The documents of the topic in a run; none if the run does not answer it.
    fn ranking<'r>(&self, run: &'r RankedRun) -> &'r [DocId] {
        let topic = run.topics().find(|topic| self.is_named(topic));
        topic.map_or(&[], |topic| run.ranking(topic))
    }

    fn depth(&self) -> usize {
        let measure = parse_measure(&self.runs[0].scores[self.focus].measure);
        measure.ok().and_then(|measure| measure.cutoff()).unwrap_or(USUAL_DEPTH)
    }
}

fn of_grade(grade: i32) -> Cell {
    u64::try_from(grade).map_or_else(|_| Cell::text(grade.to_string()), Cell::Count)
}
