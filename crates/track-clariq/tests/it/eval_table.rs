//! Evaluation tables are read as Python reads them, and hostile pickles are refused.

use clariq_collections::DataDir;
use clariq_core::{Error, ProblemKind};
use clariq_files::Source;
use clariq_track_clariq::convert_archives;
use clariq_track_clariq::eval_table::{ContextId, EvalTable, locate};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The figures of a table, with the bits of each: metrics, contexts and questions in file order.
type Figures = Vec<(String, Vec<(ContextId, Vec<(String, Option<u64>)>)>)>;

fn figures(table: &EvalTable) -> Figures {
    let mut figures = Vec::new();
    for metric in table.metrics() {
        let mut contexts = Vec::new();
        for (id, context) in metric.contexts() {
            let questions = context.questions();
            let questions =
                questions.map(|(question, figure)| (question.to_owned(), figure.map(f64::to_bits)));
            contexts.push((id.clone(), questions.collect()));
        }
        figures.push((metric.name.to_owned(), contexts));
    }
    figures
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pickle")
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(fixtures().join(name)).unwrap()
}

fn read_file(path: &Path) -> Result<EvalTable, Error> {
    EvalTable::read(&[Source::new(path)])
}

fn read_bytes(bytes: &[u8]) -> Result<EvalTable, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.pkl");
    fs::write(&path, bytes).unwrap();
    read_file(&path)
}

/// The figures that Python wrote as JSON lines, a context on each.
fn expected(name: &str) -> Figures {
    let mut table = Figures::new();
    for line in String::from_utf8(fixture(&format!("{name}.jsonl"))).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let metric = line["metric"].as_str().unwrap();
        let context: ContextId = match &line["context"] {
            // A metric without contexts.
            Value::Null => continue,
            Value::String(facet) => facet.as_str().into(),
            number => number.as_i64().unwrap().into(),
        };
        if table.last().is_none_or(|(last, _)| last != metric) {
            table.push((metric.to_owned(), Vec::new()));
        }
        let questions = line["values"].as_object().unwrap().iter();
        let bits = |figure: &Value| figure["with_answer"].as_f64().map(f64::to_bits);
        let questions = questions.map(|(id, figure)| (id.clone(), bits(figure))).collect();
        table.last_mut().unwrap().1.push((context, questions));
    }
    table
}

fn problem(result: Result<EvalTable, Error>) -> (ProblemKind, String) {
    match result.unwrap_err() {
        Error::Problem(problem) => (problem.kind, problem.found),
        other @ Error::Io { .. } => panic!("{other}"),
    }
}

/// The content that a refusal of a pickle names; it must also name the file.
fn refusal(pickle: &[u8]) -> String {
    let problem = read_bytes(pickle).unwrap_err().to_problem();
    assert!(problem.title().contains("table.pkl"), "no file in {}", problem.title());
    problem.found
}

#[test]
fn python_and_numpy_pickles_of_all_protocols_are_the_same_table() {
    let mut count = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pkl") {
            let table = read_file(&path).unwrap_or_else(|error| panic!("{error}"));
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(figures(&table) == expected(name.split('.').next().unwrap()), "{name}");
            count += 1;
        }
    }
    assert_eq!(count, 13);
}

#[test]
fn figures_are_found_by_metric_context_and_question() {
    let table = read_file(&fixtures().join("multi.p4.numpy2.pkl")).unwrap();
    let names: Vec<&str> = table.metrics().map(|metric| metric.name).collect();
    assert_eq!(names, ["NDCG1", "P1", "MRR100"]);
    let p1 = table.metric("P1").unwrap();
    let contexts: Vec<ContextId> = p1.contexts().map(|(id, _)| id.clone()).collect();
    assert_eq!(contexts[..3], [0.into(), 255.into(), 256.into()]);
    assert!(table.metric("no such metric").is_none());
    let ndcg1 = table.metric("NDCG1").unwrap();
    let context = ndcg1.context(&0.into()).unwrap();
    let figures = ["Q00000", "MAX", "Q00009"].map(|question| context.score(question));
    assert_eq!(figures, [Some(0.1), Some(0.1), None]);
    assert!(ndcg1.context(&"0".into()).is_none());
    assert_eq!(p1.context(&0.into()).unwrap().questions().len(), 0);
    assert!(p1.context(&1.into()).is_none());

    let metric = table.metric("MRR100").unwrap();
    assert_eq!((metric.name, metric.contexts().len()), ("MRR100", 9));
    let questions: Vec<_> =
        metric.context(&(-1).into()).unwrap().questions().map(|(id, _)| id).collect();
    assert_eq!(questions.last(), Some(&"MAX"));
}

