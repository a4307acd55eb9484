"""The gate passes over what passed in this clone, and over nothing else."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the tests of the package have no scripts")


@pytest.fixture
def clone(tmp_path):
    """A clone with a test program, which writes `ran` and ends with the status in a file."""
    root = tmp_path / "clone"
    for name in ("run-tests", "unless-passed", "gate"):
        copy = shutil.copytree if (SCRIPTS / name).is_dir() else shutil.copy
        (root / "scripts").mkdir(parents=True, exist_ok=True)
        copy(SCRIPTS / name, root / "scripts" / name)
    files = {
        "crates/a/tests/it/main.rs": 'read("data/x"); read("../../shared/y")',
        "crates/a/tests/data/own": "1",
        "data/x": "1",
        "docs/page.md": "1",
        "status": "0",
        "target/it.d": "/t/it: crates/a/tests/it/main.rs\n",
        "target/it": f'#!/bin/sh\n[ "$1" = --list ] && exit\necho ran\nexit $(cat {root}/status)\n',
        "target/clariq": "1",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "target/it").chmod(0o755)
    (tmp_path / "shared").mkdir()
    lines = []
    for name, kind, test in (("it", "test", True), ("clariq", "bin", False)):
        message = {"executable": str(root / "target" / name), "package_id": "a", "profile": {"test": test}}
        message |= {"target": {"kind": [kind]}, "manifest_path": str(root / "crates/a/Cargo.toml")}
        lines.append(json.dumps(message) + "\n")
    (root / "target/tests.json").write_text("".join(lines))
    return root


def started(clone, *command):
    """The exit status of a script of the clone, and whether the program ran."""
    done = subprocess.run([clone / "scripts" / command[0], *command[1:]], cwd=clone, capture_output=True, text=True)
    assert ("ran" in done.stdout) != ("passed over" in done.stdout), done.stdout + done.stderr
    return done.returncode, "ran" in done.stdout


def ran_tests(clone):
    return started(clone, "run-tests", "target/tests.json", "test", "1")


@pytest.mark.parametrize(
    "changed", ["data/x", "crates/a/tests/data/own", "../shared/y", "target/it", "target/clariq"]
)
def test_a_program_runs_again_when_what_it_reads_has_changed(clone, changed):
    assert [ran_tests(clone), ran_tests(clone)] == [(0, True), (0, False)]
    with open(clone / changed, "a") as file:
        file.write("\n")
    assert [ran_tests(clone), ran_tests(clone)] == [(0, True), (0, False)]


def test_a_program_does_not_run_again_for_what_it_does_not_read(clone):
    assert ran_tests(clone) == (0, True)
    (clone / "docs/page.md").write_text("2")
    (clone / "crates/a/tests/it/main.rs").touch()
    assert ran_tests(clone) == (0, False)


def test_a_program_that_reads_all_sources_runs_again_when_one_has_changed(clone):
    (clone / "crates/a/tests/it/main.rs").write_text('read("crates")')
    (clone / "crates/b").mkdir()
    (clone / "crates/b/lib.rs").write_text("1")
    assert [ran_tests(clone), ran_tests(clone)] == [(0, True), (0, False)]
    (clone / "crates/b/lib.rs").write_text("2")
    assert [ran_tests(clone), ran_tests(clone)] == [(0, True), (0, False)]


def test_a_failure_is_not_a_pass_and_takes_an_earlier_one_away(clone):
    (clone / "status").write_text("3")
    assert [ran_tests(clone), ran_tests(clone)] == [(1, True), (1, True)]
    (clone / "status").write_text("0")
    assert [ran_tests(clone), ran_tests(clone)] == [(0, True), (0, False)]
    (clone / "data/x").write_text("2")
    (clone / "status").write_text("3")
    assert ran_tests(clone) == (1, True)
    (clone / "data/x").write_text("1")
    assert ran_tests(clone) == (1, True)


def test_what_changes_during_a_check_has_not_passed(clone):
    changes = "echo ran; echo 2 >>data/x"
    check = ("unless-passed", "check", "data", "--", "sh", "-c")
    assert [started(clone, *check, changes) for _ in range(2)] == [(0, True), (0, True)]
    assert [started(clone, *check, "echo ran") for _ in range(2)] == [(0, True), (0, False)]
    assert [started(clone, *check, "echo ran; exit 4") for _ in range(2)] == [(4, True), (4, True)]
