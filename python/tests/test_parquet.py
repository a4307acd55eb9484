"""Collections as Parquet files."""

import pytest

import clariq

pq = pytest.importorskip("pyarrow.parquet")


def test_every_split_is_written_with_its_labels(tmp_path):
    from clariq._export import export
    from clariq.parquet import export_parquet

    files = export_parquet(tmp_path)
    names = [file.relative_to(tmp_path).as_posix() for file in files]
    splits = ["train", "dev", "test"]
    expected = [f"{part}/{split}.parquet" for part in ("requests", "qrels") for split in splits]
    assert names == ["documents/all.parquet", *expected]
    exported = export(None)
    documents = pq.read_table(files[0]).to_pylist()
    assert [(row["id"], row["text"]) for row in documents] == exported.documents
    qrels = pq.read_table(tmp_path / "qrels/dev.parquet").to_pylist()
    assert [tuple(row.values()) for row in qrels] == exported.qrels["dev"]
    assert {path.name for path in tmp_path.iterdir()} == {
        "README.md", "documents", "requests", "qrels"
    }  # fmt: skip
    before = files[1].read_bytes()
    export_parquet(tmp_path)
    assert files[1].read_bytes() == before


def test_datasets_loads_what_is_written(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    from clariq.parquet import export_parquet

    export_parquet(tmp_path / "set")
    keys = {"cache_dir": str(tmp_path / "cache")}
    dev = datasets.load_dataset(str(tmp_path / "set"), "requests", split="dev", **keys)
    assert len(dev) == 15 and set(dev.column_names) == {"id", "text"}
    qrels = datasets.load_dataset(str(tmp_path / "set"), "qrels", **keys)
    assert set(qrels) == {"train", "dev", "test"}


def test_a_folder_that_is_none_is_refused(tmp_path):
    from clariq.parquet import export_parquet

    with pytest.raises(clariq.ClariqError, match="question_bank.tsv"):
        export_parquet(tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()
