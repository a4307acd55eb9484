//! Conversations by a learned system: the same bytes whatever the threads, after a kill, and one by
//! one.

use crate::common::{Bench, Finished, root};

/// A bench with the sample, contexts enough for several blocks, and a system over a tiny encoder.
fn bench(stages: &str) -> Bench {
    let bench = Bench::with_sample();
    let tiny = root().join("crates/bert/tests/data/tiny");
    let weights =
        "question = 0.3, answer = 0.5, refused_question = -0.2, refused_answer = 0.5, decay = 0.9";
    bench.write(
        "tiny.toml",
        format!(
            "name = \"tiny\"\nuses = [\"train-labels\", \"dev-labels\", \"batch\"]\n[space]\nmodels = {{ {:?} = 1.0 }}\ncharacters = 0.5\n\
             [[stages]]\nstage = \"dense\"\ndepth = 20\nweights = {{ {weights} }}\n\
             [[stages]]\nstage = \"exclude_asked\"\nby = \"words\"\n{stages}",
            tiny.display().to_string()
        ),
    );
    bench
}

const RUN: &str = "run tiny.toml --data data --conversations many.pkl -o out/many.run";

#[test]
fn an_interrupted_run_goes_on_to_the_same_bytes_whatever_the_threads() {
    let bench = bench("");
    bench.succeed(
        "-q data synthesize --data data --split dev --turns 4 --order permutations --contexts-only -o \
         many.pkl",
    );
    bench.succeed(&format!("{RUN} --threads 1"));
    let whole = (bench.read("out/many.run"), bench.read("out/many.run.json"));
    assert!(whole.0.len() > 1_000_000, "several blocks");
    bench.succeed(&format!("{RUN} --threads 3"));
    assert!((bench.read("out/many.run"), bench.read("out/many.run.json")) == whole);
    std::fs::remove_dir_all(bench.path("out")).expect("removed");
    bench.killed(&format!("{RUN} --threads 1"), "out/many.run", 2);
    let told = bench.succeed(&format!("{RUN} --resume"));
    assert!(told.stderr.contains("note: continuing after "), "{}", told.stderr);
    assert!((bench.read("out/many.run"), bench.read("out/many.run.json")) == whole);
    let record: serde_json::Value = serde_json::from_slice(&whole.1).expect("a record");
    let models = record["models"].as_object().expect("the weights that made it");
    assert!(models.len() == 1 && models.values().all(serde_json::Value::is_string), "{record}");
}

#[test]
fn a_text_that_is_too_long_for_a_model_is_an_error_of_its_line_alone() {
    let bench = bench("");
    let long = "saturn ".repeat(600);
    let lines = |key: &str| {
        let line =
            |number: usize, text: &str| format!("{{\"id\": {number}, \"{key}\": \"{text}\"}}\n");
        [line(1, "saturn"), line(2, &long), line(3, "saturn")].concat()
    };
    bench.write("asked.jsonl", lines("request"));
    bench.write("ranked.jsonl", lines("text"));
    bench.edit("tiny.toml", |text| text.replace(", \"batch\"", ""));
    for line in [
        "rank tiny.toml --data data --requests ranked.jsonl --skip-bad",
        "ask --json --data data --system tiny.toml",
    ] {
        let mut command = bench.command(&line.split(' ').collect::<Vec<_>>());
        command.stdin(std::fs::File::open(bench.path("asked.jsonl")).expect("opened"));
        let finished = Finished::from(command.output().expect("it starts"));
        assert_eq!(finished.status, Some(0), "{line}: {}", finished.stderr);
        let objects: Vec<serde_json::Value> =
            finished.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(objects.len(), 3, "{line}");
        assert_eq!(objects[1]["error"]["line"], 2, "{line}");
        let expected = objects[1]["error"]["expected"].as_str().expect("a text");
        assert!(expected.starts_with("at most ") && expected.ends_with(" tokens"), "{expected}");
        assert!(objects[0].get("error").is_none() && objects[2].get("error").is_none(), "{line}");
    }
}

#[test]
fn a_context_by_itself_gets_what_it_gets_among_others() {
    let bench = bench("");
    bench.succeed("-q data synthesize --data data --split dev --contexts-only -o all.jsonl");
    let all = bench.succeed("-q run tiny.toml --data data --conversations all.jsonl -o -").stdout;
    let records = bench.text("all.jsonl");
    for place in [0, 70, 700, 1400] {
        let record = records.lines().nth(place).expect("a record");
        bench.write("one.jsonl", record);
        let one =
            bench.succeed("-q run tiny.toml --data data --conversations one.jsonl -o -").stdout;
        assert_eq!(Some(one.trim_end()), all.lines().nth(place), "{record}");
    }
}