#[test]
fn the_released_table_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/clariq/data");
    let Some(sources) = locate(&DataDir::Folder(path.clone()), "single_turn_train_eval") else {
        eprintln!("skipped: no single_turn_train_eval.pkl in {}", path.display());
        return;
    };
    let table = EvalTable::read(&sources).unwrap();
    let metrics: Vec<_> = table.metrics().map(|metric| metric.name).collect();
    assert_eq!(
        metrics,
        ["NDCG1", "NDCG3", "NDCG5", "NDCG10", "NDCG20", "P1", "P3", "P5", "P10", "P20", "MRR100"]
    );
    for metric in table.metrics() {
        assert_eq!(metric.contexts().len(), 160, "{}", metric.name);
    }
    // The figures as Python prints them.
    let (facet, context) = table.metric("NDCG1").unwrap().contexts().next().unwrap();
    assert_eq!(*facet, "F0609".into());
    assert_eq!(context.score("Q00304"), Some(1.0 / 3.0));
    assert_eq!(context.score("MIN"), Some(0.0));
    let contexts = table.metric("P5").unwrap().contexts();
    assert_eq!(contexts.map(|(_, context)| context.questions().len()).sum::<usize>() * 11, 8305);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::Directory);
    header.set_size(0);
    builder.append_data(&mut header, "folder/", &[][..]).unwrap();
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn every_packing_is_found_and_unpacked() {
    let pickle = fixture("single.p4.python.pkl");
    let packed =
        gzip(&tar(&[("folder/._table.pkl", b"attributes"), ("folder/table.pkl", &pickle)]));
    let (first, second) = packed.split_at(packed.len() / 2);
    let (middle, last) = second.split_at(10);
    let layouts: [&[(&str, &[u8])]; 5] = [
        &[("t.pkl", &pickle), ("t.pkl.tar.gz", b"not looked at")],
        &[("t.pkl.gz", &gzip(&pickle))],
        &[("t.pkl.tar.gz", &packed), ("t.pkl.tar.gz.aa", b"not looked at")],
        &[("t.pkl.tar.gz.aa", first), ("t.pkl.tar.gz.ab", second)],
        &[("t.pkl.tar.gz.ab", middle), ("t.pkl.tar.gz.aa", first), ("t.pkl.tar.gz.ac", last)],
    ];
    for files in layouts {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let table = EvalTable::open(&DataDir::Folder(folder.path().to_owned()), "t").unwrap();
        assert!(figures(&table) == expected("single"), "{files:?}");
    }
}

fn expected_of(read: Result<EvalTable, Error>) -> String {
    read.unwrap_err().to_problem().expected
}

#[test]
fn problems_of_an_evaluation_table_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::Folder(folder.path().to_owned());
    assert_eq!(problem(EvalTable::open(&data, "t")).0, ProblemKind::MissingData);
    assert_eq!(
        problem(EvalTable::open(&clariq_track_clariq::SAMPLE, "t")).0,
        ProblemKind::MissingData
    );
    assert_eq!(problem(read_file(folder.path())).1, "a directory");
    assert_eq!(problem(read_file(&folder.path().join("none"))).0, ProblemKind::MissingFile);
    assert_eq!(problem(read_bytes(b"")).0, ProblemKind::Empty);
    assert_eq!(problem(read_bytes(&gzip(&tar(&[])))).1, "no file in it");
    assert_eq!(problem(read_bytes(&tar(&[("a", b"no pickle")]))).1, "invalid load key, 'n'.");

    let packed = gzip(&tar(&[("a.pkl", &fixture("single.p2.python.pkl"))]));
    for damaged in [&packed[..packed.len() / 2], &packed[..packed.len() - 4]] {
        assert_eq!(expected_of(read_bytes(damaged)), "a whole archive");
    }
    let mut wrong_checksum = gzip(&fixture("single.p2.python.pkl"));
    let end = wrong_checksum.len() - 6;
    wrong_checksum[end] ^= 1;
    assert_eq!(expected_of(read_bytes(&wrong_checksum)), "a whole archive");
}

