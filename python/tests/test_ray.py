"""Runs and grids on Ray: one Ray for all tests of this file."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest

import clariq

ray = pytest.importorskip("ray")

from ray_bench import Bench, check_folder  # noqa: E402

import clariq.ray  # noqa: E402

SYSTEM = "bm25-multi-turn"

# A killer stands in the place of the command: where a file tells it to, it kills the worker.
KILLER = """case "$*" in *--shard*)
  if rm "$KILL_ONE" 2>/dev/null; then kill -9 $PPID; sleep 60; fi;;
esac
[ -e "$BROKEN" ] && { echo 'libtorch_cpu.so: cannot open shared object file' >&2; exit 127; }
exec $CLARIQ "$@"
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("bench"))
    before = dict(os.environ)
    # Short, because Ray's sockets are in it.
    with tempfile.TemporaryDirectory(prefix="cq", dir="/tmp") as short:
        os.environ["TMPDIR"] = short
        os.environ["KILL_ONE"], os.environ["BROKEN"] = f"{short}/kill", f"{short}/broken"
        os.environ["CLARIQ"] = str(bench.script("killer", KILLER))
        ray.init(
            num_cpus=2, include_dashboard=False, object_store_memory=80 << 20, log_to_driver=False
        )
        tempfile.tempdir = None
        yield bench
        assert not list(Path(short).glob("clariq-ray-*")), "scratch folders are left"
        ray.shutdown()
        os.environ.clear()
        os.environ.update(before)
        tempfile.tempdir = None


def run(bench, out, shards=7, **keys):
    return clariq.ray.run(SYSTEM, bench.plan(shards), out, progress=False, **keys)


@pytest.mark.parametrize("shards", [1, 7])
def test_a_run_is_that_of_one_machine(bench, tmp_path, shards):
    out = tmp_path / "out" / "x.run"
    result = run(bench, out, shards)
    assert (result.url, result.made, result.found, result.nodes) == (str(out), shards, 0, 1)
    assert out.read_bytes() == bench.single(SYSTEM)
    check_folder(out)


def test_whole_parts_are_found_and_damaged_ones_made_again(bench, tmp_path):
    out = tmp_path / "out" / "x.run"
    run(bench, out)
    parts = Path(f"{out}.parts")
    cut = parts / "run.part-00002.run"
    cut.write_bytes(cut.read_bytes()[:100])
    altered = parts / "run.part-00004.run"
    altered.write_bytes(altered.read_bytes().replace(b"bm25", b"BM25", 1))
    (parts / "run.part-00005.run.json").unlink()
    killed = parts / f".run.part-00006.run.{'0123' * 8}.tmp"
    killed.write_bytes(b"of a killed worker")
    others = out.parent / f".notes.{'0123' * 8}.tmp"
    others.write_bytes(b"somebody's")
    out.unlink()
    result = run(bench, out)
    assert (result.made, result.found) == (3, 4)
    others.unlink()
    assert out.read_bytes() == bench.single(SYSTEM)
    check_folder(out)


def test_a_killed_worker_is_replaced(bench, tmp_path):
    kill = Path(os.environ["KILL_ONE"])
    kill.touch()
    out = tmp_path / "out" / "x.run"
    assert run(bench, out).made == 7
    assert not kill.exists(), "the worker was killed"
    assert out.read_bytes() == bench.single(SYSTEM)
    check_folder(out)


def test_a_killed_worker_is_an_error_without_retries_and_the_next_call_continues(bench, tmp_path):
    Path(os.environ["KILL_ONE"]).touch()
    out = tmp_path / "out" / "x.run"
    with pytest.raises(clariq.ClariqError, match="(?s)shard .*the same call continues"):
        run(bench, out, retries=0)
    run(bench, out, retries=0)
    assert out.read_bytes() == bench.single(SYSTEM)
    check_folder(out)


def test_a_file_of_a_system_and_arguments_reach_the_workers(bench, tmp_path, monkeypatch):
    config = tmp_path / "own.toml"
    text = '[[stages]]\nstage = "bm25"\nanalyzer = "nltk"\ndepth = 5\n'
    config.write_text(f'name = "own"\n{text}[[stages]]\nstage = "exclude_asked"\n')
    single = tmp_path / "single.run"
    words = ["--conversations", str(bench.conversations), "--k1", "0.7", "-o", str(single)]
    clariq.run_command(["-q", "run", str(config), *words])
    out = tmp_path / "out" / "x.run"
    monkeypatch.chdir(tmp_path)
    plan = os.path.relpath(bench.plan(7))
    arguments = ["--k1", "0.7"]
    clariq.ray.run("own.toml", plan, "out/x.run", arguments=arguments, progress=False)
    assert out.read_bytes() == single.read_bytes()


