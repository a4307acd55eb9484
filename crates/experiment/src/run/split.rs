//! A split of a collection as the input of a run, which is a TREC run, or a submission with the runs
//! of statements and of passages beside it.

use super::input::{RunEntry, RunInput, SkippedRecords, put_ranking};
use crate::plan::{PASSAGES, STATEMENTS};
use crate::ranker::{Answer, Statements, UserRequest};
use crate::session::Session;
use crate::systems::SystemConfig;
use clariq_collections::{AnswerForm, Collection, Sight, SubmittedAnswer, Submitter, ranking_path};
use clariq_core::{
    Doc, Documents, Hit, Location, Observer, Ranking, Request, RequestId, Result, bail, problem,
    sha256_hex,
};
use clariq_files::{Run, RunLine, Source, parse_run, put_run_lines, strictly, strictly_decreasing};
use clariq_rank::Uses;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const SPLIT_WITH_TEAM: &str = "a split whose submissions name the team (iKAT: 2025)";

/// The requests of a split, optionally with the candidates of another run.
pub struct SplitInput<'a> {
    collection: &'a dyn Collection,
    split: &'static str,
    given: Option<(&'a CandidateRun, CandidatesByRequest)>,
    team: Option<String>,
    output: SplitOutput<'a>,
}

enum SplitOutput<'a> {
    /// Rankings of these documents for these requests.
    Rankings(&'a dyn Documents, Vec<Request>),
    /// Answers. The requests are not in memory.
    Answers(AnswerOutput<'a>),
}

struct AnswerOutput<'a> {
    sight: Sight,
    form: Box<dyn AnswerForm + 'a>,
    statements: &'a dyn Documents,
    passages: &'a dyn Documents,
    most: usize,
    requests: usize,
}

impl<'a> SplitInput<'a> {
    /// Opens a split for a system, optionally with the candidates of a run.
    pub fn open(
        session: &Session<'a>,
        loaded: &SystemConfig,
        split: &'static str,
        given: Option<&'a CandidateRun>,
    ) -> Result<Self> {
        let collection = session.collection;
        let candidates = |documents, ids: &mut dyn Iterator<Item = &RequestId>| {
            let of = |given: &CandidateRun| given.candidates(documents, ids, session.observer);
            given.map(of).transpose()
        };
        let Some(config) = loaded.plan.answer() else {
            if session.options.team.is_some() {
                let found = format!("`{}`, which writes a TREC run", loaded.name);
                bail!("--team", "a system that answers", found, "leave it out");
            }
            let documents = session.documents;
            let requests = collection.requests(split, session.task)?;
            let mut requests = requests.collect::<Result<Vec<Request>, _>>()?;
            let mut ids = requests.iter().map(|request| &request.id);
            let given = given.zip(candidates(documents, &mut ids)?);
            if let Some((_, candidates)) = &given {
                for request in &mut requests {
                    give(candidates, request);
                }
            }
            let output = SplitOutput::Rankings(documents, requests);
            return Ok(Self { collection, split, given, team: None, output });
        };
        loaded.check_tasks(collection)?;
        let class = config.class;
        let sight = Sight {
            class,
            earlier_conversations: loaded.uses.contains(&Uses::EarlierConversations),
            relevant_statements: loaded.uses.contains(&Uses::RelevantStatements),
        };
        let submitter = Submitter {
            class: loaded.class().unwrap_or(class),
            team: session.options.team.clone(),
            responds: loaded.writes(),
        };
        let form = collection.answer_form(split, submitter).ok_or_else(|| {
            let expected = "a collection that answers are handed in for";
            let hint = "--data names a folder with the files of iKAT; `clariq rank` and `clariq ask` \
                        answer from any documents";
            problem!(&*loaded.file, expected, (collection.kind()), hint)
        })?;
        if session.options.team.is_some() && !form.names_team() {
            bail!("--team", SPLIT_WITH_TEAM, "--split {split}", "leave it out");
        }
        let (statements, passages) =
            (collection.documents(STATEMENTS)?, collection.documents(PASSAGES)?);
        let requests = collection.requests_seen(split, PASSAGES, sight)?;
        let ids = requests.map(|request| Ok(request?.id)).collect::<Result<Vec<_>>>()?;
        let given = given.zip(candidates(passages, &mut ids.iter())?);
        let requests = ids.len();
        let most = config.passages;
        let output = SplitOutput::Answers(AnswerOutput {
            sight,
            form,
            statements,
            passages,
            most,
            requests,
        });
        let team = session.options.team.clone();
        Ok(Self { collection, split, given, team, output })
    }

