//! The organisers' scorer of retrieval: the means of each domain, and their mean weighted by the
//! number of requests that a run answers in each.
//!
//! A mean is over the requests that are judged and answered; a request that is not answered is left
//! out, and one that is answered with nothing counts 0. A passage whose id is that of the request is
//! dropped. Means are rounded to five digits before they are weighted. Source:
//! `scripts/evaluation/run_retrieval_eval.py` of the repository, which calls `pytrec_eval`.

mod domain_scores;
mod placed;
mod responses;

use crate::asking::{by_best_score, by_need, by_response};
use crate::domains::Domain;
use crate::ids::key;
use crate::opened::{Mtrag, PASSAGES};
use crate::submission::{GivenResponse, MtragSubmission, is_submission};
use clariq_collections::evaluation::{
    Answers, ByQrels, Cases, Evaluation, Rankings, ScoreOptions, ScoreTable, ignored_lines,
    is_need_file, other_scale, parse_needs,
};
use clariq_collections::{Collection, Split};
use clariq_core::{Error, Problem, ProblemKind, RequestId, bail, counted, problem};
use clariq_eval::{Aggregate, Diagnosis, RankedRun, Score, Ties, diagnose, evaluate, exact_mean};
use clariq_files::{FileContent, Run, Source, TopicJudgements, parse_run, strictly};
pub(crate) use domain_scores::names;
use domain_scores::{
    DomainScores, MEASURES, RankedPassages, five_digits, measures, table, weighted_mean,
};
use placed::Placed;
pub use responses::ResponseScores;
use responses::response_table;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A run, and the requests that it answers, those without a passage included.
struct Answered {
    run: Run,
    requests: HashSet<RequestId>,
    /// The responses of a submission that has some.
    responses: HashMap<RequestId, GivenResponse>,
    placed: Placed,
}

impl Answered {
    /// True for responses alone: a submission to Task B, whose passages have no scores.
    fn ranks_nothing(&self) -> bool {
        self.run.lines.is_empty() && !self.responses.is_empty()
    }

    /// The score of the best passage of each request.
    fn best(&self) -> HashMap<&RequestId, f64> {
        let mut best: HashMap<&RequestId, f64> = HashMap::new();
        for line in &self.run.lines {
            let score = best.entry(&line.topic).or_insert(line.score);
            *score = score.max(line.score);
        }
        best
    }
}

/// A split with its judgements.
pub struct MtragEvaluation<'a> {
    mtrag: &'a Mtrag,
    split: Split,
    /// The judgements; `None` if only labels were released, which say whether to ask.
    by_qrels: Option<ByQrels<'a>>,
    domains: HashMap<&'a RequestId, Domain>,
    warnings: Vec<String>,
}

impl<'a> MtragEvaluation<'a> {
    /// Reads the judgements of a split.
    pub fn open(mtrag: &'a Mtrag, split: Split) -> Result<Self, Error> {
        let tasks = mtrag.tasks(split)?;
        let has_labels = tasks.iter().any(|task| task.answerability.is_some());
        let is_judged = mtrag.qrels(split, PASSAGES)?.is_some();
        let mut by_qrels = None;
        if is_judged || !has_labels {
            let judged = by_qrels.insert(ByQrels::open(mtrag, split, PASSAGES)?);
            judged.usual = measures()?;
        }
        let domains = tasks.iter().map(|task| (&task.id, task.domain)).collect();
        let mut evaluation = Self { mtrag, split, by_qrels, domains, warnings: Vec::new() };
        evaluation.warnings.extend(evaluation.missing_passages());
        Ok(evaluation)
    }

    fn no_judgements(&self, what: &str) -> Problem {
        let expected = format!("judgements of {what} in {}", self.split);
        let hint = "retrieval_tasks of the repository has those that were released";
        problem!(self.mtrag.location(), expected, "none", hint).kind(ProblemKind::MissingFile)
    }

