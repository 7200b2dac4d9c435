//! The table `privacy`.

use gristmill_gateway::domain::{Level, PrivacyMode};
use gristmill_gateway::privacy::{Kind, PrivacySettings, RestoreRule};

use super::{World, document, said};
use crate::commands::show;
use crate::load::Flags;
use crate::resolved::Loaded;

const FULL: &str = "[privacy]
mode = 'boundary'
off = ['ip_address', 'employee']
confidence_min = 60
phone_regions = ['us', 'DE']
restore_to_model = ['email']

[privacy.patterns]
employee = 'E-[0-9]{6}'

[privacy.allow]
values = ['support@example.com', 12345]
globs = ['*@example.com']
fields = [{ field = 'crm.*.fields.notes', kinds = ['phone', 'employee'] }, 'tickets.**.ip']

[[privacy.restore]]
kinds = ['email']
to = 'mail.send_*'
fields = ['to', 'cc']
allow = true

[[privacy.restore]]
to = 'web'
allow = false

[[privacy.restore]]
kinds = ['ssn']
allow = false
";

fn settings(loaded: &Loaded) -> &PrivacySettings {
    &loaded.config.privacy.settings
}

fn rule(kinds: &[Kind], to: &str, fields: &[&str], allow: bool) -> RestoreRule {
    let fields = fields.iter().map(|field| (*field).to_owned()).collect();
    RestoreRule { kinds: kinds.to_vec(), to: to.to_owned(), fields, allow }
}

#[test]
fn everything_that_can_be_set_is_read() {
    let world = World::new().user(FULL);
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let PrivacySettings { mode, detector, restore, restore_to_model } = settings(&loaded);
    let employee = Kind::named("employee");
    assert_eq!((*mode, restore_to_model.as_slice()), (PrivacyMode::Boundary, [Kind::Email].as_slice()));
    assert_eq!(detector.off, [Kind::IpAddress, employee.clone()]);
    assert_eq!((detector.confidence_min, &detector.patterns["employee"][..]), (60, "E-[0-9]{6}"));
    assert_eq!(detector.phone_regions, ["US", "DE"]);
    assert_eq!(detector.allow.values, ["support@example.com", "12345"]);
    assert_eq!(detector.allow.globs, ["*@example.com"]);
    let fields: Vec<(&str, &[Kind])> =
        detector.allow.fields.iter().map(|one| (one.field.as_str(), one.kinds.as_slice())).collect();
    assert_eq!(fields, [("crm.*.fields.notes", [Kind::Phone, employee].as_slice()), ("tickets.**.ip", &[])]);
    let expected = [
        rule(&[Kind::Email], "mail.send_*", &["to", "cc"], true),
        rule(&[], "web.*", &[], false),
        rule(&[Kind::Ssn], "*.*", &[], false),
    ];
    assert_eq!(*restore, expected);
}

#[test]
fn the_mode_alone_may_be_a_word_and_is_the_levels_otherwise() {
    let mode = |text: &str| {
        let world = World::new().user(text);
        let loaded = world.load();
        assert_eq!(world.said(&loaded), Vec::<String>::new(), "{text}");
        settings(&loaded).mode
    };
    assert_eq!(mode("privacy = 'boundary'\n"), PrivacyMode::Boundary);
    assert_eq!(mode(""), PrivacyMode::Output);
    assert_eq!(mode("level = 'development'\n"), PrivacyMode::Off);
    assert_eq!(mode("level = 'development'\nprivacy = 'output'\n"), PrivacyMode::Output);
    assert_eq!(mode("privacy = 'off'\n"), PrivacyMode::Off);
}

#[test]
fn the_flag_is_stronger_than_the_variable_and_the_variable_than_files() {
    let world = World::new().user("privacy = 'boundary'\n").variable("GRISTMILL_PRIVACY", "output");
    let loaded = world.load();
    assert_eq!(settings(&loaded).mode, PrivacyMode::Output);
    assert_eq!(loaded.config.privacy.mode_origin.to_string(), "GRISTMILL_PRIVACY");
    let flags = Flags { privacy: Some(PrivacyMode::Off), ..Flags::default() };
    let loaded = world.load_with(&flags);
    assert_eq!(settings(&loaded).mode, PrivacyMode::Off);
    assert_eq!(loaded.config.privacy.mode_origin.to_string(), "flag");
    let flags = Flags { level: Some(Level::Development), ..Flags::default() };
    assert_eq!(settings(&World::new().load_with(&flags)).mode, PrivacyMode::Off);

    let world = World::new().variable("GRISTMILL_PRIVACY", "boundry");
    let said = world.said(&world.load());
    assert_eq!(
        said,
        ["Error `GRISTMILL_PRIVACY` `boundry` isn't a privacy mode; use off, output or boundary"]
    );
}

