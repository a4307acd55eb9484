//! The check of a folder, which reports all problems at once.

use crate::domains::Domain;
use crate::folder::{
    FormKind, check_single, corpus, form_file, qrels_file, tasks_file, tasks_name, unread,
};
use crate::ids::key;
use crate::passages::for_each_passage;
use crate::splits;
use crate::tasks::{TaskContext, TaskFile};
use crate::{forms, tasks};
use clariq_collections::{CheckReport, DataDir, Split};
use clariq_core::{Error, problem};
use clariq_files::{FileContent, Judgement, Sink, parse_qrels};
use std::collections::{HashMap, HashSet};

/// Reads every file of a folder and reports all problems.
pub(crate) fn check(data: &DataDir) -> Result<CheckReport, Error> {
    let mut report = CheckReport::default();
    report.note(check_single(data))?;
    let mut passages: HashMap<Domain, HashSet<String>> = HashMap::new();
    let mut requests: Vec<(Split, HashSet<String>)> = Vec::new();
    let mut asked: HashSet<Domain> = HashSet::new();
    for split in splits::ALL {
        let mut ids = HashSet::new();
        let name = tasks_name(split);
        report.read(&name, tasks_file(data, split), |input, sink| {
            let TaskFile { tasks, contexts } = tasks::parse(input, sink);
            ids.extend(tasks.iter().map(|task| key(task.id.as_str())));
            asked.extend(tasks.iter().map(|task| task.domain));
            check_contexts(&contexts, input, sink, &mut passages);
        })?;
        for domain in Domain::ALL {
            for form in FormKind::ALL {
                let Some(file) = form_file(data, split, domain, form) else { continue };
                asked.insert(domain);
                report.read("", Some(file), |input, sink| {
                    let read = forms::parse(input, sink);
                    ids.extend(read.iter().map(|(id, _)| key(id)));
                })?;
            }
        }
        requests.push((split, ids));
    }
    check_corpora(data, &asked, &mut report, &mut passages)?;
    for (split, ids) in &requests {
        for domain in Domain::ALL {
            let Some(file) = qrels_file(data, *split, domain) else { continue };
            let passages = passages.get(&domain);
            report.read("", Some(file), |input, sink| {
                check_qrels(input, sink, ids, passages);
            })?;
        }
    }
    // Problems of the folder were reported above.
    report.add_unread(&unread(data).unwrap_or_default());
    report.findings.sort(&report.files);
    Ok(report)
}

/// Notes passages with a second text: the first one counts.
fn check_contexts(
    contexts: &[TaskContext],
    input: &FileContent,
    sink: Sink,
    passages: &mut HashMap<Domain, HashSet<String>>,
) {
    let mut texts: HashMap<(Domain, &str), &str> = HashMap::new();
    for TaskContext { domain, id, text, line } in contexts {
        passages.entry(*domain).or_default().insert(id.clone());
        let first = *texts.entry((*domain, id)).or_insert(text);
        if first != text {
            let at = (&*input.name, *line);
            let hint = "without the collection in corpora/passage_level, the first text counts";
            let found = format!("`{id}` with another text");
            sink(problem!(at, "every passage with one text", found, hint).warning());
        }
    }
}

fn check_corpora(
    data: &DataDir,
    asked: &HashSet<Domain>,
    report: &mut CheckReport,
    passages: &mut HashMap<Domain, HashSet<String>>,
) -> Result<(), Error> {
    for domain in Domain::ALL {
        let Some(file) = corpus(data, domain) else {
            if asked.contains(&domain) {
                report.absent.push(format!("corpora/passage_level/{}.jsonl.zip", domain.name()));
            }
            continue;
        };
        let name = file.name();
        report.files.push(name.clone());
        let mut ids = HashSet::new();
        let findings = &mut report.findings;
        let read = for_each_passage(&file, &mut |passage| {
            match passage {
                Ok(passage) if ids.insert(passage.id.clone()) => {}
                Ok(passage) => {
                    let found = format!("`{}` again", passage.id);
                    let hint = "it is an error if the texts differ";
                    let at = (&*name, passage.line);
                    findings.add(problem!(at, "every passage once", found, hint).warning());
                }
                Err(problem) => findings.add(*problem),
            }
            Ok(())
        });
        report.note(read)?;
        passages.insert(domain, ids);
    }
    Ok(())
}

fn check_qrels(
    input: &FileContent,
    sink: Sink,
    requests: &HashSet<String>,
    passages: Option<&HashSet<String>>,
) {
    for Judgement { topic, document, .. } in parse_qrels(input, sink) {
        if !requests.contains(&key(&topic)) {
            let found = format!("`{topic}`");
            let hint = "it counts as a request without an answer";
            sink(problem!(&*input.name, "topics that are requests", found, hint).warning());
        }
        if !passages.is_some_and(|passages| passages.contains(document.as_str())) {
            let found = format!("`{document}`");
            let hint = "it cannot be found, and counts as missed";
            let expected = "judgements of passages of the folder";
            sink(problem!(&*input.name, expected, found, hint).warning());
        }
    }
}
