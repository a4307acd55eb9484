"""Runs and grids on Ray: what needs no Ray first, then one Ray for all other tests."""

import json
import os
import shutil
import socket
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import clariq

ray = pytest.importorskip("ray")

from ray_bench import Bench, check_folder  # noqa: E402

import clariq.ray  # noqa: E402
from clariq.ray import _cluster, _files, _node  # noqa: E402

SYSTEM = "bm25-multi-turn"

# A killer stands in the place of the command: where a file tells it to, it kills the worker.
KILLER = """case "$*" in *--shard*)
  if rm "$KILL_ONE" 2>/dev/null; then kill -9 $PPID; sleep 60; fi;;
esac
[ -e "$BROKEN" ] && { echo 'libtorch_cpu.so: cannot open shared object file' >&2; exit 127; }
exec $CLARIQ "$@"
"""


@pytest.fixture
def no_ray(monkeypatch):
    """Fails a test that starts Ray."""
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **keys: pytest.fail(f"Ray is started: {keys}"))


@pytest.fixture
def closed_port():
    """A port that nothing listens at."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def plan(tmp_path):
    """A plan that nothing has been checked of."""
    plan = tmp_path / "plan.json"
    plan.write_text('{"shards": [{"file": "shard-00000.jsonl"}]}')
    return plan


def test_a_run_that_is_wrong_is_refused_before_ray_starts(no_ray, plan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    before = sorted(tmp_path.rglob("*"))
    for system, source, out, says in [
        ("gone.toml", plan, "x.run", "gone.toml: No such file"),
        (tmp_path / "gone.toml", plan, "x.run", "gone.toml: No such file"),
        (tmp_path / "folder", plan, "", "path or URL of a file"),
        (tmp_path / "latin.toml", plan, "x.run", "latin.toml: .*utf-8"),
        (SYSTEM, plan, "o/", "(?s)path or URL of a file.*found: `o/`"),
        (SYSTEM, plan, "s3://bucket", "path or URL of a file"),
        (SYSTEM, plan, tmp_path / "folder", "found: a folder"),
        (SYSTEM, plan, plan, "found: a file of the plan"),
        (SYSTEM, plan, "plan", "found: a file of the plan"),
        (SYSTEM, plan, "shard-00000.jsonl", "found: a file of the plan"),
        (SYSTEM, plan, plan / "x.run", "Not a directory"),
        (SYSTEM, tmp_path / "folder", "x.run", "Is a directory"),
    ]:
        with pytest.raises(clariq.ClariqError, match=says) as caught:
            clariq.ray.run(system, source, out)
        assert caught.type is clariq.ClariqError, "it is not tried again"
        assert caught.value.status == 2
    for keys in [{"retries": 1.5}, {"retries": -1}, {"cpus": float("nan")}, {"gpus": float("inf")}]:
        with pytest.raises(ValueError, match=next(iter(keys))):
            clariq.ray.run(SYSTEM, plan, "x.run", **keys)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_url_that_does_not_answer_is_unreachable(no_ray, closed_port):
    url = f"ftp://127.0.0.1:{closed_port}/plan.json"
    with pytest.raises(clariq.ray.Unreachable, match=f"{url}.*refused"):
        clariq.ray.run(SYSTEM, url, "x.run")


def test_a_cluster_that_does_not_answer_is_an_error(no_ray, plan, closed_port, monkeypatch):
    for address in [f"127.0.0.1:{closed_port}", f"ray://127.0.0.1:{closed_port}", "127.0.0.1:x"]:
        monkeypatch.setenv("RAY_ADDRESS", address)
        with pytest.raises(clariq.ClariqError, match=f"(?s){address}: .*hint: set RAY_ADDRESS"):
            clariq.ray.run(SYSTEM, plan, plan.with_name("x.run"))
    assert [path.name for path in plan.parent.iterdir()] == [plan.name]


def test_ray_is_started_where_no_cluster_is_named(monkeypatch):
    started = []

    def init(address, **keys):
        started.append(address)
        if address == "auto":
            raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setenv("RAY_ADDRESS", "")
    assert _cluster._connect()
    assert started == ["auto", "local"]
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    with pytest.raises(clariq.ClariqError, match="hint: set RAY_ADDRESS"):
        _cluster._connect()


def test_a_task_that_no_node_has_room_for(monkeypatch, capsys):
    small = {"Alive": True, "Resources": {"CPU": 2.0, "memory": 1e9}}
    head = {"Alive": True, "Resources": {}}
    dead = {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 1.0}}
    monkeypatch.setattr(ray, "nodes", lambda: [head, small, small, dead])
    _cluster._check_nodes(_cluster.options(2, 0, 0), may_grow=False)
    for cpus, gpus in [(64, 0), (1, 1)]:
        options = _cluster.options(cpus, gpus, 0)
        expected = f"a node with {cpus} CPUs and {gpus} GPUs for a task"
        found = "0 CPUs and 0 GPUs, 2 CPUs and 0 GPUs"
        says = f"(?s)expected: {expected}\n.*found: {found}\nhint: "
        with pytest.raises(clariq.ClariqError, match=says):
            _cluster._check_nodes(options, may_grow=False)
        assert capsys.readouterr().err == ""
        _cluster._check_nodes(options, may_grow=True)
        warning = f"clariq: waiting for {expected}; the nodes have: {found}\n"
        assert capsys.readouterr().err == warning


def test_a_file_that_another_driver_removes_unfinished_is_written_again(tmp_path, monkeypatch):
    folder = _files.Folder.of(tmp_path / "out", {})
    replace, left = os.replace, [2]

    def replace_late(source, target):
        if left[0] > 0:
            left[0] -= 1
            folder.remove_unfinished({"x.run"})
        replace(source, target)

    monkeypatch.setattr(os, "replace", replace_late)
    folder.write(b"content", "x.run")
    assert folder.read("x.run") == b"content"
    left[0] = 100
    with pytest.raises(_files.Missing):
        folder.write(b"other", "x.run")
    assert left[0] == 95
    assert folder.read("x.run") == b"content"
    assert folder.names() == ["x.run"]


def test_a_node_is_warmed_up_once(tmp_path, monkeypatch):
    calls = tmp_path / "calls"
    command = tmp_path / "command"
    command.write_text(f'#!/bin/sh\nsleep 0.2\necho "$@" >> {calls}\n')
    command.chmod(0o755)
    monkeypatch.setenv("CLARIQ", str(command))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with ThreadPoolExecutor() as threads:
        done = list(threads.map(lambda _: _node.warm_up("run", "node", ["rank"]), range(4)))
    assert sorted(done) == [False, False, False, True]
    assert calls.read_text() == "rank\n"
    assert _node.warm_up("run", "other-node", ["rank"])
    _node.clear()
    assert not list(tmp_path.glob("clariq-ray-*"))


def test_a_root_that_another_task_removes_meanwhile_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(_node.tempfile, "gettempdir", lambda: str(tmp_path))
    root, gone = _node._root, [True]

    def removed_once():
        if gone and gone.pop():
            raise FileNotFoundError("between mkdir and stat")
        return root()

    with monkeypatch.context() as patch:
        patch.setattr(_node, "_root", removed_once)
        lock, file = _node._locked("a.lock")
    file.close()
    lock.unlink()

    def vanished(*_):
        raise FileNotFoundError("between the check and the listing")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "glob", vanished)
        _node.clear()
    assert not list(tmp_path.iterdir())


def test_means_keep_apart_what_cannot_be_compared():
    def row(held_out, **columns):
        same = {"job": "tune", "split": "train", "measure": "R@30", "name": "bm25", "folds": 5}
        grid = {"grid": "bm25.k1=0.9,1.2", "parameters": "bm25.k1=0.9"}
        return {**same, **grid, "held-out": held_out, **columns}

    rows = [
        row(0.5, seed=1),
        row(0.7, seed=2),
        row(0.8, folds=10),
        row(0.9, grid="bm25.k1=0.9,1.5"),
        row(0.95, split="dev"),
        row(0.1, measure="MRR@1"),
        row(0.2, measure="MRR@1", name="other"),
    ]
    means = clariq.ray.Table(rows).means()
    assert [(mean["measure"], mean["split"], mean["jobs"]) for mean in means] == [
        ("R@30", "dev", 1),
        ("MRR@1", "train", 1),
        ("MRR@1", "train", 1),
        ("R@30", "train", 1),
        ("R@30", "train", 1),
        ("R@30", "train", 2),
    ]
    figures = [mean["held-out"] for mean in means]
    assert figures == pytest.approx([0.95, 0.2, 0.1, 0.9, 0.8, 0.6])


def test_a_grid_that_is_wrong_is_refused_before_ray_starts(no_ray, tmp_path):
    grid = tmp_path / "grid.toml"
    tune = '[[tune]]\nsystem = ["bm25"]\n'
    k1 = '[tune.parameters]\n"bm25.k1" = [1]\n'
    for text, says in [
        ("", "found: nothing"),
        ("[[trian]]\n", "found: trian"),
        ("a = ", "grid.toml"),
        ("train = 3\n", "expected tables, found: 3"),
        ("train = []\n", r"expected tables, found: \[\]"),
        (f"{tune}fold = 3\n", "found: fold"),
        (tune, "expected parameters"),
        (f"{tune}parameters = [1]\n", r"a table of parameters, found: \[1\]"),
        (f"{tune}folds = []\n{k1}", "expected values of `folds`"),
        (f"{tune}seed = []\n{k1}", "expected values of `seed`"),
        ("[[train]]\nfolds = 3\n", "names in `recipe`"),
        ('[[train]]\nrecipe = ["encoder"]\nfolds = 1\n', "folds of at least 2"),
        ('[[train]]\nrecipe = ["gone.toml"]\n', "gone.toml"),
        (f'{tune}[tune.parameters]\n"bm25.k1" = []\n', "empty list"),
        (f"{tune}[tune.parameters]\nbm25.k1 = [1]\n", "expected values of `bm25`"),
    ]:
        grid.write_text(text)
        with pytest.raises(clariq.ClariqError, match=says) as caught:
            clariq.ray.jobs(grid, tmp_path / "out")
        assert caught.value.status == 2
    with pytest.raises(clariq.ClariqError, match="Is a directory"):
        clariq.ray.jobs(tmp_path, tmp_path / "out")
    with pytest.raises(clariq.ClariqError, match="No such file"):
        clariq.ray.jobs(tmp_path / "gone.toml", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == [grid.name]


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
    clariq.ray.run(Path("own.toml"), plan, "out/x.run", arguments=arguments, progress=False)
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
        refused = tmp_path / str(index) / "x.run"
        with pytest.raises(clariq.ClariqError, match=says) as caught:
            clariq.ray.run(SYSTEM, plan, refused, progress=False)
        assert caught.value.status == 2
        if index < 4:
            assert not Path(f"{refused}.parts").exists()
    with pytest.raises(clariq.ClariqError, match="--k9"):
        clariq.ray.run(SYSTEM, good, out, arguments=["--k9", "1"], progress=False)
    assert not Path(f"{out}.parts").exists()
    with pytest.raises(clariq.ClariqError, match="no such file"):
        clariq.ray.run(SYSTEM, tmp_path / "nowhere.json", out)
    with pytest.raises(clariq.ClariqError, match="nosuch"):
        clariq.ray.run(SYSTEM, good, "nosuch://bucket/x.run")
    with pytest.raises(clariq.ClariqError, match="batch"):
        clariq.ray.run("best", good, tmp_path / "batch" / "x.run", progress=False)


def test_parts_of_another_plan_are_refused(bench, tmp_path):
    out = tmp_path / "out" / "x.run"
    # Left by a driver that was killed before any part was made.
    plan = Path(f"{out}.parts") / "plan.json"
    plan.parent.mkdir(parents=True)
    plan.write_text("of another file")
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
    assert [row["jobs"] for row in means] == [1, 1, 1, 1]
    assert means[0]["held-out"] >= means[3]["held-out"] > 0
    assert {(row["measure"], row["grid"]) for row in means} == {("R@30", "bm25.k1=0.9,1.5")}
    assert (tmp_path / "out" / "table.tsv").read_text() == table.to_tsv()
    results = sorted((tmp_path / "out").glob("*.json"))
    times = [result.stat().st_mtime_ns for result in results]
    results[1].write_text("{")
    assert clariq.ray.jobs(grid, tmp_path / "out", progress=False).rows == table.rows
    again = [result.stat().st_mtime_ns for result in results]
    assert [one == two for one, two in zip(times, again)] == [True, False, True, True]
    clariq.ray.jobs(grid, tmp_path / "out", arguments=["--isa", "sse41"], progress=False)
    assert len(list((tmp_path / "out").glob("*.json"))) == 8


def test_a_search_that_a_node_refuses_is_named(bench, tmp_path):
    grid = tmp_path / "grid.toml"
    grid.write_text('[[tune]]\nsystem = ["bm25"]\n[tune.parameters]\n"bm25.k3" = [1]\n')
    with pytest.raises(clariq.ClariqError, match="(?s)tune bm25: node .*k3"):
        clariq.ray.jobs(grid, tmp_path / "out", progress=False)
