//! `clariq train`: which models does a system need, and are they trained?

use crate::cli::TrainArgs;
use crate::commands::Outcome;
use crate::failure::Failure;
use crate::settings::Settings;

/// Without the feature `bert` there is nothing that could be trained.
#[cfg(not(feature = "bert"))]
pub(crate) fn train(_settings: &Settings, arguments: &TrainArgs) -> Result<Outcome, Failure> {
    use clariq_rank::Models;
    let TrainArgs { configs, output: _, resume: _, force: _ } = arguments;
    match clariq_rank::NoModels.encoder(&configs.join(", ")) {
        Err(error) => Err(error.into()),
        Ok(_) => Ok(Outcome::Done),
    }
}

#[cfg(feature = "bert")]
pub(crate) use learned::train;

#[cfg(feature = "bert")]
mod learned {
    use super::{Failure, Outcome, Settings, TrainArgs};
    use crate::configs;
    use crate::models::{Registry, recipe_of};
    use crate::output::{Cell, Sheet};
    use clariq_bert::train::Recipe;
    use clariq_core::{Location, Problem, ProblemKind};

    pub(crate) fn train(settings: &Settings, arguments: &TrainArgs) -> Result<Outcome, Failure> {
        let recipes = recipes(&arguments.configs)?;
        if let Some(output) = &arguments.output {
            check_output(output, recipes.len())?;
        }
        let collection = settings.collection()?;
        let registry = Registry::new(settings, &collection);
        let mut sheet = Sheet::new(&[
            "model",
            "steps",
            "loss, first 10",
            "loss, last 10",
            "held-out R@30",
            "folder",
        ]);
        for recipe in recipes {
            let name = recipe.name.clone();
            let (folder, trained) = registry.train(
                recipe,
                arguments.resume,
                arguments.force,
                arguments.output.as_deref(),
            )?;
            let mut row = vec![Cell::text(&name)];
            if let Some(trained) = trained {
                let (first, last) = trained.curve.loss(10).unwrap_or_default();
                let recall = trained.curve.rows.iter().rev().find_map(|row| row.recall);
                row.push(Cell::count(trained.curve.rows.len()));
                row.extend([Cell::Figure(first, 4), Cell::Figure(last, 4)]);
                row.push(recall.map_or(Cell::Nothing, |recall| Cell::Figure(recall[3], 4)));
            } else {
                settings.note(&format!(
                    "`{name}` was trained before, of the same data and recipe; --force trains again"
                ));
                row.extend([Cell::Nothing, Cell::Nothing, Cell::Nothing, Cell::Nothing]);
            }
            row.push(Cell::text(folder.display().to_string()));
            sheet.row(row);
        }
        sheet.print(settings.format)?;
        Ok(Outcome::Done)
    }

    /// What is named: recipes themselves, or systems, which stand for the recipes that their stages ask for.
    fn recipes(names: &[String]) -> Result<Vec<Recipe>, Failure> {
        let mut recipes: Vec<Recipe> = Vec::new();
        let mut add = |recipe: Recipe| {
            if recipes.iter().all(|known| known.name != recipe.name) {
                recipes.push(recipe);
            }
        };
        for name in names {
            // A file is a recipe if it says what is trained.
            match recipe_of(name) {
                Ok(Some(recipe)) => add(recipe),
                found => {
                    let loaded = configs::load(name, &[]).map_err(|error| {
                        found.err().filter(|_| is_recipe(name)).unwrap_or(error)
                    })?;
                    let trained: Vec<Recipe> = loaded
                        .system
                        .models()
                        .iter()
                        .filter_map(|model| recipe_of(model).transpose())
                        .collect::<Result<_, _>>()?;
                    if trained.is_empty() {
                        let found = format!("`{name}`, which needs no model that is trained");
                        let problem = Problem::new(
                            Location::file("CONFIG"),
                            ProblemKind::Argument,
                            "a system with a trained model, or a recipe",
                            found,
                        );
                        return Err(problem.hint("configs/README.md lists the recipes").into());
                    }
                    trained.into_iter().for_each(&mut add);
                }
            }
        }
        Ok(recipes)
    }

    fn is_recipe(name: &str) -> bool {
        std::fs::read_to_string(name).is_ok_and(|text| text.contains("[objective]"))
    }

    fn check_output(output: &std::path::Path, recipes: usize) -> Result<(), Failure> {
        let problem = |expected: &str, found: String, hint: &str| -> Failure {
            Problem::new(Location::file("--output"), ProblemKind::Argument, expected, found)
                .hint(hint)
                .into()
        };
        if recipes > 1 {
            let hint = "without --output every model gets a folder of its own in the cache";
            return Err(problem("one model", format!("{recipes} models"), hint));
        }
        if output.exists() {
            let found = format!("{} is there already", output.display());
            return Err(problem(
                "a folder that does not exist",
                found,
                "name another folder, or remove that one",
            ));
        }
        Ok(())
    }
}
