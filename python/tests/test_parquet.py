"""Collections as Parquet files."""

import subprocess
import sys
from pathlib import Path

import pytest

import clariq

IKAT = Path(__file__).resolve().parents[2] / "data" / "sample-ikat"

pq = pytest.importorskip("pyarrow.parquet")


def test_every_split_is_written_with_its_labels(tmp_path):
    from clariq._export import export
    from clariq.parquet import export_parquet

    files = export_parquet(tmp_path)
    names = [file.relative_to(tmp_path).as_posix() for file in files]
    splits = ["train", "dev", "test"]
    expected = [f"{part}/{split}.parquet" for part in ("requests", "qrels") for split in splits]
    assert names == ["documents/train.parquet", *expected]
    exported = export(None)
    documents = pq.read_table(files[0]).to_pylist()
    assert [(row["id"], row["text"]) for row in documents] == exported.documents
    requests = pq.read_table(tmp_path / "requests/dev.parquet").to_pylist()
    for row, request in zip(requests, exported.requests["dev"]):
        assert row.pop("facets") == [facet._asdict() for facet in request.facets]
        assert row.pop("history") == [] and row.pop("statements") == []
        assert list(row.values()) == [request.id, request.utterance, None, request.need]
    qrels = pq.read_table(tmp_path / "qrels/dev.parquet").to_pylist()
    assert [tuple(row.values()) for row in qrels] == exported.qrels["dev"]
    assert {path.name for path in tmp_path.iterdir()} == {
        "README.md", "documents", "requests", "qrels"
    }  # fmt: skip
    before = files[1].read_bytes()
    export_parquet(tmp_path)
    assert files[1].read_bytes() == before


def test_a_conversation_keeps_its_speakers(tmp_path):
    from clariq._export import export
    from clariq.parquet import export_parquet

    export_parquet(tmp_path, IKAT)
    rows = pq.read_table(tmp_path / "requests/2023_test.parquet").to_pylist()
    requests = export(IKAT).requests["2023-test"]
    assert len(rows) == len(requests) == 46
    for row, request in zip(rows, requests):
        assert row["history"] == [said._asdict() for said in request.history]
        assert (row["id"], row["resolved"]) == (request.id, request.resolved)
        assert tuple(row["statements"]) == request.statements
    assert max(len(row["history"]) for row in rows) > 2


def load(folder, part, **keys):
    datasets = pytest.importorskip("datasets")
    return datasets.load_dataset(str(folder), part, cache_dir=str(folder / "cache"), **keys)


def test_datasets_loads_what_is_written(tmp_path):
    from clariq._export import export
    from clariq.parquet import export_parquet

    export_parquet(tmp_path)
    dev = load(tmp_path, "requests", split="dev")
    assert len(dev) == 15 and {"id", "utterance", "history"} <= set(dev.column_names)
    assert set(load(tmp_path, "qrels")) == {"train", "dev", "test"}
    documents = load(tmp_path, "documents")
    assert set(documents) == {"train"}
    assert list(documents["train"]["id"]) == [row[0] for row in export(None).documents]


def test_datasets_loads_splits_of_other_names(tmp_path, monkeypatch):
    import clariq.parquet
    from clariq._export import Exported, ExportedRequest

    def request(id, text):
        return ExportedRequest(id, text, (), None, (), None, ())

    requests = {"2023-test": [request("1", "a"), request("2", "b")], "2024": [request("3", "c")]}
    exported = Exported([("d", "text")], requests, {"2023-test": [("1", "d", 1)]})
    monkeypatch.setattr(clariq.parquet, "export", lambda data: exported)
    clariq.parquet.export_parquet(tmp_path)
    splits = load(tmp_path, "requests")
    assert {name: len(split) for name, split in splits.items()} == {"2023_test": 2, "2024": 1}
    assert load(tmp_path, "qrels", split="2023_test")[0]["document_id"] == "d"


def test_the_module_is_a_command(tmp_path):
    words = [sys.executable, "-m", "clariq.parquet", str(tmp_path / "out")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(tmp_path / "out" / "documents" / "train.parquet")
    bad = subprocess.run([*words, "--data", str(tmp_path)], capture_output=True, text=True)
    assert bad.returncode == 2 and bad.stderr.startswith("error: ")
    assert "Traceback" not in bad.stderr


def test_a_folder_that_is_none_is_refused(tmp_path):
    from clariq.parquet import export_parquet

    with pytest.raises(clariq.ClariqError, match="question_bank.tsv"):
        export_parquet(tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()