    fn judged(&self) -> impl Iterator<Item = (&RequestId, &TopicJudgements)> {
        self.by_qrels.iter().flat_map(|by_qrels| by_qrels.qrels.topics())
    }

    /// A warning about relevant passages that cannot be found.
    fn missing_passages(&self) -> Option<String> {
        let mut missing = 0;
        let mut all = 0;
        for (request, judged) in self.judged() {
            let domain = self.domains.get(request).and_then(|it| self.mtrag.passages.of(*it));
            for (id, _) in judged.documents() {
                all += 1;
                let is_there = domain.is_some_and(|it| it.documents.find(id.as_str()).is_some());
                missing += usize::from(!is_there);
            }
        }
        (missing > 0).then(|| {
            format!(
                "{missing} of {all} relevant passages of {} are not in the folder and count as \
                 missed; corpora/passage_level of the repository has them",
                self.split
            )
        })
    }

    /// The rankings of a file and, in a submission, the responses.
    pub fn answers(
        &self,
        source: &Source,
    ) -> Result<(RankedRun, HashMap<RequestId, String>), Error> {
        let Answered { run, responses, .. } = self.read(&source.read()?)?;
        let responses = responses.into_iter().map(|(id, response)| (id, response.text)).collect();
        Ok((RankedRun::new(&run), responses))
    }

    /// Whether to ask by a need file, if the file is one: two fields, an id and a need.
    fn score_needs(&self, input: &FileContent) -> Result<Option<Cases>, Error> {
        if !is_need_file(input) || is_submission(input) {
            return Ok(None);
        }
        let ids = self.mtrag.ids(self.split)?;
        let mut needs = HashMap::new();
        let read = parse_needs(input)?;
        for (id, need) in read.needs {
            let Some(number) = need.parse().ok().filter(|need: &f64| need.is_finite()) else {
                let hint = "from 2 on, the system asks, as with ClariQ's needs of 1 to 4";
                bail!(&*input.name, "a number as need of `{id}`", "`{need}`", hint);
            };
            if let Some(id) = ids.get(&key(id.as_str())) {
                needs.insert(*id, number);
            }
        }
        if needs.is_empty() {
            let hint = "is it the file of another split? --split names it";
            let expected = format!("needs of requests of {}", self.split);
            bail!(&*input.name, expected, "none", hint);
        }
        let tables = vec![by_need(self.mtrag.tasks(self.split)?, &needs)];
        let mut warnings = read.ignored.describe();
        warnings.extend(other_scale(&needs.values().copied().collect::<Vec<f64>>()));
        Ok(Some(Cases { tables, warnings, ..Cases::default() }))
    }

    /// Reads a TREC run or a submission.
    fn read(&self, input: &FileContent) -> Result<Answered, Error> {
        let ids = self.mtrag.ids(self.split)?;
        let known = |id: &str| ids.get(&key(id)).copied();
        let mut requests = HashSet::new();
        let mut responses = HashMap::new();
        let mut placed = Placed::default();
        let mut run = if is_submission(input) {
            let submission = MtragSubmission::parse(input)?;
            let run = submission.to_run(&input.name, &ids)?;
            for answer in submission.answers {
                placed.add(&answer, known(&answer.id), &self.domains);
                let Some(id) = known(&answer.id) else { continue };
                requests.insert(id.clone());
                let passages = answer.texts;
                responses.extend(
                    answer.response.map(|text| (id.clone(), GivenResponse { text, passages })),
                );
            }
            run
        } else {
            strictly(|sink| parse_run(input, sink))?
        };
        let mut answered = Vec::with_capacity(run.lines.len());
        for mut line in std::mem::take(&mut run.lines) {
            if let Some(id) = known(line.topic.as_str()) {
                line.topic = id.clone();
                requests.insert(id.clone());
                if key(line.document.as_str()) != key(id.as_str()) {
                    answered.push(line);
                }
            }
        }
        run.lines = answered;
        if requests.is_empty() {
            let expected = format!("answers to requests of {}", self.split);
            let hint = "choose the split of the file with --split";
            bail!(&*input.name, expected, "only other requests", hint);
        }
        Ok(Answered { run, requests, responses, placed })
    }

