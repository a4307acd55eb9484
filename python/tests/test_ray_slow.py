"""What takes minutes: every number of shards, kills at every stage, S3, Ray's memory."""

import os
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path

import pytest

import clariq

ray = pytest.importorskip("ray")

from ray_bench import (  # noqa: E402
    Bench,
    Driver,
    check_folder,
    processes_with,
    records,
    shards_of,
    wait_for,
)

import clariq.ray  # noqa: E402

pytestmark = pytest.mark.slow

SYSTEM = "bm25-multi-turn"
SYSTEMS = [SYSTEM, "dense-conversation", "strict"]

# Ranks slowly, so that kills come while shards are at work.
SLOW = """case "$*" in *--shard*) sleep 0.3;; esac
exec $CLARIQ "$@"
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture
def short(monkeypatch):
    """A short temporary folder, because Ray's sockets are in it; nothing of ours may stay there."""
    with tempfile.TemporaryDirectory(prefix="cq", dir="/tmp", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(folder)
        assert not list(Path(folder).glob("clariq-ray-*")), "scratch folders are left"
    tempfile.tempdir = None


@pytest.fixture
def local(short):
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=80 << 20, log_to_driver=False)
    yield short
    ray.shutdown()


def single(bench, system):
    try:
        return bench.single(system)
    except clariq.ClariqError as error:
        if "built without them" in error.message:
            pytest.skip("no learned stages")
        raise


@pytest.mark.parametrize("system", SYSTEMS)
def test_any_number_of_shards_makes_the_single_run(bench, local, tmp_path, system):
    whole = single(bench, system)
    for shards in [1, 2, 7, 64]:
        out = tmp_path / str(shards) / "x.run"
        result = clariq.ray.run(system, bench.plan(shards), out, progress=False)
        assert result.made == shards_of(bench.plan(shards))
        assert out.read_bytes() == whole, f"{system}, {shards} shards"
        check_folder(out)