def test_what_is_wrong_is_refused_with_its_place(bench, tmp_path):
    out = tmp_path / "out" / "x.run"
    good = bench.plan(7)
    text = good.read_text()
    plan = tmp_path / "other" / "plan.json"
    shutil.copytree(good.parent, plan.parent)
    first = plan.with_name("shard-00000.jsonl")
    cases = [
        (json.dumps({**json.loads(text), "clariq_plan": 99}), "a plan of form 99"),
        (text.replace('"bank_sha256": "', '"bank_sha256": "0'), "the question bank"),
        ("{}", "no plan"),
        ("nothing", "no plan"),
        (text, "(?s)shard 0: node .*`shard-00000.jsonl` as it was cut"),
        (text, "shard 0: node .*shard-00000.jsonl: no such file"),
    ]
    for index, (content, says) in enumerate(cases):
        plan.write_text(content)
        if index == 4:
            first.write_text(first.read_text()[:-2])
        if index == 5:
            first.unlink()
        with pytest.raises(clariq.ClariqError, match=says) as caught:
            clariq.ray.run(SYSTEM, plan, tmp_path / str(index) / "x.run", progress=False)
        assert caught.value.status == 2
    with pytest.raises(clariq.ClariqError, match="no such file"):
        clariq.ray.run(SYSTEM, tmp_path / "nowhere.json", out)
    with pytest.raises(clariq.ClariqError, match="nosuch"):
        clariq.ray.run(SYSTEM, good, "nosuch://bucket/x.run")
    with pytest.raises(clariq.ClariqError, match="batch"):
        clariq.ray.run("best", good, tmp_path / "batch" / "x.run", progress=False)
    with pytest.raises(ValueError, match="retries"):
        clariq.ray.run(SYSTEM, good, out, retries=-1)


def test_parts_of_another_plan_are_refused(bench, tmp_path):
    out = tmp_path / "out" / "x.run"
    run(bench, out, 1)
    with pytest.raises(clariq.ClariqError, match="parts of another plan"):
        run(bench, out, 7)


def test_a_node_without_libtorch_is_named(bench, tmp_path):
    broken = Path(os.environ["BROKEN"])
    broken.touch()
    try:
        with pytest.raises(clariq.ClariqError, match="(?s)node .*libtorch_cpu.so") as caught:
            run(bench, tmp_path / "out" / "x.run")
        assert caught.value.status == 127
    finally:
        broken.unlink()


def test_a_grid_makes_one_table(bench, tmp_path):
    grid = tmp_path / "grid.toml"
    grid.write_text(
        '[[tune]]\nsystem = ["bm25", "bm25-english"]\nfolds = [2, 3]\n'
        '[tune.parameters]\n"bm25.k1" = [0.9, 1.5]\n'
    )
    table = clariq.ray.jobs(grid, tmp_path / "out", progress=False)
    names = [(row["name"], row["folds"]) for row in table.rows]
    assert names == [("bm25", 2), ("bm25", 3), ("bm25-english", 2), ("bm25-english", 3)]
    printed = clariq.run_command(
        ["tune", "bm25-english", "--grid", "bm25.k1=0.9,1.5", "--folds", "3", "--format", "json"]
    )
    assert table.rows[3]["R@30"] == json.loads(printed)[0]["R@30"]
    means = table.means()
    assert [row["jobs"] for row in means] == [2, 2]
    assert means[0]["held-out"] >= means[1]["held-out"] > 0
    assert (tmp_path / "out" / "table.tsv").read_text() == table.to_tsv()
    results = sorted((tmp_path / "out").glob("*.json"))
    times = [result.stat().st_mtime_ns for result in results]
    results[1].write_text("{")
    assert clariq.ray.jobs(grid, tmp_path / "out", progress=False).rows == table.rows
    again = [result.stat().st_mtime_ns for result in results]
    assert [one == two for one, two in zip(times, again)] == [True, False, True, True]


def test_a_grid_that_is_wrong_is_refused(bench, tmp_path):
    grid = tmp_path / "grid.toml"
    tune = '[[tune]]\nsystem = ["bm25"]\n'
    for text, says in [
        ("", "found: nothing"),
        ("[[trian]]\n", "found: trian"),
        ("a = ", "grid.toml"),
        (f"{tune}fold = 3\n", "found: fold"),
        (tune, "expected parameters"),
        ("[[train]]\nfolds = 3\n", "names in `recipe`"),
        ('[[train]]\nrecipe = ["encoder"]\nfolds = 1\n', "folds of at least 2"),
        ('[[train]]\nrecipe = ["gone.toml"]\n', "gone.toml"),
        (f'{tune}[tune.parameters]\n"bm25.k1" = []\n', "empty list"),
        (f'{tune}[tune.parameters]\n"bm25.k3" = [1]\n', "(?s)tune bm25: node .*k3"),
    ]:
        grid.write_text(text)
        with pytest.raises(clariq.ClariqError, match=says):
            clariq.ray.jobs(grid, tmp_path / "out", progress=False)