    /// The kind of the passages that a run ranks for each domain.
    fn passages_of(&self, run: &Run) -> HashMap<Domain, RankedPassages> {
        let mut kinds = HashMap::new();
        for line in &run.lines {
            let domain = self.domains[&line.topic];
            let part = self.mtrag.passages.of(domain);
            let has = part.filter(|part| part.documents.find(line.document.as_str()).is_some());
            let kind = match has {
                None => RankedPassages::Others,
                Some(part) if part.is_substitute => RankedPassages::References,
                Some(_) => RankedPassages::Collection,
            };
            let known = kinds.entry(domain).or_insert(kind);
            if kind == RankedPassages::Others {
                *known = kind;
            }
        }
        kinds
    }

    /// The scores of each domain that a run answers, and the weighted mean; none if nothing is judged.
    fn domains_of(&self, answered: &Answered, ties: Ties) -> Result<Vec<DomainScores>, Error> {
        let Some(by_qrels) = &self.by_qrels else { return Ok(Vec::new()) };
        let scores =
            evaluate(&by_qrels.usual, &RankedRun::ordered(&answered.run, ties), &by_qrels.qrels)?;
        let mut judged: BTreeMap<Domain, Vec<usize>> = BTreeMap::new();
        let mut counts: BTreeMap<Domain, usize> = BTreeMap::new();
        let placed = &answered.placed;
        let is_placed = |request: &RequestId| !placed.misplaced.contains(request);
        for request in answered.requests.iter().filter(|request| is_placed(request)) {
            *counts.entry(self.domains[request]).or_default() += 1;
        }
        for (domain, count) in &placed.elsewhere {
            *counts.entry(*domain).or_default() += count;
        }
        for (place, (request, _)) in scores[0].values.iter().enumerate() {
            if answered.requests.contains(request) && is_placed(request) {
                judged.entry(self.domains[request]).or_default().push(place);
            }
        }
        let passages = self.passages_of(&answered.run);
        let mut all = Vec::with_capacity(judged.len() + 1);
        for (domain, places) in &judged {
            let mean = |score: &Score| {
                five_digits(exact_mean(places.iter().map(|place| score.values[*place].1)))
            };
            all.push(DomainScores {
                name: domain.name(),
                passages: passages.get(domain).copied().unwrap_or(RankedPassages::Others),
                answered: counts[domain],
                judged: places.len(),
                values: scores.iter().map(mean).collect(),
            });
        }
        if !all.is_empty() {
            all.push(weighted_mean(&all));
        }
        Ok(all)
    }

    /// The tables of domains, and of the decisions to ask.
    fn tables(
        &self,
        answered: &Answered,
        domains: &[DomainScores],
    ) -> Result<Vec<ScoreTable>, Error> {
        let tasks = self.mtrag.tasks(self.split)?;
        let mut tables = Vec::new();
        if !domains.is_empty() && !answered.ranks_nothing() {
            tables.push(table(domains));
        }
        tables.extend(response_table(tasks, &answered.responses));
        tables.extend(by_response(tasks, &answered.responses));
        tables.extend(by_best_score(tasks, &answered.best()));
        Ok(tables)
    }

    /// The scores by measures over the judged requests of the named part, or else of all domains.
    fn scores(&self, run: &Run, by: &ScoreOptions) -> Result<Vec<Score>, Error> {
        let Some(part) = by.part else {
            let by_qrels = self.by_qrels.as_ref().ok_or_else(|| self.no_judgements("any domain"));
            return by_qrels?.scores(run, by);
        };
        let collection: &dyn Collection = self.mtrag;
        let task = collection.find_task(part)?;
        if collection.qrels(self.split, task)?.is_none() {
            return Err(self.no_judgements(part).into());
        }
        let mut by_qrels = ByQrels::open(self.mtrag, self.split, task)?;
        by_qrels.usual = measures()?;
        by_qrels.scores(run, by)
    }