#[test]
fn what_cannot_be_meant_is_told_with_its_key_and_line() {
    let world = World::new().user(
        "[privacy]\nmode = 'boundry'\noff = ['emial']\nconfidence_min = 200\nphone_regions = ['XX']\n\
         restore_to_modle = []\n\
         [privacy.patterns]\nemail = 'a'\nBad-Name = 'a'\nopen = 'a('\nempty = ''\n\
         [privacy.allow]\nvalues = ['']\nglob = []\nfields = ['a..b', { kinds = ['iban'] }, 3]\n\
         [[privacy.restore]]\nto = 'mail.*'\n\
         [[privacy.restore]]\nkinds = ['employe']\nallow = 'yes'\n",
    );
    let said = world.said(&world.load());
    let parts = [
        "gristmill.toml:2: `privacy.mode` must be one of off, output, boundary (did you mean `boundary`?)",
        "gristmill.toml:3: `privacy.off` must be one of email,",
        "gristmill.toml:4: `privacy.confidence_min` must be a whole number from 1 to 100",
        "gristmill.toml:5: `privacy.phone_regions` has `XX`, which isn't a region",
        "gristmill.toml:6: `privacy.restore_to_modle` unknown key (did you mean `restore_to_model`?)",
        "gristmill.toml:8: `privacy.patterns.email` has the name of a built-in kind",
        "gristmill.toml:9: `privacy.patterns.Bad-Name` isn't a valid name for a kind",
        "gristmill.toml:10: `privacy.patterns.open` can't be used as a regular expression: unclosed group",
        "gristmill.toml:11: `privacy.patterns.empty` can't be empty",
        "gristmill.toml:13: `privacy.allow.values` can't be empty",
        "gristmill.toml:14: `privacy.allow.glob` unknown key (did you mean `globs`?)",
        "gristmill.toml:15: `privacy.allow.fields[0]` must be names with dots between them",
        "gristmill.toml:15: `privacy.allow.fields[1]` needs `field`",
        "gristmill.toml:15: `privacy.allow.fields[2]` must be a table, not a number",
        "gristmill.toml:17: `privacy.restore[0]` needs `allow`",
        "gristmill.toml:19: `privacy.restore[1].kinds` must be one of email,",
        "gristmill.toml:20: `privacy.restore[1].allow` must be true or false, not text",
    ];
    for part in parts {
        assert!(said.iter().any(|line| line.contains(part)), "{part} is not in {said:#?}");
    }
    assert!(said.iter().all(|line| line.starts_with("Error ")), "{said:#?}");
    assert_eq!(said.len(), parts.len(), "{said:#?}");
}

#[test]
fn more_patterns_than_a_detector_takes_are_refused_before_any_is_compiled() {
    let patterns = |count: usize| -> String {
        let lines = (0..count).map(|index| format!("p{index} = '(((a{{99}}){{99}}){{99}}){{99}}'\n"));
        format!("[privacy.patterns]\n{}", lines.collect::<String>())
    };
    let read = document("gristmill.toml", &patterns(5_000));
    assert_eq!(said(&read), ["Error gristmill.toml:1: `privacy.patterns` can have at most 64 patterns"]);
    let said = said(&document("gristmill.toml", &patterns(2)));
    assert!(said.len() == 2 && said[0].contains("exceeds size limit"), "{said:?}");
}

#[test]
fn a_projects_file_makes_privacy_stricter() {
    let project = "[privacy]\nmode = 'boundary'\nconfidence_min = 40\nphone_regions = ['US', 'DE']\n\
         patterns = { ticket = 'T-[0-9]+', employee = 'E-[0-9]+' }\n\
         [[privacy.restore]]\nkinds = ['email', 'ticket']\nto = 'mail'\nallow = false\n";
    let own = "[privacy]\nphone_regions = ['US']\npatterns = { employee = 'E-[0-9]+' }\n\
         [[privacy.restore]]\nto = 'mail'\nallow = true\n";
    let world = World::new().user(own).project(project);
    assert_eq!(settings(&world.load()).mode, PrivacyMode::Output, "not approved");
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let PrivacySettings { mode, detector, restore, .. } = settings(&loaded);
    assert_eq!((*mode, detector.confidence_min), (PrivacyMode::Boundary, 40));
    assert_eq!(detector.phone_regions, ["US", "DE"]);
    assert_eq!(detector.patterns.keys().collect::<Vec<_>>(), ["employee", "ticket"]);
    assert_eq!(detector.added.iter().collect::<Vec<_>>(), ["ticket"], "it gives no other name to anything");
    let refused = rule(&[Kind::Email, Kind::named("ticket")], "mail.*", &[], false);
    assert_eq!(*restore, [refused, rule(&[], "mail.*", &[], true)]);
}

