//! Shell completions and manual pages.

use crate::common::Bench;
use std::process::{Command, Stdio};

/// The commands that `--help` lists.
fn commands(bench: &Bench) -> Vec<String> {
    let help = bench.succeed("--help").stdout;
    let listed = help.split("Commands:").nth(1).expect("a list").split("\n\n").next();
    let lines = listed.expect("lines").lines().filter_map(|line| line.split_whitespace().next());
    lines.map(str::to_owned).filter(|name| name != "help").collect()
}

#[test]
fn every_shell_completes_every_command() {
    let bench = Bench::new();
    let commands = commands(&bench);
    assert!(commands.len() > 15, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = bench.succeed(&format!("completions {shell}")).stdout;
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell}: {command}");
        }
        assert!(script.contains("skip-bad"), "{shell}");
        // The others complete no values.
        if ["bash", "zsh", "fish"].contains(&shell) {
            for value in ["bm25-tuned", "2023-test", "nDCG@10", "all-mpnet-base-v2", "statements"] {
                assert!(script.contains(value), "{shell}: {value}");
            }
        }
    }
    // fish completes no values of positional arguments, such as recipes.
    assert!(bench.succeed("completions zsh").stdout.contains("encoder-base"));
    let refused = bench.run(&["completions", "dos"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("one of bash"), "{}", refused.stderr);
}

#[test]
fn bash_reads_its_completions() {
    let bench = Bench::new();
    bench.write("clariq.bash", bench.succeed("completions bash").stdout);
    let script = "source clariq.bash && COMP_WORDS=(clariq rep) COMP_CWORD=1 && \
                  _clariq clariq rep clariq && echo ${COMPREPLY[@]}";
    let mut bash = Command::new("bash");
    bash.args(["-c", script]).current_dir(bench.path("")).stderr(Stdio::inherit());
    let Ok(done) = bash.output() else {
        println!("skipped: no bash");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "report reproduce");
}

#[test]
fn every_command_has_a_manual_page() {
    let bench = Bench::new();
    let main = bench.succeed("man").stdout;
    assert!(main.contains(".TH clariq 1") && main.contains("clariq\\-run(1)"), "{main}");
    bench.succeed("man -o pages");
    assert_eq!(bench.text("pages/clariq.1").lines().next(), main.lines().next());
    for command in commands(&bench) {
        let page = bench.text(&format!("pages/clariq-{command}.1"));
        assert!(page.contains(&format!("clariq\\-{command}")), "{page}");
    }
    assert!(bench.text("pages/clariq-need-train.1").contains("repeats"));
    for (command, name) in [
        ("run", "bm25\\-tuned"),
        ("train", "encoder\\-base"),
        ("setup", "all\\-mpnet\\-base\\-v2"),
        ("tune", "statements"),
    ] {
        let page = bench.text(&format!("pages/clariq-{command}.1"));
        assert!(page.contains(name), "{command}: no {name}");
    }
    for command in ["eval", "run", "need-train"] {
        let page = bench.text(&format!("pages/clariq-{command}.1"));
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            if line == ".TP" {
                let option = lines.next().expect("an option");
                let description = lines.next().unwrap_or_default();
                assert!(!description.is_empty(), "{command}: no description of {option}");
            }
        }
    }
    let refused = bench.run(&["man", "-o", "pages/clariq.1"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("pages/clariq.1"), "{}", refused.stderr);
}

#[test]
fn help_fits_a_terminal_and_has_examples() {
    let bench = Bench::new();
    for command in ["run", "eval", "rank", "train", "tune", "report", "ask"] {
        let help = bench.shell(&["env", "COLUMNS=80", "sh"], &format!("\"$0\" {command} --help"));
        let example = help.stdout.split("Examples:").nth(1).expect("examples");
        assert!(example.contains("clariq "), "{example}");
        for line in example.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
    let help = bench.succeed("need train --help").stdout;
    assert!(!help.contains("clariq train"), "{help}");
}
