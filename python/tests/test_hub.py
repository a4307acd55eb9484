"""Models of the Hugging Face hub, against a hub of the tests."""

import hashlib
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub")
INSTALLER = Path(__file__).parents[1] / "installer"
sys.path.insert(0, str(INSTALLER))
import setup  # noqa: E402

NAME = "org/tiny"
WEIGHTS = b"weights " * 5000
FIRST, SECOND = "1" * 40, "2" * 40
FILES = {
    "config.json": b'{"model_type": "bert"}',
    "model.safetensors": WEIGHTS,
    "vocab.txt": b"a\nb\n",
    "1_Pooling/config.json": b"{}",
    "onnx/model.onnx": b"for another program",
    "pytorch_model.bin": b"a pickle",
}
READ = ["1_Pooling/config.json", "config.json", "model.safetensors", "vocab.txt"]


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Hub:
    """A hub with one model. Weights are at another address, as in a store of large files."""

    def __init__(self):
        self.revisions, self.main, self.gated = {FIRST: FILES}, FIRST, False
        self.cuts, self.asked, self.tokens = 0, [], set()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                self.answer(False)

            def do_GET(self):
                self.answer(True)

            def send(self, status, body=b"", **headers):
                self.send_response(status)
                length = headers.pop("length", len(body))
                self.send_header("Content-Length", str(length))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            def answer(self, has_body):
                hub.asked.append((self.command, self.path))
                hub.tokens.add(self.headers.get("Authorization"))
                path = self.path.partition("?")[0]
                if path.startswith("/store/"):
                    data = WEIGHTS
                    start = int(self.headers.get("Range", "bytes=0-")[len("bytes=") : -1])
                    rest = data[start:]
                    if hub.cuts and has_body:
                        hub.cuts -= 1
                        self.send(206 if start else 200, rest[: len(rest) // 2], length=len(rest))
                        self.close_connection = True
                        return None
                    more = {"Content_Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
                    return self.send(206 if start else 200, rest, **(more if start else {}))
                prefix = f"/api/models/{NAME}"
                if path.startswith(prefix):
                    revision = path[len(prefix) :].partition("/revision/")[2] or "main"
                    commit = hub.main if revision == "main" else revision
                    files = hub.revisions.get(commit)
                    if files is None:
                        return self.send(404, b"{}", X_Error_Code="RevisionNotFound")
                    siblings = [
                        {"rfilename": name, "size": len(data), "blobId": "b"}
                        | (
                            {"lfs": {"sha256": sha256(data), "size": len(data), "pointerSize": 1}}
                            if name == "model.safetensors"
                            else {}
                        )
                        for name, data in files.items()
                    ]
                    body = json.dumps({"id": NAME, "sha": commit, "siblings": siblings})
                    return self.send(200, body.encode(), Content_Type="application/json")
                if not path.startswith(f"/{NAME}/resolve/"):
                    return self.send(404, b"{}", X_Error_Code="RepoNotFound")
                if hub.gated:
                    return self.send(403, b"{}", X_Error_Code="GatedRepo")
                _, _, rest = path.partition("/resolve/")
                commit, _, file = rest.partition("/")
                data = hub.revisions[commit][file]
                about = {"X_Repo_Commit": commit, "ETag": f'"{sha256(data)}"'}
                if file == "model.safetensors":
                    about |= {"X_Linked_Etag": f'"{sha256(data)}"', "X_Linked_Size": str(len(data))}
                    return self.send(302, Location=f"{hub.url}/store/weights", **about)
                return self.send(200, data, **about)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def served(tmp_path, monkeypatch):
    server = Hub()
    monkeypatch.setenv("CLARIQ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    yield server
    server.http.shutdown()
    server.http.server_close()


def install(*arguments):
    """The status and the messages of the program."""
    words = [sys.executable, str(INSTALLER / "hub.py"), *arguments, "--families", "bert,roberta"]
    words += ["--files", "router_config.json", "--refused", "adapter_config.json,other.json"]
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, done.stderr


def installed(name=NAME):
    return setup.model_folder(name)


def test_files_that_are_read_are_installed_with_revision_and_digests(served, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert install("--model", NAME, "--check")[0] == 1
    assert install("--model", NAME)[0] == 0
    files = sorted(str(path.relative_to(installed())) for path in installed().rglob("*.*"))
    assert files == sorted([*READ, "origin.json"])
    assert (installed() / "model.safetensors").read_bytes() == WEIGHTS, "after a redirect"
    origin = json.loads((installed() / "origin.json").read_text())
    assert origin == {"repository": NAME, "revision": FIRST}
    sums = (installed() / "SHA256SUMS").read_text()
    assert f"{sha256(WEIGHTS)}  model.safetensors\n" in sums
    assert "Bearer hf_secret" in served.tokens
    asked = len(served.asked)
    assert install("--model", NAME)[0] == 0
    assert install("--model", NAME, "--check")[0] == 0
    assert len(served.asked) == asked, "offline afterwards"


def test_files_that_the_command_names_are_read_or_refused(served):
    served.revisions[FIRST] = FILES | {"router_config.json": b"{}", "2_Router/router_config.json": b"{}"}
    assert install("--model", NAME)[0] == 0
    for path in ("router_config.json", "2_Router/router_config.json"):
        assert (installed() / path).is_file()
    served.revisions[SECOND] = FILES | {"adapter_config.json": b"{}"}
    status, told = install("--model", f"{NAME}@{SECOND}", "--force")
    assert status == 2 and f"{NAME} has adapter_config.json, which is not read" in told, told


def test_a_cut_download_is_continued_or_told(served):
    served.cuts = 1
    status, told = install("--model", NAME)
    if status != 0:
        assert "could not be downloaded" in told and not installed().exists()
        assert install("--model", NAME)[0] == 0
    assert served.cuts == 0
    assert (installed() / "model.safetensors").read_bytes() == WEIGHTS


def test_a_moved_revision_is_installed_only_by_force(served):
    assert install("--model", NAME)[0] == 0
    served.revisions[SECOND] = FILES | {"vocab.txt": b"c\n"}
    served.main = SECOND
    status, told = install("--model", NAME)
    assert status == 0 and f"at revision {FIRST}" in told, told
    status, told = install("--model", f"{NAME}@{SECOND}")
    assert status == 2 and f"is installed at revision {FIRST}" in told, told
    assert install("--model", NAME, "--force")[0] == 0
    assert (installed() / "vocab.txt").read_bytes() == b"c\n"
    assert install("--model", f"{NAME}@{FIRST}", "--force")[0] == 0
    assert (installed() / "vocab.txt").read_bytes() == FILES["vocab.txt"]


def test_an_unknown_family_is_refused_before_its_weights(served):
    served.revisions[FIRST] = FILES | {"config.json": b'{"model_type": "modernbert"}'}
    status, told = install("--model", NAME)
    assert status == 2 and "the model is a `modernbert`" in told, told
    assert not any("safetensors" in path or "store" in path for _, path in served.asked)
    assert not installed().exists()


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        (lambda hub: setattr(hub, "gated", True), NAME, ["is gated", "HF_TOKEN"]),
        (lambda hub: None, "org/other", ["the hub has no model org/other"]),
        (lambda hub: None, f"{NAME}@none", ["has no revision `none`"]),
        (lambda hub: None, "a/b/c", ["`a/b/c` is no name of a model"]),
        (
            lambda hub: hub.revisions[FIRST].pop("model.safetensors"),
            NAME,
            ["has no model.safetensors"],
        ),
    ],
)
def test_errors_have_hints(served, change, name, said):
    served.revisions = {FIRST: dict(FILES)}
    change(served)
    status, told = install("--model", name)
    assert status == 2, told
    assert all(words in told for words in [*said, "hint: "]), told
    assert not installed(NAME).exists()


def test_a_hub_that_cannot_be_reached_is_told(served, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    status, told = install("--model", NAME)
    assert status == 2 and f"{NAME} could not be downloaded" in told and "hint: " in told, told
