//! Every byte sequence is a value or an error.

use super::{fixture, problem, read_bytes};
use clariq_pickle::{PickleError, Plan, Sink, Value, fold};
use proptest::prelude::*;

/// Keeps nothing: what is left are the machine's own errors.
struct Nothing;

impl Sink for Nothing {
    type Dict = ();

    fn insert(&mut self, (): &mut (), _: &Value<()>, _: Value<()>) -> Result<(), String> {
        Ok(())
    }
}

fn run(bytes: &[u8]) -> Result<Value<()>, PickleError> {
    let plan = Plan::scan(bytes)?;
    fold(bytes, &plan, &mut Nothing)
}

fn error(bytes: &[u8]) -> String {
    run(bytes).unwrap_err().to_string()
}

#[test]
fn nothing_but_the_allow_list_is_named() {
    let system = b"cos\nsystem\n(S'touch /tmp/owned'\ntR.";
    let failure = run(system).unwrap_err();
    assert_eq!((failure.offset, failure.opcode), (0, Some(b'c')));
    assert!(failure.is_global);
    assert_eq!(failure.to_string(), "a reference to `os.system` at byte 0 (GLOBAL)");
    let eval = b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R.";
    assert_eq!(error(eval), "a reference to `builtins.eval` at byte 18 (STACK_GLOBAL)");
    assert!(error(b"\x80\x02cnumpy\nndarray\n.").contains("`numpy.ndarray`"));
    assert!(
        error(b"cnumpy.core.multiarray\nscalar.loads\n.")
            .contains("`numpy.core.multiarray.scalar.loads`")
    );
    assert!(
        error(b"(ios\nsystem\n.")
            .starts_with("the operation INST, which makes more than plain data, at byte 1")
    );
    assert!(error(b"Pid\n.").contains("PERSID"));
    assert!(error(b"\x82\x01.").contains("EXT1"));
    assert!(error(b"\x97.").contains("NEXT_BUFFER"));
    assert_eq!(error(b"N\xff."), "0xff, which is no pickle operation, at byte 1 (0xff)");

    let (_, found) = problem(read_bytes(system));
    assert_eq!(found, "a reference to `os.system` at byte 0 (GLOBAL)");
}

#[test]
fn the_allow_list_takes_no_other_arguments() {
    assert!(error(b"c_codecs\nencode\n(Va\nVrot13\ntR.").contains("latin1"));
    assert!(error(b"c_codecs\nencode\n(V\\u0100\nVlatin1\ntR.").contains("Latin-1"));
    assert!(error(b"cnumpy\ndtype\n(VO8\nI0\nI1\ntR.").contains("`O8`"));
    assert!(error(b"cnumpy.core.multiarray\nscalar\n(VO8\nVx\ntR.").contains("other arguments"));
    assert!(
        error(b"cnumpy.core.multiarray\nscalar\nVx\nR.").contains("a function and its arguments")
    );
    assert!(error(b"ccollections\nOrderedDict\n(I1\ntR.").contains("an empty ordered dictionary"));
    assert!(error(b"}}b.").contains("a numpy data type"));
}

/// Keeps the last float.
struct Last(f64);

impl Sink for Last {
    type Dict = ();

    fn insert(&mut self, (): &mut (), key: &Value<()>, value: Value<()>) -> Result<(), String> {
        assert_eq!(key.as_text(), Some("x"));
        let Value::Float(value) = value else { panic!("{value:?}") };
        self.0 = value;
        Ok(())
    }
}