#[test]
fn what_was_asked_in_other_words_is_not_asked_again() {
    let bench = bench("");
    bench.succeed("-q data synthesize --data data --split dev --contexts-only -o c.jsonl");
    let run = |more: &str| {
        bench
            .succeed(&format!("-q run tiny.toml --data data --conversations c.jsonl -o -{more}"))
            .stdout
    };
    let (all, distant) = (run(""), run(" --set dense.repeat=0.7"));
    assert!(all != distant && all.len() > 10_000);
    assert!(run(" --set dense.repeat=1.1") == all);
    // Nobody has said anything that is that near to a question.
    assert_eq!(run(" --set dense.min_likeness=1.1"), "");
}

#[test]
fn what_makes_no_sense_for_conversations_is_refused() {
    for (stage, split, says) in [
        ("competition\"\nrounds = 2", "dev", "stage `competition`"),
        ("exclude\"", "train", "conversations about other requests than those of "),
    ] {
        let bench = bench(&format!("[[stages]]\nstage = \"{stage}\n"));
        bench.succeed(&format!(
            "-q data synthesize --data data --split {split} --turns 1 -o c.jsonl"
        ));
        let line = "run tiny.toml --data data --conversations c.jsonl -o c.run";
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{}", finished.stderr);
        assert!(
            finished.stderr.contains(says) && finished.stderr.contains("hint: "),
            "{}",
            finished.stderr
        );
        assert!(!bench.path("c.run").exists());
    }
    // Of dev's topics nothing was judged before.
    let bench = bench("[[stages]]\nstage = \"exclude\"\n");
    bench.succeed("-q data synthesize --data data --split dev --turns 1 -o c.jsonl");
    bench.succeed("-q run tiny.toml --data data --conversations c.jsonl -o c.run");
    let relevant = |text: String| {
        text.lines().find_map(|line| line.strip_prefix("Relevant: ").map(str::to_owned))
    };
    let printed = bench.succeed("eval --data data c.run --conversations c.jsonl").stdout;
    assert!(
        relevant(printed).is_some_and(|share| share.parse::<f64>().is_ok_and(|share| share > 0.0))
    );
}

#[test]
fn two_rankings_of_conversations_are_fused() {
    let bench = Bench::with_sample();
    let weights = "{ question = 0.3, answer = 0.5, refused_question = 0.0, refused_answer = 0.5, decay = 1.0 }";
    let tiny = root().join("crates/bert/tests/data/tiny");
    bench.write(
        "fused.toml",
        format!(
            "name = \"fused\"\n[space]\nmodels = {{ {:?} = 1.0 }}\n[[stages]]\nstage = \"fuse\"\nmethod = \"weighted-sum\"\n\
             weights = [1.0, 0.0]\ndepth = 30\n[[stages.inputs]]\nstages = [{{ stage = \"bm25\", analyzer = \
             \"nltk\", depth = 30, weights = {weights} }}]\n[[stages.inputs]]\nstages = [{{ stage = \"dense\", \
             depth = 30, weights = {weights} }}]\n[[stages]]\nstage = \"exclude_asked\"\n",
            tiny.display().to_string()
        ),
    );
    bench.write(
        "alone.toml",
        format!(
            "name = \"fused\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"nltk\"\ndepth = 30\nweights = \
             {weights}\n[[stages]]\nstage = \"exclude_asked\"\n"
        ),
    );
    bench.succeed("-q data synthesize --data data --turns 2 --contexts-only -o c.jsonl");
    let run = |system: &str| {
        bench.succeed(&format!("-q run {system} --data data --conversations c.jsonl -o -")).stdout
    };
    let (fused, alone) = (run("fused.toml"), run("alone.toml"));
    // An input of weight 0 changes nothing but who comes behind.
    let same = fused.lines().filter(|line| alone.contains(*line)).count();
    assert!(same * 10 > alone.lines().count() * 9, "{same} of {}", alone.lines().count());
    let explained = bench.succeed("-q ask --system fused.toml --data data --explain Saturn").stdout;
    assert!(explained.contains("bm25: 1 × ") && explained.contains("dense: 0 × "), "{explained}");
}
