//! The next step for each kind of problem. The crates below say what they expected and found, and know no
//! commands.

use clariq_core::{Hint, Problem, ProblemKind};
use clariq_tracks::TRACKS;
use std::path::Path;

/// The hint of a problem, with the commands that help.
pub(crate) fn advised(problem: &Problem) -> Hint {
    let commands = match problem.kind {
        ProblemKind::MissingData => missing_data(&problem.at.file),
        ProblemKind::MissingModel => Hint::command("setup").and(" installs the default model"),
        ProblemKind::NoCollection => {
            Hint::command("data fetch").and(" downloads the public collections")
        }
        ProblemKind::UnknownSystem => Hint::command("systems").and(" lists the built-in systems"),
        ProblemKind::System => Hint::command("systems show bm25").and(" prints a system"),
        ProblemKind::NeedModel => {
            Hint::on_data("need train CONFIG -o FILE").and(" trains a need model")
        }
        ProblemKind::Damaged | ProblemKind::Index => {
            Hint::on_data(format!("index build --force --index {}", problem.at.file))
                .and(" builds it again")
        }
        ProblemKind::NoEngine => Hint::command("doctor").and(" shows what is missing"),
        ProblemKind::Engine => Hint::command("doctor").and(" shows what was found, and ").and(
            Hint::command("setup --libtorch DIR")
                .and(" takes another libtorch; in a clone, build again"),
        ),
        ProblemKind::NotARun => Hint::on_data("eval FILE --task clarification_need")
            .and(" scores need files, ")
            .and(Hint::on_data("eval RUN --qrels FILE"))
            .and(" a run by judgements"),
        _ => return problem.hint.clone(),
    };
    if problem.hint.is_empty() { commands } else { problem.hint.clone().and("; ").and(commands) }
}

/// The commands about a file that is missing: the usual folder of a collection is fetched by its name.
fn missing_data(file: &str) -> Hint {
    let mut others = TRACKS.kinds().iter().skip(1).filter(|kind| kind.released.is_some());
    if let Some(kind) = others.find(|kind| Path::new(file).starts_with(kind.usual)) {
        let words = format!("data fetch --collection {}", kind.name.to_lowercase());
        return Hint::command(words).and(" downloads the released files");
    }
    Hint::on_data("data check")
        .and(" lists the files of the data folder, and ")
        .and(Hint::command("data fetch"))
        .and(" downloads the public collections")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use clariq_core::problem;

    #[test]
    fn the_commands_that_are_advised_exist() {
        for kind in [
            ProblemKind::MissingData,
            ProblemKind::MissingModel,
            ProblemKind::NoCollection,
            ProblemKind::UnknownSystem,
            ProblemKind::System,
            ProblemKind::NeedModel,
            ProblemKind::Index,
            ProblemKind::NoEngine,
            ProblemKind::Engine,
            ProblemKind::NotARun,
        ] {
            let hint = advised(&problem!("here", "this", "that", "check it").kind(kind));
            assert!(hint.starts_with("check it; `clariq "), "{hint}");
            for command in hint.split("`clariq ").skip(1) {
                let mut known = cli::command();
                for word in command.split(['`', ' ']) {
                    let Some(below) = known.find_subcommand(word) else { break };
                    known = below.clone();
                }
                assert!(known.get_name() != "clariq", "{hint}");
            }
        }
    }
}