#[test]
fn python_2_strings_carry_numpy_numbers() {
    // cPickle.dumps({'x': numpy.float64(0.5)}, 2) under Python 2, and the same in protocol 0.
    let start = b"U\x01xcnumpy.core.multiarray\nscalar\ncnumpy\ndtype\n(U\x02f8K\0K\x01tR(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb";
    let binary = [&b"\x80\x02}"[..], start, b"U\x08\0\0\0\0\0\0\xe0?\x86Rs."].concat();
    let textual = [&b"(d"[..], start, br"S'\x00\x00\x00\x00\x00\x00\xe0?'", b"\n\x86Rs."].concat();
    for bytes in [binary, textual] {
        let mut last = Last(0.0);
        fold(&bytes[..], &Plan::scan(&bytes[..]).unwrap(), &mut last).unwrap();
        assert_eq!(last.0.to_bits(), 0.5_f64.to_bits());
    }
}

#[test]
fn lengths_are_not_trusted() {
    let huge = 1_u64 << 63;
    let long4 = [&b"\x8b"[..], &i32::MAX.to_le_bytes(), b"\x01."].concat();
    assert_eq!(error(&long4), "the end of the file at byte 0 (LONG4)");
    assert_eq!(error(b"\x8b\xff\xff\xff\xff."), "a length of -1 at byte 0 (LONG4)");
    assert!(error(b"T\xff\xff\xff\xff.").contains("a length of -1"));
    for code in [0x8d, 0x8e] {
        let beyond = [&[code][..], &huge.to_le_bytes(), b"x."].concat();
        assert!(error(&beyond).starts_with("a length of 9223372036854775808 at byte 0"));
        let within = [&[code][..], &(huge - 1).to_le_bytes(), b"x."].concat();
        assert!(error(&within).starts_with("the end of the file at byte 0"));
    }
    assert!(error(b"X\xff\xff\xff\xffx.").starts_with("the end of the file"));
    assert!(run(&[&b"\x95"[..], &[0xff; 8], b"N."].concat()).is_ok());
    let million = [&b"\x8b"[..], &1_000_000_i32.to_le_bytes(), &vec![1; 1_000_000], b"."].concat();
    assert!(error(&million).contains("an integer of 1000000 bytes"));
}

#[test]
fn nesting_and_unfinished_values_are_bounded() {
    let lists = |count: usize| [vec![b']'; count], vec![b'a'; count - 1], b".".to_vec()].concat();
    assert!(run(&lists(60)).is_ok());
    assert!(error(&lists(1_000_000)).starts_with("a nesting deeper than 64"));
    assert!(error(&vec![b']'; 2_000_000]).starts_with("the end of the file"));
    assert!(error(&[vec![b']'; 2_000_000], b".".to_vec()].concat()).contains("unfinished values"));
    assert!(error(&[vec![b'('; 2_000_000], b".".to_vec()].concat()).contains("unfinished values"));
    let tuples = [vec![b')'], vec![0x85; 1_000_000], b".".to_vec()].concat();
    assert!(error(&tuples).starts_with("a nesting deeper than 64"));
    let dicts = [b"}N".repeat(1_000), vec![b'}'], vec![b's'; 1_000], b".".to_vec()].concat();
    assert!(error(&dicts).starts_with("a nesting deeper than 64"));
}

#[test]
fn the_stack_and_the_memo_are_checked() {
    for bytes in [
        &b"."[..],
        b"0.",
        b"2.",
        b"a.",
        b"N\x86.",
        b"Na.",
        b"s.",
        b"NNs.",
        b"(s.",
        b"R.",
        b"b.",
        b"\x93.",
        b"\x94.",
        b"}(Nu.",
    ] {
        assert!(run(bytes).is_err(), "{}", bytes.escape_ascii());
    }
    assert!(error(b"N(0(.").starts_with("an operation without operands"));
    for bytes in [&b"t."[..], b"l.", b"d.", b"e.", b"u.", b"1."] {
        assert!(
            error(bytes).starts_with("an operation without a mark"),
            "{}",
            bytes.escape_ascii()
        );
    }
    assert_eq!(error(b"g7\n."), "a use of memo slot 7, which is empty, at byte 0 (GET)");
    assert!(error(b"Nq\x01h\x02.").contains("slot 2"));
    assert!(error(b"Nr\xff\xff\xff\xffj\xfe\xff\xff\xff.").contains("slot 4294967294"));
    assert!(run(b"Nr\xff\xff\xff\xffj\xff\xff\xff\xff.").is_ok());
    assert!(error(b"g-1\n.").contains("`-1` in place of a number"));
    assert!(error(b"}]Ns.").starts_with("a list as a key"));
    assert!(error(b"}}Ns.").starts_with("a dictionary as a key"));
    assert!(error(b"]q\x00h\x00a.").contains("already part of another"));
    assert!(error(b"}q\x00Nh\x00s.").contains("already part of another"));
    assert!(error(b"}q\x00]q\x01h\x00a0h\x00Nh\x01s.").contains("already part of another"));
    assert!(error(b"\x80\x06.").contains("protocol 6"));
    assert!(error(b"X\x01\0\0\0\xff.").contains("UTF-8"));
}

