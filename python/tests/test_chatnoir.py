"""scripts/fetch-chatnoir against a server in the form of ChatNoir's cache."""

import json
import subprocess
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "fetch-chatnoir"
# The example of webis-uuid's README.
PAGE, UUID = "clueweb12-0200wb-93-16911", "7f476110-58fd-5698-b104-8b29c3ac6d55"
OTHER, GONE = "clueweb09-en0044-22-32198", "clueweb09-en0000-00-00000"


class Cache(BaseHTTPRequestHandler):
    """A page by UUID and index; the first answer to any page is a 503."""

    def do_GET(self):
        server = self.server
        path, _, query = self.path.partition("?")
        given = urllib.parse.parse_qs(query, keep_blank_values=True)
        server.seen.append((path, given, self.headers.get("Authorization")))
        text = server.pages.get((given["uuid"][0], given["index"][0]))
        status = 404 if text is None else 200
        if text is not None and given["uuid"][0] not in server.asked:
            server.asked.add(given["uuid"][0])
            status = 503
        if server.form == "elsewhere":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{server.server_port}{self.path}")
            self.end_headers()
            return
        self.send_response(status)
        if status == 200 and server.form == "cut":
            server.form = "whole"
            self.send_header("Content-Length", "1000")
        if server.form == "quota":
            self.send_header("Content-Type", "application/json")
        self.end_headers()
        if status == 200:
            self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def cache():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Cache)
    server.pages, server.seen, server.asked, server.form = {}, [], set(), "whole"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()


def fetch(*words, **environment):
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **environment}
    )


def uuid_of(page):
    return fetch("--uuid", page).stdout.split()[0]


def test_uuids_are_those_of_webis_uuid():
    assert fetch("--uuid", PAGE).stdout == f"{UUID} {PAGE}\n"
    refused = fetch("--uuid", "msmarco-1")
    assert refused.returncode == 1 and "begins with clueweb09" in refused.stderr


def test_pages_of_a_run_become_documents_and_a_fetch_goes_on(cache, tmp_path):
    cache.pages = {(UUID, "cw12"): "Bees make honey.", (uuid_of(OTHER), "cw09"): "Wind\nis “air”."}
    run, output = tmp_path / "top10k.run", tmp_path / "documents.jsonl"
    run.write_text(f"1 Q0 {PAGE} 1 9 t\n1 Q0 {GONE} 2 8 t\n2 Q0 {PAGE} 1 9 t\n2 Q0 {OTHER} 2 8 t\n")
    words = [run, "-o", output, "--url", f"http://127.0.0.1:{cache.server_port}", "--pause", "0"]
    fetched = fetch(*words, CHATNOIR_API_KEY="secret")
    assert fetched.returncode == 1
    assert fetched.stderr.rstrip().endswith(f"ChatNoir does not have 1 pages: {GONE}")
    documents = [json.loads(line) for line in output.read_text().splitlines()]
    assert documents == [{"id": PAGE, "text": "Bees make honey."}, {"id": OTHER, "text": "Wind\nis “air”."}]
    path, given, key = cache.seen[0]
    assert (path, given["uuid"], given["index"]) == ("/cache", [UUID], ["cw12"])
    assert {"raw", "plain"} <= set(given) and key == "Bearer secret"
    assert "secret" not in output.read_text() + fetched.stderr
    # The second page is cut off as if the first fetch had been interrupted: it alone is fetched again.
    whole = output.read_text()
    output.write_text(whole[:-9])
    cache.seen.clear()
    fetch(*words)
    assert output.read_text() == whole
    assert [given["uuid"][0] for _, given, _ in cache.seen] == [uuid_of(GONE), uuid_of(OTHER)]
    assert cache.seen[0][2] is None


def test_a_refusal_ends_the_fetch(cache, tmp_path):
    run = tmp_path / "bad.run"
    run.write_text("1 Q0\n")
    refused = fetch(run, "-o", tmp_path / "d.jsonl")
    assert refused.returncode == 1 and "bad.run:1" in refused.stderr
    assert not (tmp_path / "d.jsonl").exists()


def test_only_whole_texts_of_the_named_server_are_kept(cache, tmp_path):
    cache.pages = {(UUID, "cw12"): "Bees make honey."}
    run, output = tmp_path / "a.run", tmp_path / "d.jsonl"
    run.write_text(f"1 Q0 {PAGE} 1 9 t\n")
    words = [run, "-o", output, "--url", f"http://127.0.0.1:{cache.server_port}", "--pause", "0"]
    cache.form = "elsewhere"
    refused = fetch(*words, CHATNOIR_API_KEY="secret")
    assert refused.returncode == 1 and "another server, localhost:" in refused.stderr
    assert len(cache.seen) == 1 and output.read_text() == ""
    cache.form = "cut"
    fetched = fetch(*words)
    assert (fetched.returncode, json.loads(output.read_text())["text"]) == (0, "Bees make honey.")
    output.unlink()
    cache.form = "quota"
    refused = fetch(*words)
    assert refused.returncode == 1 and "expected a text" in refused.stderr
    cache.form, cache.pages = "whole", {(UUID, "cw12"): " "}
    assert "does not have 1 pages" in fetch(*words).stderr
    output.write_text("{}\n")
    assert "d.jsonl:1: expected a document" in fetch(*words).stderr
