//! The table `serve`.

use super::World;
use crate::commands::show;

#[test]
fn what_clients_are_shown_is_said_in_your_own_file() {
    let world = World::new().user(
        "[serve]\nprofile = 'standard'\nsignature_tokens = 0\ncall_tool = true\ngenerate_code = true\n",
    );
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let serve = &loaded.config.serve;
    assert_eq!(
        (serve.profile, serve.signature_tokens, serve.call_tool, serve.generate_code),
        ("standard", 0, true, true)
    );
    let shown = show::as_toml(&loaded.config);
    assert!(shown.contains("[serve]\nprofile = \"standard\" # "), "{shown}");
    let serve = World::new().load().config.serve;
    assert_eq!(
        (serve.profile, serve.signature_tokens, serve.call_tool, serve.generate_code),
        ("minimal", 500, false, false)
    );
}

#[test]
fn a_profile_that_there_is_not_and_a_budget_too_large_are_told() {
    let world = World::new().user("[serve]\nprofile = 'standart'\nsignature_tokens = 20001\n");
    let said = world.said(&world.load());
    assert_eq!(said.len(), 2, "{said:#?}");
    assert!(
        said[0].contains("must be one of minimal, standard, full (did you mean `standard`?)"),
        "{said:#?}"
    );
    assert!(said[1].contains("serve.signature_tokens"), "{said:#?}");
}