#[test]
fn a_projects_file_never_makes_privacy_looser() {
    let project = "level = 'development'\n\
         [privacy]\nmode = 'off'\noff = ['email']\nconfidence_min = 100\nphone_regions = ['DE']\n\
         restore_to_model = ['email']\npatterns = { employee = 'never' }\n\
         [privacy.allow]\nglobs = ['*']\n\
         [[privacy.restore]]\nto = 'web'\nallow = true\n";
    let world = World::new()
        .user("[privacy]\nmode = 'output'\n[privacy.patterns]\nemployee = 'E-[0-9]+'\n")
        .project(project);
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    let said = world.said(&loaded);
    for key in
        ["mode", "off", "confidence_min", "phone_regions", "restore_to_model", "patterns.employee", "allow"]
            .into_iter()
            .chain(["restore[0]"])
    {
        let part = format!("`privacy.{key}` is ignored in a project file");
        assert!(said.iter().any(|line| line.contains(&part)), "{part} is not in {said:#?}");
    }
    assert_eq!(said.len(), 8, "{said:#?}");
    assert_eq!(loaded.config.level, Level::Development);
    let own =
        World::new().user("[privacy]\nmode = 'output'\n[privacy.patterns]\nemployee = 'E-[0-9]+'\n").load();
    assert_eq!(format!("{:?}", settings(&loaded)), format!("{:?}", settings(&own)));
}

#[test]
fn what_says_nothing_in_a_project_is_no_loosening() {
    let world = World::new()
        .user("[privacy]\nmode = 'boundary'\nconfidence_min = 50\n")
        .project("[privacy]\nmode = 'boundary'\nconfidence_min = 50\noff = []\nallow = {}\n");
    world.approve("home/project/gristmill.toml");
    assert_eq!(world.said(&world.load()), Vec::<String>::new());
}

#[test]
fn a_kind_may_be_a_pattern_of_another_file() {
    let own = "[privacy.patterns]\nemployee = 'E-[0-9]+'\n";
    let project = "[[privacy.restore]]\nkinds = ['employee']\nallow = false\n";
    let world = World::new().user(own).project(project);
    world.approve("home/project/gristmill.toml");
    assert_eq!(world.said(&world.load()), Vec::<String>::new());
    let world = World::new().project(project);
    world.approve("home/project/gristmill.toml");
    let said = world.said(&world.load());
    assert!(said.len() == 1 && said[0].contains("`privacy.restore[0].kinds` must be one of"), "{said:?}");
}

#[test]
fn a_server_has_a_mode_of_its_own_that_a_project_makes_stricter_only() {
    let server =
        |url: &str, privacy: &str| format!("[servers.crm]\nurl = 'http://127.0.0.1:{url}/'\n{privacy}");
    let mode = |own: &str, project: &str| {
        let world = World::new().user(&server("1", own)).project(&server("2", project));
        world.approve("home/project/gristmill.toml");
        let loaded = world.load();
        let told = world.said(&loaded).iter().any(|line| line.contains("servers.crm.privacy` is ignored"));
        (loaded.config.servers[0].settings.privacy, told)
    };
    let (boundary, output) = (Some(PrivacyMode::Boundary), Some(PrivacyMode::Output));
    assert_eq!(mode("privacy = 'boundary'\n", "privacy = 'output'\n"), (boundary, true));
    assert_eq!(mode("privacy = 'boundary'\n", ""), (boundary, false));
    assert_eq!(mode("privacy = 'output'\n", "privacy = 'boundary'\n"), (boundary, false));
    assert_eq!(mode("", "privacy = 'output'\n"), (output, false));
    assert_eq!(mode("", ""), (None, false));

    let world = World::new().user(&server("1", "privacy = 'boundary'\n"));
    assert!(show::as_toml(&world.load().config).contains("privacy = \"boundary\"\n"));
    let world = World::new().user(&server("1", "privacy = 'all'\n"));
    let said = world.said(&world.load());
    assert!(said[0].contains("`servers.crm.privacy` must be one of off, output, boundary"), "{said:?}");
}

#[test]
fn it_is_shown_with_origins_and_without_what_is_allowed() {
    let world = World::new().user(FULL);
    let config = world.load().config;
    let shown = show::as_toml(&config);
    let file = world.path("home/.config/gristmill/gristmill.toml");
    let file = file.display();
    let expected = format!(
        "[privacy]\nmode = \"boundary\" # {file}:2\noff = [\"ip_address\",\"employee\"] # {file}:3\n\
         confidence_min = 60 # {file}:4\nphone_regions = [\"US\",\"DE\"] # {file}:5\n\
         restore_to_model = [\"email\"] # {file}:6\n# 2 allowed values, 1 glob, 2 fields, 3 restore rules\n\n\
         [privacy.patterns]\nemployee = \"E-[0-9]{{6}}\"\n"
    );
    assert!(shown.contains(&expected), "{shown}");
    assert!(shown.parse::<toml_edit::DocumentMut>().is_ok());
    let json = show::as_json(&config);
    assert_eq!(json["privacy"]["mode"]["value"], "boundary");
    assert_eq!(json["privacy"]["allow"], serde_json::json!({ "values": 2, "globs": 1, "fields": 2 }));
    assert!(!format!("{shown}{json}").contains("support@"), "{shown}{json}");
}

#[test]
fn another_clients_file_has_no_privacy_of_ours() {
    let read = document(".mcp.json", "{\"mcpServers\": {}, \"privacy\": {\"mode\": \"off\"}}");
    assert_eq!(said(&read), ["Note .mcp.json:1: `privacy` is another client's setting; ignored"]);
}