@pytest.mark.parametrize("percent", [10, 50, 90])
def test_a_killed_driver_leaves_nothing_and_is_continued(bench, short, tmp_path, percent):
    out = tmp_path / "out" / "x.run"
    slow = str(bench.script("slow", SLOW))
    driver = Driver(SYSTEM, bench.plan(64), out, CLARIQ=slow)
    wait_for(lambda: records(out) >= 64 * percent // 100, lambda: "parts appear", 120)
    driver.kill()
    wait_for(lambda: not processes_with(driver.mark), lambda: processes_with(driver.mark), 240)
    assert records(out) < 64
    kept = records(out)
    again = Driver(SYSTEM, bench.plan(64), out)
    again.finish()
    wait_for(lambda: not processes_with(again.mark), lambda: processes_with(again.mark), 60)
    assert out.read_bytes() == bench.single(SYSTEM)
    check_folder(out)
    print(f"driver killed at {percent} %: {kept} parts were kept, 0 processes left")


@pytest.mark.parametrize("percent", [10, 50, 90])
@pytest.mark.parametrize("victim", ["worker", "node"])
def test_a_killed_worker_or_node_costs_its_shards_alone(
    bench, short, tmp_path, monkeypatch, victim, percent
):
    from ray.cluster_utils import Cluster

    out = tmp_path / "out" / "x.run"
    mark = f"CLARIQ_TEST_NODE={os.urandom(8).hex()}"
    monkeypatch.setenv(*mark.split("="))
    monkeypatch.setenv("CLARIQ", str(bench.script("slow", SLOW)))
    arguments = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=arguments)
    try:
        node = cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
        cluster.wait_for_nodes()
        driver = Driver(SYSTEM, bench.plan(64), out, RAY_ADDRESS=cluster.address)
        wait_for(lambda: records(out) >= 64 * percent // 100, lambda: "parts appear", 120)
        if victim == "node":
            cluster.remove_node(node, allow_graceful=False)
        else:
            workers = [
                pid
                for pid, command in processes_with(mark)
                if command.startswith("ray::_make_part")
            ]
            assert workers
            os.kill(workers[0], signal.SIGKILL)
        driver.finish()
    finally:
        cluster.shutdown()
    wait_for(lambda: not processes_with(mark), lambda: processes_with(mark), 60)
    assert out.read_bytes() == bench.single(SYSTEM)
    check_folder(out)


def test_a_task_that_this_machine_has_no_room_for_is_refused(bench, short, tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(clariq.ClariqError, match="a task is too large"):
        clariq.ray.run(SYSTEM, bench.plan(7), tmp_path / "out" / "x.run", cpus=10_000)
    assert not ray.is_initialized()
    assert not list(tmp_path.rglob("*.parts"))


def test_two_drivers_write_the_same_shards(bench, short, tmp_path):
    out = tmp_path / "out" / "x.run"
    drivers = [Driver(SYSTEM, bench.plan(7), out) for _ in range(2)]
    for driver in drivers:
        driver.finish()
    assert out.read_bytes() == bench.single(SYSTEM)
    check_folder(out)


def test_a_plan_and_a_run_on_s3(bench, local, tmp_path):
    moto = pytest.importorskip("moto.server")
    import fsspec

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    storage = {"endpoint_url": f"http://{host}:{port}", "key": "k", "secret": "s"}
    try:
        files = fsspec.filesystem("s3", **storage)
        files.mkdir("bucket")
        files.put(f"{bench.plan(7).parent}/", "bucket/shards/", recursive=True)
        plan, out = "s3://bucket/shards/plan.json", "s3://bucket/runs/x.run"
        keys = {"storage": storage, "progress": False}
        result = clariq.ray.run(SYSTEM, plan, out, **keys)
        assert (result.url, result.made) == (out, 7)
        assert files.cat_file("bucket/runs/x.run") == bench.single(SYSTEM)
        part = "bucket/runs/x.run.parts/run.part-00003.run"
        files.pipe_file(part, files.cat_file(part)[:50])
        result = clariq.ray.run(SYSTEM, plan, out, **keys)
        assert (result.made, result.found) == (1, 6)
        assert files.cat_file("bucket/runs/x.run") == bench.single(SYSTEM)
        files.invalidate_cache()
        assert len(files.find("bucket/runs")) == 2 + 1 + 2 * 7
        with pytest.raises(clariq.ClariqError, match="s3://nobucket"):
            clariq.ray.run(SYSTEM, plan, "s3://nobucket/x.run", **keys)
    finally:
        server.stop()
    with pytest.raises(clariq.ray.Unreachable, match="s3://bucket/shards/plan.json"):
        clariq.ray.run(SYSTEM, plan, out, **keys)


def test_a_grid_of_trainings(bench, local, tmp_path, monkeypatch):
    root = Path(__file__).resolve().parents[2]
    recipe = tmp_path / "tiny.toml"
    base = root / "crates/bert/tests/data/tiny"
    recipe.write_text(
        f'name = "tiny"\nbase = "{base}"\nepochs = 0.05\nlearning_rate = 1e-3\n'
        '[objective]\nkind = "in-batch-softmax"\nbatch = 8\n'
    )
    grid = tmp_path / "grid.toml"
    grid.write_text(
        f'[[train]]\nrecipe = ["{recipe}"]\nfolds = 3\nseed = [1, 2]\n'
        "[train.parameters]\nlearning_rate = [1e-3, 1e-2]\n"
    )
    try:
        table = clariq.ray.jobs(grid, tmp_path / "out", progress=False)
    except clariq.ClariqError as error:
        if "built without them" in error.message:
            pytest.skip("no learned stages")
        raise
    assert len(table.rows) == 2 * 3 * 2
    assert {(row["fold"], row["seed"]) for row in table.rows} == {
        (fold, seed) for fold in range(3) for seed in (1, 2)
    }
    assert [row["jobs"] for row in table.means()] == [6, 6]
    assert clariq.ray.jobs(grid, tmp_path / "out", progress=False).rows == table.rows


def test_ray_itself_stays_small(bench, short, tmp_path):
    """Ray's own processes on this machine, the command and the driver left out."""
    slow = str(bench.script("slow", SLOW))
    driver = Driver(SYSTEM, bench.plan(64), tmp_path / "out" / "x.run", CLARIQ=slow)
    most = 0

    def watch():
        nonlocal most
        while driver.process.poll() is None:
            pids = [
                pid
                for pid, command in processes_with(driver.mark)
                if pid != driver.process.pid and "clariq" not in command.split("/")[-1]
            ]
            most = max(most, sum(map(proportional_bytes, pids)))
            time.sleep(0.2)

    watcher = threading.Thread(target=watch)
    watcher.start()
    driver.finish()
    watcher.join()
    print(f"Ray: {most / 1e6:.0f} MB")
    assert 0 < most < 1e9
    shutil.rmtree(tmp_path / "out")


def proportional_bytes(pid):
    """The memory of a process, shared pages divided among those that share them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
