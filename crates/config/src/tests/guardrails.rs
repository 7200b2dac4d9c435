//! The table `guardrails`.

use gristmill_gateway::domain::Level;

use super::World;
use crate::commands::show;
use crate::{Origin, TypesMode};

#[test]
fn guardrails_are_configured_key_by_key() {
    let world = World::new().user(
        "[guardrails]\nstrict_mode = true\nallowed_modules = ['json', 'os.path']\ndenied_modules = ['pickle']\n",
    );
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let guardrails = &loaded.config.guardrails;
    assert!(guardrails.settings.strict_mode);
    assert_eq!(guardrails.settings.allowed_modules, ["json", "os.path"]);
    assert_eq!(guardrails.settings.denied_modules, ["pickle"]);
    assert!(matches!(&guardrails.denied_origin, Origin::File { line: 4, .. }), "{guardrails:?}");
    let shown = show::as_toml(&loaded.config);
    assert!(shown.contains("[guardrails]\nstrict_mode = true # "), "{shown}");
    assert!(shown.contains("allowed_modules = [\"json\",\"os.path\"] # "), "{shown}");
    assert!(shown.parse::<toml_edit::DocumentMut>().is_ok());
}

#[test]
fn a_level_has_modules_of_its_own() {
    let world = World::new().user(
        "[guardrails]\nallowed_modules = ['json']\n\n[guardrails.hardened]\nallowed_modules = ['math']\n\
         denied_modules = ['numpy']\n",
    );
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let settings = &loaded.config.guardrails.settings;
    let at = |level| {
        let found = settings.at(level, &Default::default());
        (found.allowed_modules, found.denied_modules)
    };
    assert_eq!(at(Level::Production), (vec!["json".to_owned()], Vec::new()));
    assert_eq!(at(Level::Hardened), (vec!["math".to_owned()], vec!["numpy".to_owned()]));
    let shown = show::as_toml(&loaded.config);
    assert!(shown.contains("hardened.allowed_modules = [\"math\"] # "), "{shown}");
    assert!(shown.parse::<toml_edit::DocumentMut>().is_ok());
    let world = World::new().user("[guardrails.hardened]\ndenied = ['numpy']\n");
    let said = world.said(&world.load());
    assert!(said.len() == 1 && said[0].contains("guardrails.hardened.denied"), "{said:#?}");
}

#[test]
fn what_cannot_be_a_module_is_told_with_its_line() {
    let world = World::new()
        .user("[guardrails]\nstrict_mode = 1\ndenied_modules = ['os path', 'json']\nstrict = 1\n");
    let loaded = world.load();
    let said = world.said(&loaded);
    for part in ["guardrails.strict_mode", "guardrails.denied_modules", "did you mean `strict_mode`?"] {
        assert!(said.iter().any(|line| line.contains(part)), "{part} is not in {said:#?}");
    }
    assert_eq!(said.len(), 3, "{said:#?}");
}

#[test]
fn a_projects_file_does_not_loosen_the_guardrails() {
    let world = World::new()
        .user("[guardrails]\nstrict_mode = true\n")
        .project("[guardrails]\nstrict_mode = false\n");
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    let said = world.said(&loaded);
    let is_told =
        |line: &String| line.contains("`guardrails`") && line.contains("is ignored in a project file");
    assert!(said.len() == 1 && said.iter().all(is_told), "{said:#?}");
    assert!(loaded.config.guardrails.settings.strict_mode);
}

#[test]
fn types_are_checked_unless_they_are_off() {
    let loaded = World::new().load();
    assert_eq!(loaded.config.guardrails.types, TypesMode::Auto);
    let loaded = World::new().user("[guardrails]\ntypes = 'off'\n").load();
    assert_eq!(loaded.config.guardrails.types, TypesMode::Off);
    assert!(show::as_toml(&loaded.config).contains("types = \"off\" # "));
    let world = World::new().user("[guardrails]\ntypes = 'on'\n");
    let said = world.said(&world.load());
    assert!(said.len() == 1 && said[0].contains("guardrails.types"), "{said:#?}");
}
