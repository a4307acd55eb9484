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
    }
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
    let refused = bench.run(&["man", "-o", "pages/clariq.1"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("pages/clariq.1"), "{}", refused.stderr);
}