    fn put_answer(
        &self,
        answers: &AnswerOutput,
        out: &mut [Vec<u8>],
        &RunEntry { index, request, outcome, tag, .. }: &RunEntry,
    ) -> io::Result<u64> {
        let (Some(answer), [submission, of_statements, of_passages]) = (&outcome.answer, out)
        else {
            return Ok(0);
        };
        let Answer { responses, statements, chosen, .. } = answer;
        let id = &request.id;
        let passages = &outcome.ranking;
        let best = &passages[..passages.len().min(answers.most)];
        let answer = SubmittedAnswer { request: id, responses, statements: chosen, passages: best };
        answers.form.put(submission, index, tag, &answer)?;
        let rankings = [
            (of_statements, STATEMENTS, answers.statements, statements),
            (of_passages, PASSAGES, answers.passages, passages),
        ];
        for (out, task, documents, ranking) in rankings {
            let name = |hit: &Hit| {
                let doc = documents.id(hit.doc);
                let name = self.collection.name_in_runs(id.as_str(), task, &doc).into_owned();
                (name, hit.score)
            };
            put_run_lines(out, id, ranking.iter().map(name), tag)?;
        }
        Ok((statements.len() + passages.len()) as u64)
    }
}

/// The name of a file without its folder, and its SHA-256.
fn digest(source: &Source) -> Result<(String, String)> {
    let name = source.name();
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    Ok((file, sha256_hex(&source.read()?.bytes)))
}

impl RunInput for SplitInput<'_> {
    fn name(&self) -> &str {
        self.split
    }

    fn location(&self) -> String {
        format!("{} in {}", self.split, self.collection.location())
    }

    fn known(&self) -> Option<usize> {
        Some(match &self.output {
            SplitOutput::Rankings(_, requests) => requests.len(),
            SplitOutput::Answers(answers) => answers.requests,
        })
    }

    fn in_memory(&self) -> Option<&[Request]> {
        match &self.output {
            SplitOutput::Rankings(_, requests) => Some(requests),
            SplitOutput::Answers(_) => None,
        }
    }

    /// Describes the file of the split, and for a system that uses other requests, all splits.
    fn describe(&self, loaded: &SystemConfig, record: &mut Value) -> Result<()> {
        let collection = self.collection;
        let (file, sha256) = digest(&collection.source(self.split)?)?;
        record["split"] = self.split.into();
        record["topics"] = json!({ "file": file, "sha256": sha256 });
        if let Some((given, _)) = &self.given {
            let file = given.run.name.rsplit(['/', '\\']).next();
            record["candidates"] = json!({ "file": file, "sha256": given.sha256 });
        }
        if let Some(team) = &self.team {
            record["team"] = team.as_str().into();
        }
        let others = [Uses::TrainLabels, Uses::DevLabels, Uses::Batch];
        if others.iter().any(|uses| loaded.uses.contains(uses)) {
            record["splits"] = json!({});
            for split in collection.splits().iter().filter(|split| collection.has(split)) {
                record["splits"][*split] = digest(&collection.source(split)?)?.1.into();
            }
        }
        Ok(())
    }

    fn count(&self, record: &mut Value, requests: u64, _skipped: &SkippedRecords) {
        record["topics"]["count"] = requests.into();
    }

    fn read(&self, send: &mut dyn FnMut(UserRequest) -> ControlFlow<()>) -> Result<SkippedRecords> {
        let skipped = SkippedRecords::default();
        let answers = match &self.output {
            SplitOutput::Rankings(_, requests) => {
                for request in requests {
                    if send(request.clone().into()).is_break() {
                        break;
                    }
                }
                return Ok(skipped);
            }
            SplitOutput::Answers(answers) => answers,
        };
        let seen = |task| self.collection.requests_seen(self.split, task, answers.sight);
        // The requests of the two tasks differ only in their candidates.
        for (of_user, request) in seen(STATEMENTS)?.zip(seen(PASSAGES)?) {
            let statements = Statements::Known(of_user?.candidates);
            let mut request = request?;
            if let Some((_, candidates)) = &self.given {
                give(candidates, &mut request);
            }
            if send(UserRequest { request, statements }).is_break() {
                break;
            }
        }
        Ok(skipped)
    }

    fn files(&self, path: &Path) -> Vec<(&'static str, PathBuf)> {
        if let SplitOutput::Rankings(..) = self.output {
            return vec![("run", path.to_owned())];
        }
        let rankings = [STATEMENTS, PASSAGES].map(|task| (task, ranking_path(path, task)));
        [("submission", path.to_owned())].into_iter().chain(rankings).collect()
    }

    fn put(&self, out: &mut [Vec<u8>], entry: &RunEntry) -> io::Result<u64> {
        match &self.output {
            SplitOutput::Rankings(documents, _) => put_ranking(&mut out[0], *documents, entry),
            SplitOutput::Answers(answers) => self.put_answer(answers, out, entry),
        }
    }

    fn put_end(&self, file: usize, out: &mut dyn Write) -> io::Result<()> {
        match &self.output {
            SplitOutput::Answers(answers) if file == 0 => answers.form.put_end(out),
            _ => Ok(()),
        }
    }
}

