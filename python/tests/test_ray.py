"""Runs on Ray have the bytes of one machine, even if a worker dies, with files anywhere."""

import gzip
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import clariq

ray = pytest.importorskip("ray")
import fsspec  # noqa: E402

import clariq.ray  # noqa: E402

# Stands in for the command: the first run kills its worker and itself.
KILLER = '#!/bin/sh\n[ "$1" = run ] && rm "$KILL_ONE" 2>/dev/null && { kill -9 $PPID; sleep 60; }\nexec "$REAL" "$@"\n'


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ray")
    killer = folder / "killer"
    killer.write_text(KILLER)
    killer.chmod(0o755)
    before = dict(os.environ)
    os.environ.update(
        REAL=clariq.find_command(), CLARIQ=str(killer), KILL_ONE=str(folder / "kill")
    )
    ray.init(
        num_cpus=2, include_dashboard=False, object_store_memory=80 << 20, log_to_driver=False
    )
    yield folder
    ray.shutdown()
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def requests(cluster):
    """Ten requests, two blank lines between them, and one about nothing in the collection."""
    subjects = ["a tent", "saturn", "xyzzy", "a car", "dogs"]
    texts = [f"tell me about {subjects[number % 5]} {number}" for number in range(10)]
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(texts)]
    path = cluster / "requests.jsonl"
    path.write_text("\n".join([*lines[:7], "", "", *lines[7:]]))
    return path


@pytest.fixture(scope="module")
def single(cluster, requests):
    """The run over the whole file on one machine, and its record."""
    run = cluster / "single" / "bm25.run"
    clariq.run_command(["-q", "run", "bm25", "--requests", str(requests), "-o", str(run)])
    return run.read_bytes(), run.with_suffix(".run.json").read_bytes()


@pytest.mark.parametrize("block", [1, 4, 100])
def test_a_run_in_blocks_has_the_bytes_of_one_machine(single, requests, tmp_path, block):
    out = tmp_path / "new" / "bm25.run"
    assert clariq.ray.run("bm25", requests, out, block=block) == 10
    assert (out.read_bytes(), out.with_suffix(".run.json").read_bytes()) == single
    assert len(list(out.parent.iterdir())) == 2


def test_a_killed_worker_is_replaced(cluster, single, requests, tmp_path):
    (cluster / "kill").touch()
    with pytest.raises(ray.exceptions.WorkerCrashedError):
        clariq.ray.run("bm25", requests, tmp_path / "bm25.run", block=3, retries=0)
    assert not list(tmp_path.iterdir())
    (cluster / "kill").touch()
    clariq.ray.run("bm25", requests, tmp_path / "bm25.run", block=3)
    assert not (cluster / "kill").exists()
    assert (tmp_path / "bm25.run").read_bytes() == single[0]


def test_requests_and_run_in_another_file_system(single, requests):
    files = fsspec.filesystem("memory")
    files.pipe_file("/in/requests.jsonl.gz", gzip.compress(requests.read_bytes()))
    clariq.ray.run("bm25", "memory://in/requests.jsonl.gz", "memory://out/bm25.run", block=9)
    assert files.cat_file("/out/bm25.run") == single[0]
    assert json.loads(files.cat_file("/out/bm25.run.json"))["requests"]["count"] == 10


def test_a_file_of_a_system_and_arguments_reach_the_tasks(requests, tmp_path):
    system = tmp_path / "own.toml"
    system.write_text('name = "own"\n[[stages]]\nstage = "bm25"\nanalyzer = "nltk"\ndepth = 5\n')
    words = ["--requests", str(requests), "--set", "bm25.k1=0.7", "-o", str(tmp_path / "one.run")]
    clariq.run_command(["-q", "run", str(system), *words])
    arguments = ["--set", "bm25.k1=0.7"]
    clariq.ray.run(system, requests, tmp_path / "ray.run", block=6, arguments=arguments)
    assert (tmp_path / "ray.run").read_bytes() == (tmp_path / "one.run").read_bytes()


def test_bad_requests_are_refused_with_their_lines(cluster, tmp_path):
    bad, out = tmp_path / "bad.jsonl", tmp_path / "a.run"
    good = '{"id": 1, "text": "saturn"}\n'
    for text, message in [
        (f"{good}{{}}\n", r"lines 2 to 2 of the requests: (?s:.*)block.jsonl:1"),
        (f'{good}{{"id": "1", "text": "a car"}}\n', r"line 2\n.*\n.*`1`, as in line 1"),
        ("", "expected requests, found none"),
    ]:
        bad.write_text(text)
        with pytest.raises(clariq.ClariqError, match=message):
            clariq.ray.run("bm25", bad, out, block=1)
        assert not out.exists()


def test_a_system_with_a_model_behind_a_server_is_refused(requests, tmp_path):
    own, inline = tmp_path / "own.toml", tmp_path / "inline.toml"
    own.write_text('name = "own"\n[models.far]\nkind = "rerank"\n')
    inline.write_text('name = "own"\n"models" . far = { kind = "rerank" }\n')
    for system, name in [("clariq-chat", "clariq-chat"), (own, "own.toml"), (inline, "inline.toml")]:
        with pytest.raises(clariq.ClariqError, match=rf"{name}\n.*a model behind a server\n.*found: a table"):
            clariq.ray.run(system, requests, tmp_path / "a.run")
    assert not (tmp_path / "a.run").exists()


class Reranker(BaseHTTPRequestHandler):
    """A server that scores every document alike."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        results = [{"index": i, "relevance_score": 1} for i in range(len(asked["documents"]))]
        answer = json.dumps({"results": results}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def test_a_run_whose_record_names_a_server_is_refused(requests, tmp_path):
    """The table `models` has a spelling that is not found before the blocks are ranked."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Reranker)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    system = tmp_path / "late.toml"
    system.write_text(
        f'name = "late"\nmodels = {{ far = {{ kind = "rerank", url = "{url}", model = "m" }} }}\n'
        '[[stages]]\nstage = "bm25"\nanalyzer = "nltk"\ndepth = 5\n'
        '[[stages]]\nstage = "rerank"\nmodel = "far"\ndepth = 5\n'
    )
    try:
        with pytest.raises(clariq.ClariqError, match=r"late.toml\n.*a model behind a server\n.*models far\n"):
            clariq.ray.run(system, requests, tmp_path / "late.run", block=4)
    finally:
        server.shutdown()
        server.server_close()
    assert [path.name for path in tmp_path.iterdir()] == ["late.toml"]
