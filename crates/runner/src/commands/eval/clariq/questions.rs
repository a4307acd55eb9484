//! Recall of relevant questions.

use super::{both, is_large, leaderboard_row, open, place, print, warn_of_record};
use crate::commands::eval::arguments::{EvalArgs, TieRule};
use crate::commands::eval::{say, write_per_topic};
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::clariq::evaluation::{
    CUTOFFS, QuestionRelevance, question_relevance, recall_interval,
};
use clariq_eval::{Diagnosis, Ties, diagnose};
use clariq_files::{Source, python_float, read_run, write_atomically};
use std::io::{self, Write};
use std::path::Path;

pub(crate) fn questions(
    settings: &Settings,
    arguments: &EvalArgs,
    path: &Path,
) -> Result<(), Failure> {
    let (collection, split) = open(settings, arguments, path, &[path.to_owned()])?;
    let source = Source::new(path);
    let (labels, run) = both(is_large(path), || collection.labelled(split), || read_run(&source));
    let (labels, run) = (&labels?, run?);
    warn_of_record(settings, "run", &[path.to_owned()], &source)?;
    let ties = if arguments.ties == Some(TieRule::Id) { Ties::Id } else { Ties::Official };
    let topics = labels.topics.iter().map(|topic| &topic.id);
    let (diagnosis, scores) = both(
        is_large(path),
        || diagnose(&run, topics, Some(&collection.bank)),
        || question_relevance(&run, labels, ties),
    );
    warn(settings, arguments.ties, &diagnosis);
    if arguments.ties == Some(TieRule::Interval) {
        let interval = recall_interval(&run, labels);
        let mut sheet = Sheet::new(&["measure", "lowest", "highest"]);
        for (index, cutoff) in CUTOFFS.iter().enumerate() {
            let figures = [interval.lowest[index], interval.highest[index]]
                .map(|figure| Cell::Figure(figure, 6));
            sheet.row([vec![Cell::text(format!("Recall{cutoff}"))], figures.to_vec()].concat());
        }
        return Ok(sheet.print(settings.format)?);
    }
    if let Some(out) = &arguments.out_file {
        write_atomically(out, |file| write_per_topic(&per_topic(&scores), file))?;
    }
    let figures: Vec<(String, f64)> = CUTOFFS
        .iter()
        .zip(scores.means())
        .map(|(cutoff, mean)| (format!("Recall{cutoff}"), mean))
        .collect();
    if arguments.leaderboard {
        return Ok(writeln!(io::stdout(), "{}", leaderboard_row(&scores.means()))?);
    }
    let placed = place::sheet(settings, arguments, &collection.bank, split, path, &figures);
    print(settings, &figures, placed, |name, figure| format!("{name}: {}", python_float(figure)))
}

fn per_topic(scores: &QuestionRelevance) -> Vec<(&'static str, Vec<(String, f64)>)> {
    let names = ["Recall5", "Recall10", "Recall20", "Recall30"];
    let column = |index: usize| {
        scores.topics.iter().map(|(topic, recalls)| (topic.to_string(), recalls[index])).collect()
    };
    names.into_iter().enumerate().map(|(index, name)| (name, column(index))).collect()
}

fn warn(settings: &Settings, ties: Option<TieRule>, diagnosis: &Diagnosis) {
    if ties.is_none_or(|ties| ties == TieRule::Official) && diagnosis.dropped_lines > 0 {
        settings.note(&format!(
            "warning: {} lines of {} topics repeat a score and are dropped, as the official scorer does; \
             --ties interval shows what their order is worth",
            diagnosis.dropped_lines, diagnosis.dropped_topics
        ));
    }
    let counts = [
        (diagnosis.duplicates, "lines repeat a question of their topic"),
        (diagnosis.missing_topics, "topics are not answered and count 0"),
        (diagnosis.unknown_topics, "topics are not in the labels and are not looked at"),
        (diagnosis.unknown_questions, "lines name a question that is not in the bank"),
    ];
    say(settings, &counts);
}