#[test]
fn a_pickle_that_is_not_a_table_is_refused() {
    let cases: [(&[u8], &str); 9] = [
        (b"K\x01.", "`int` in place of a dictionary"),
        (b"(Vm\nF1\nd.", "`float` in place of a dictionary"),
        (b"(Vm\n(I1\n(Vq\n(Vwith_answer\nVtext\ndddd.", "text"),
        (b"(Vm\n(I1\n(Vq\n(Vwith_answer\nI01\ndddd.", "boolean `true`"),
        (b"(Vm\n(I1\n(Vq\n(Vwith_answer\nFnan\ndddd.", "the number `nan` under `'with_answer'`"),
        (
            b"(Vm\n(I1\n(Vq\n(Vwith_answer\n(I1\nFinf\nldddd.",
            "the number `inf` under `'with_answer'`",
        ),
        (b"\x80\x03}X\x01\0\0\0m}K\x01}X\x01\0\0\0qC\x01xsss.", "a value of the type `bytes`"),
        (
            b"(Vm\n(I1\n(Vq\n(Vwith_answer\nV\\ud83d\ndddd.",
            "half of a character (a lone surrogate)",
        ),
        (b"(Vm\n(I1\n(Vq\nF1\nddd.", "floating point `1.0`"),
    ];
    for (bytes, wanted) in cases {
        let (_, found) = problem(read_bytes(bytes));
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn other_fields_are_ignored_and_integers_are_figures() {
    let table =
        read_bytes(b"(Vm\n(I1\n(Vq\n(Vnote\nF7\nVno_answer\nNVwith_answer\nI1\ndddd.").unwrap();
    let context = table.metric("m").unwrap().context(&1.into()).unwrap();
    assert_eq!(context.score("q"), Some(1.0));
}

#[test]
fn an_archive_with_a_second_table_is_refused() {
    let pickle = fixture("single.p2.python.pkl");
    let two = tar(&[("one.pkl", &pickle), ("two.pkl", &pickle)]);
    let (kind, found) = problem(read_bytes(&gzip(&two)));
    assert_eq!((kind, found.as_str()), (ProblemKind::Other, "a second file, `two.pkl`"));
}

#[test]
fn a_table_behind_a_byte_order_mark_is_read() {
    let pickle = [b"\xef\xbb\xbf", &fixture("single.p2.python.pkl")[..]].concat();
    assert!(figures(&read_bytes(&pickle).unwrap()) == expected("single"));
}

#[test]
fn nothing_of_a_pickle_is_executed() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let touch = format!("touch {}", mark.display());
    let cases = [
        (format!("cos\nsystem\n(S'{touch}'\ntR."), "a reference to `os.system`"),
        (format!("cposix\nsystem\n(V{touch}\ntR."), "a reference to `posix.system`"),
        (format!("(S'{touch}'\nios\nsystem\n."), "a reference to `os.system`"),
        (format!("cbuiltins\neval\n(V{touch}\ntR."), "a reference to `builtins.eval`"),
        (
            "cnumpy.core.multiarray\n_reconstruct\n.".to_owned(),
            "`numpy.core.multiarray._reconstruct`",
        ),
        ("c_codecs\nencode\n(Va\nVrot13\ntR.".to_owned(), "bytes encoded as `rot13`"),
        ("cnumpy\ndtype\n(VO8\nI00\nI01\ntR.".to_owned(), "the numpy type `O8`"),
        ("Pid\n.".to_owned(), "persistent id"),
    ];
    for (pickle, wanted) in cases {
        let found = refusal(pickle.as_bytes());
        assert!(found.contains(wanted), "{pickle}: {found}");
        assert!(!mark.exists(), "{pickle}");
    }
}

#[test]
fn a_pickle_that_grows_is_refused_before_it_fills_the_memory() {
    let two_gigabytes = (2_u64 << 30).to_le_bytes();
    // One dictionary of ten questions with ids of a thousand letters, in twenty thousand contexts.
    let mut repeated = b"\x80\x04}\x94(".to_vec();
    for letter in b'a'..=b'j' {
        let id = [letter; 1000];
        repeated.extend([&b"X"[..], &1000_u32.to_le_bytes(), &id, b"}"].concat());
    }
    repeated.extend(b"u0}\x8c\x01m}(");
    for context in 0..20_000_u16 {
        repeated.extend([&b"M"[..], &context.to_le_bytes(), b"h\x00"].concat());
    }
    repeated.extend(b"us.");
    for (pickle, wanted) in [
        ([b"\x80\x04\x8d", &two_gigabytes[..], b"a."].concat(), "truncated"),
        ([b"\x80\x04\x8e", &two_gigabytes[..], b"a."].concat(), "far more memory"),
        (b"\x80\x04}r\xff\xff\xff\x7f.".to_vec(), "far more memory"),
        (repeated, "references that unfold"),
        ([b"}K\x01", &b"]".repeat(9999)[..], &b"a".repeat(9998), b"s."].concat(), ""),
        (fixture("single.p4.python.pkl")[..900].to_vec(), "truncated"),
        (fixture("single.p0.python.pkl")[..900].to_vec(), ""),
    ] {
        let found = refusal(&pickle);
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn converted_lines_are_read_unless_they_belong_to_another_pickle() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::Folder(folder.path().to_owned());
    let pickle = folder.path().join("multi_turn_dev_eval.pkl.gz");
    fs::write(&pickle, gzip(&fixture("multi.p4.numpy2.pkl"))).unwrap();
    let converted = convert_archives(&data).unwrap();
    assert_eq!(converted, [folder.path().join("multi_turn_dev_eval.pkl.jsonl.gz")]);
    assert!(convert_archives(&data).unwrap().is_empty(), "once is enough");
    let read = || figures(&EvalTable::open(&data, "multi_turn_dev_eval").unwrap());
    assert!(read() == expected("multi"));

    let lines = Source::new(&converted[0]).read().unwrap().bytes.into_owned();
    let header = lines.split_inclusive(|&byte| byte == b'\n').next().unwrap();
    let other = [header, b"[\"P1\",7,{\"Q1\":{\"with_answer\":0.5}}]\n"].concat();
    fs::write(&converted[0], other).unwrap();
    assert_eq!(read().len(), 1, "the lines are read in place of the pickle");
    fs::write(&pickle, fixture("multi.p2.numpy1.pkl")).unwrap();
    assert!(read() == expected("multi"), "the lines of another pickle are not read");
}