#[test]
fn references_do_not_unfold_without_end() {
    // One context of a thousand questions, referred to by a thousand thousand others.
    let mut bytes = b"\x80\x02}(X\x01\0\0\0m}(K\x00}r\0\0\0\0(".to_vec();
    for question in 0..10_000 {
        bytes.extend(format!("V{question}\n}}Vwith_answer\nG").bytes());
        bytes.extend([0; 8]);
        bytes.push(b's');
    }
    bytes.push(b'u');
    for context in 1..10_000_i32 {
        bytes.push(b'J');
        bytes.extend(context.to_le_bytes());
        bytes.extend(b"h\0");
    }
    bytes.extend(b"uu.");
    assert!(problem(read_bytes(&bytes)).1.contains("unfold"));

    // Empty dictionaries, each holding the last one twice.
    let mut hollow = b"}q\0".to_vec();
    for level in 0..50_u8 {
        hollow.extend([
            b'}',
            b'q',
            level + 1,
            b'(',
            b'K',
            1,
            b'h',
            level,
            b'K',
            2,
            b'h',
            level,
            b'u',
        ]);
    }
    hollow.push(b'.');
    assert!(problem(read_bytes(&hollow)).1.contains("unfold"));
}

#[test]
fn a_pickle_cut_anywhere_is_an_error() {
    for name in [
        "single.p0.numpy1.pkl",
        "single.p2.numpy2.pkl",
        "multi.p4.python.pkl",
        "multi.p5.numpy2.pkl",
    ] {
        let bytes = fixture(name);
        for end in 0..bytes.len() {
            let failure = run(&bytes[..end]).expect_err(name);
            assert_eq!(failure.message, "the end of the file", "{name} {end}: {failure}");
        }
        assert!(run(&bytes).is_ok());
    }
}

/// Fixtures with a few bytes changed, moved, added or cut.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let names = [0, 1, 2, 4, 5].map(|protocol| format!("single.p{protocol}.numpy2.pkl"));
    let names =
        [&names[..], &["multi.p3.python.pkl".to_owned(), "multi.p0.ordered.pkl".to_owned()]]
            .concat();
    let change = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), 0..4_u8);
    (prop::sample::select(names), prop::collection::vec(change, 1..6)).prop_map(
        |(name, changes)| {
            let mut bytes = fixture(&name);
            for (at, other, byte, how) in changes {
                let (at, other) = (at.index(bytes.len()), other.index(bytes.len()));
                match how {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    2 => bytes[at] = bytes[other],
                    _ => drop(bytes.remove(at)),
                }
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = run(&bytes);
    }

    #[test]
    fn any_operations_are_a_value_or_an_error(
        bytes in prop::collection::vec(prop::sample::select(b"(.012Nabdelstu}])hq\0\x01\x85\x86\x94\x88K".to_vec()), 0..80)
    ) {
        let _ = run(&bytes);
        let _ = read_bytes(&bytes);
    }

    #[test]
    fn a_damaged_table_is_a_table_or_an_error(bytes in mutated()) {
        let _ = run(&bytes);
        let _ = read_bytes(&bytes);
    }
}