    /// The domains that a run answers and of which nothing is judged.
    fn unjudged(&self, answered: &Answered) -> BTreeSet<&'static str> {
        let judged: HashSet<&Domain> =
            self.judged().filter_map(|(request, _)| self.domains.get(request)).collect();
        let domains = answered.requests.iter().map(|request| &self.domains[request]);
        domains.filter(|domain| !judged.contains(domain)).map(|domain| domain.name()).collect()
    }

    /// Describes the parts of a run that the scores ignore.
    fn warnings_of(&self, answered: &Answered) -> Vec<String> {
        let missing = self.judged().filter(|(id, _)| !answered.requests.contains(*id)).count();
        let mut warnings = counted(&[(
            missing,
            "judged request is not answered: the organisers' scorer leaves it out of the means; \
             measures by name (-m), comparisons and pages count it as 0",
            "judged requests are not answered: the organisers' scorer leaves them out of the means; \
             measures by name (-m), comparisons and pages count them as 0",
        )]);
        let unjudged: Vec<&str> = self.unjudged(answered).into_iter().collect();
        let unjudged = unjudged.join(", ");
        if !unjudged.is_empty() {
            warnings.push(format!(
                "no request of {unjudged} is judged: no figure of a ranking counts them"
            ));
        }
        warnings.extend(answered.placed.warnings());
        let found = diagnose(&answered.run, self.judged().map(|(id, _)| id), None);
        let of_lines = Diagnosis { missing_topics: 0, unknown_topics: 0, ..found };
        warnings.extend(ignored_lines(&answered.run, &of_lines, Ties::Id));
        if answered.ranks_nothing() {
            warnings.push("no passage has a score, so that nothing is ranked".to_owned());
        } else if let Some(by_qrels) = &self.by_qrels {
            warnings.extend(by_qrels.unjudged(&answered.run));
        }
        warnings
    }
}

impl Evaluation for MtragEvaluation<'_> {
    /// The scores of the domains, with a table of them and of the decisions to ask, and measures over all
    /// judged requests.
    fn cases(&self, answers: Answers, by: &ScoreOptions) -> Result<Cases, Error> {
        let source = match answers {
            Answers::Run(run) => return Ok(Cases::new(self.scores(run, by)?, Vec::new())),
            Answers::File(source) => source,
        };
        let input = source.read()?;
        if let Some(asking) = self.score_needs(&input)? {
            return Ok(asking);
        }
        let answered = self.read(&input)?;
        let warnings = self.warnings_of(&answered);
        let mut scores = Vec::new();
        let mut tables = Vec::new();
        if by.measures.is_empty() && by.part.is_none() {
            let domains = self.domains_of(&answered, by.order(Ties::Id))?;
            for DomainScores { name, values, .. } in &domains {
                let named = MEASURES.iter().zip(values);
                scores.extend(named.map(|(measure, value)| {
                    Score::of_all(*name, *measure, Aggregate::ByClass(*value))
                }));
            }
            tables = self.tables(&answered, &domains)?;
            if tables.is_empty() {
                let expected = format!("answers to judged requests of {}", self.split);
                let hint = "not every domain has judgements";
                bail!(&*input.name, expected, "answers to others alone", hint);
            }
        }
        if self.by_qrels.is_some() || !by.measures.is_empty() || by.part.is_some() {
            scores.extend(self.scores(&answered.run, by)?);
        }
        let rankings = Some(Rankings { task: None, run: answered.run });
        Ok(Cases { tables, rankings, ..Cases::new(scores, warnings) })
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// nDCG@5, the first measure of the organisers' tables.
    fn focus(&self) -> usize {
        2
    }
}