/// Rankings as a TREC run.
pub fn as_run(documents: &dyn Documents, requests: &[Request], rankings: &[Ranking]) -> Run {
    let mut run = Run::default();
    for (request, ranking) in requests.iter().zip(rankings) {
        let scores: Vec<f64> = ranking.iter().map(|hit| hit.score).collect();
        for (hit, score) in ranking.iter().zip(strictly_decreasing(&scores)) {
            let document = documents.id(hit.doc).as_ref().into();
            run.lines.push(RunLine { topic: request.id.clone(), document, score, line: 0 });
        }
    }
    run
}

/// A run whose documents are candidates. Its scores are ignored.
pub struct CandidateRun {
    run: Run,
    sha256: String,
}

impl CandidateRun {
    /// Reads a run.
    pub fn read(source: &Source) -> Result<Self> {
        let input = source.read()?;
        let sha256 = sha256_hex(&input.bytes);
        Ok(Self { run: strictly(|sink| parse_run(&input, sink))?, sha256 })
    }

    /// The ids of all its documents.
    pub fn ids(&self) -> HashSet<&str> {
        self.run.lines.iter().map(|line| line.document.as_str()).collect()
    }

    /// The candidates of each request that are in `documents`. Warns about missing documents and about
    /// requests without candidates.
    ///
    /// # Errors
    ///
    /// No request or no document of the run is known.
    fn candidates(
        &self,
        documents: &dyn Documents,
        requests: &mut dyn Iterator<Item = &RequestId>,
        observer: &dyn Observer,
    ) -> Result<CandidatesByRequest> {
        let mut of = CandidatesByRequest::new();
        let name = &self.run.name;
        let mut unknown = 0;
        let mut first = None;
        for line in &self.run.lines {
            if let Some(doc) = documents.find(line.document.as_str()) {
                of.entry(line.topic.to_string()).or_default().push(doc);
            } else {
                unknown += 1;
                first.get_or_insert(line);
            }
        }
        if let Some(line) = first.filter(|_| of.is_empty()) {
            let at = Location::line(name, line.line);
            let found = format!("`{}`, and none of the others either", line.document);
            let hint = "--passages names files with the texts of the documents of that run";
            bail!(at, "documents whose texts are known", found, hint);
        }
        for docs in of.values_mut() {
            docs.sort_unstable();
            docs.dedup();
        }
        let mut all = 0;
        let mut without = 0;
        for request in requests {
            all += 1;
            without += usize::from(!of.contains_key(request.as_str()));
        }
        if all > 0 && without == all {
            let topic = of.keys().min().map_or("", String::as_str);
            let found = format!("only for others, such as `{topic}`");
            let hint = "--split names the requests that the run answers";
            bail!(&**name, "candidates for requests of the split", found, hint);
        }
        if without > 0 {
            observer
                .note(&format!("warning: {name}: no candidates for {without} of {all} requests"));
        }
        if let Some(line) = first {
            let id = &line.document;
            let all = self.run.lines.len();
            observer.note(&format!(
                "warning: {name}: {unknown} of {all} lines name documents without a text, such as \
                 `{id}`, which are left out"
            ));
        }
        Ok(of)
    }
}

/// Candidates by the ids of requests.
type CandidatesByRequest = HashMap<String, Vec<Doc>>;

/// Sets the candidates of a request; none, if the run has none for it.
fn give(candidates: &CandidatesByRequest, request: &mut Request) {
    request.candidates = Some(candidates.get(request.id.as_str()).cloned().unwrap_or_default());
}
