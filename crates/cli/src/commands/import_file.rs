//! `gristmill import --from FILE`: another system's configuration, translated into ours.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::anyhow;
use gristmill_clients::client_file::{ClientFile, short};
use gristmill_clients::import::{Imported, import_with_variables};
use gristmill_clients::places::{Block, FileScope, Place};
use gristmill_clients::survey::{FoundServer, PlainValues, Survey, Target};
use gristmill_clients::variables::VariableNames;
use gristmill_clients::{Client, backup};
use gristmill_config::by_hand::{ByHand, Step};
use gristmill_config::edit::{self, EditError};
use gristmill_config::edit_policy::Writing;
use gristmill_config::edit_settings::{Setting, current, put_settings};
use gristmill_config::format::Format;
use gristmill_config::other_system::{Becomes, OtherSystem, Row, new_errors, translate};
use gristmill_config::problem::shown;
use gristmill_config::read_file::{FileText, ReadError};
use gristmill_config::tree::Node;
use gristmill_config::{Surroundings, load};
use gristmill_gateway::audit::{AuditEvent, ConfigChange};
use gristmill_gateway::domain::{Level, counted};
use serde_json::{Value as Json, json};

use super::add::{Scope, file_of, renew_approval};
use super::client_arguments::ImportArguments;
use super::connect::{agreed, usage};
use super::import::{Listing, events, missing_of, print_missing};
use super::servers::{flags_of, scope};
use super::{Failure, Outcome};
use crate::audit_log::note_changes;
use crate::exit_codes;
use crate::hints::hint;
use crate::table::{Column, Table};
use crate::terminal::{Printable, eprint_lines, print_json, print_lines};
use crate::upstreams::default_data_folder;

/// Translates a file, shows what each of its keys becomes, asks, and writes.
pub fn import_file(arguments: &ImportArguments, path: &Path, surroundings: &Surroundings) -> Outcome {
    let scope = scope(arguments.scope.clone());
    refuse(arguments, &scope)?;
    let target_path = file_of(surroundings, &scope).map_err(usage)?;
    edit::check(&target_path).map_err(usage)?;
    let level = load(surroundings, &flags_of(&scope)).config.level;
    let (file, tree) = read(path)?;
    let translated = translate(&tree, level);
    if translated.rows.is_empty() {
        return Err(Failure::Usage(anyhow!("{} has no keys to import", shown(&path.display().to_string()))));
    }
    let target = Target::read(&target_path, false, surroundings).map_err(usage)?;
    let mut naming = VariableNames::new(surroundings, target.variables());
    let survey = survey(file, &translated, surroundings, &target, arguments, &mut naming);
    let (settings, variables) = settings(&translated, &mut naming);
    let picked: Vec<&FoundServer> =
        survey.found.iter().filter(|found| found.can_be_imported(arguments.replace)).collect();
    let plan = FilePlan { translated: &translated, settings: &settings, picked: &picked };
    let home = surroundings.home();
    let listing = Listing { survey: &survey, home: home.as_deref(), replace: arguments.replace };
    let was = current(&target.path, &settings).map_err(usage)?;
    if !arguments.json {
        plan.print(&was);
        print_servers(&listing);
    }
    let is_new = |(setting, was): (&Setting, &Json)| *was != setting.value.to_json();
    let changes = settings.iter().zip(&was).any(is_new) || !picked.is_empty();
    let shown_target = short(&target.path, home.as_deref());
    if changes {
        keep_key_at_home(&target, &settings, &was)?;
        plan.check(&target, level, home.as_deref())?;
    }
    let mut written = Written::default();
    if !changes {
        if !arguments.json {
            eprint_lines(&format!("nothing to change in {shown_target}"));
        }
    } else if may_write(arguments, &shown_target) {
        written = plan.write(&target, &naming, &variables, surroundings)?;
        note_changes(&flags_of(&scope), plan.events(&written, &target.path));
    } else if !arguments.json && !arguments.dry_run {
        return Ok(exit_codes::usage());
    }
    let missing = missing_of(&picked, &target, surroundings);
    if arguments.json {
        let mut told = listing.json(Some(&picked), &written.imported, &missing, &target.path);
        for server in told["servers"].as_array_mut().into_iter().flatten() {
            server["client"] = Json::from("file");
        }
        let steps = written.by_hand.iter().flat_map(|by_hand| &by_hand.steps);
        let steps: Vec<Json> =
            steps.map(|step| json!({ "instruction": step.instruction(), "text": step.text() })).collect();
        if let Some(by_hand) = told["by_hand"].as_array_mut() {
            by_hand.extend(steps);
        }
        told["keys"] = plan.translated.rows.iter().map(row_json).collect();
        told["settings"] = settings.iter().map(|setting| Json::from(setting.text())).collect();
        print_json(&told);
    } else {
        written.print(&target.path, home.as_deref());
        print_missing(&missing, &target.path, home.as_deref());
    }
    let by_hand = written.by_hand.is_some() || written.imported.by_hand.is_some();
    Ok(if by_hand { exit_codes::usage() } else { ExitCode::SUCCESS })
}

/// A key that is there already goes only where its owner said.
fn keep_key_at_home(target: &Target, settings: &[Setting], was: &[Json]) -> Result<(), Failure> {
    let of_llm =
        |setting: &Setting, keys: &[&str]| setting.table == Some("llm") && keys.contains(&setting.key);
    let is_moved = settings.iter().zip(was).any(|(setting, was)| {
        of_llm(setting, &["url", "provider", "deployment"]) && *was != setting.value.to_json()
    });
    if !is_moved || settings.iter().any(|setting| of_llm(setting, &["api_key"])) {
        return Ok(());
    }
    let key = Setting { table: Some("llm"), key: "api_key", value: Node::text("") };
    if current(&target.path, &[key]).map_err(usage)?.iter().all(Json::is_null) {
        return Ok(());
    }
    Err(Failure::Usage(anyhow!(
        "nothing changed: your `llm.api_key` would go to the provider or address that the file names\n\
         hint: remove `api_key` under [llm] from your configuration first, or `url` and `provider` from the file"
    )))
}

fn refuse(arguments: &ImportArguments, scope: &Scope) -> Result<(), Failure> {
    if *scope == Scope::Project {
        return Err(Failure::Usage(anyhow!(
            "a whole configuration is imported into your own file; leave out --project"
        )));
    }
    if !arguments.names.is_empty() || arguments.all {
        return Err(Failure::Usage(anyhow!("a file is imported as a whole; leave out --all and the names")));
    }
    Ok(())
}

fn read(path: &Path) -> Result<(FileText, Node), Failure> {
    let unreadable =
        |error: ReadError| Failure::Usage(anyhow!("{} {error}", shown(&path.display().to_string())));
    let file = FileText::read(path).map_err(unreadable)?;
    let format = Format::of(path).ok_or_else(|| unreadable(ReadError::UnknownFormat))?;
    let tree = format.parse(file.text().map_err(unreadable)?).map_err(|error| {
        let line = error.line().map(|line| format!(":{line}")).unwrap_or_default();
        Failure::Usage(anyhow!("{}{line}: can't be parsed: {error}", shown(&path.display().to_string())))
    })?;
    Ok((file, tree))
}

/// Its servers, judged as a client's are.
fn survey(
    file: FileText,
    translated: &OtherSystem,
    surroundings: &Surroundings,
    target: &Target,
    arguments: &ImportArguments,
    naming: &mut VariableNames<'_>,
) -> Survey {
    const BLOCK: &str = "mcpServers";
    let tree = Node::map(vec![(BLOCK.to_owned(), Node::map(translated.servers.clone()))]);
    // Such files write servers as most clients do.
    let place = Place {
        client: Client::ClaudeDesktop,
        file_scope: FileScope::User,
        path: surroundings.absolute(&file.path),
        format: Format::Json,
        block: Block::Top(BLOCK),
    };
    let plain = if arguments.keep_values { PlainValues::Keep } else { PlainValues::Move };
    let mut survey = Survey::default();
    survey.add(&ClientFile { place, file, tree }, surroundings, target, plain, naming);
    survey
}

/// The settings, with a model's key as a reference, and the variables that this needs.
fn settings(translated: &OtherSystem, naming: &mut VariableNames<'_>) -> (Vec<Setting>, Vec<String>) {
    let mut settings = translated.settings.clone();
    let key = translated.api_key.as_ref().and_then(|key| naming.variable("llm", "API_KEY", key));
    if let Some(variable) = &key {
        let value = Node::text(format!("${{{variable}}}"));
        settings.push(Setting { table: Some("llm"), key: "api_key", value });
    }
    (settings, key.into_iter().collect())
}

fn may_write(arguments: &ImportArguments, target: &str) -> bool {
    if arguments.dry_run {
        if !arguments.json {
            eprint_lines("nothing changed (dry run)");
        }
        return false;
    }
    arguments.yes || (!arguments.json && agreed(&format!("Change {target}?")))
}

fn print_servers(listing: &Listing<'_>) {
    let columns = [Column::left("SERVER"), Column::wrapping("COMMAND OR URL"), Column::wrapping("RESULT")];
    let mut table = Table::new(columns);
    for found in &listing.survey.found {
        table.row([shown(&found.name), cell(&found.shown), cell(&listing.remarks(found).join("; "))]);
    }
    if !listing.survey.found.is_empty() {
        println!();
        table.print();
    }
}

fn cell(text: &str) -> String {
    Printable::all(text).replace('\n', " ")
}

struct FilePlan<'a> {
    translated: &'a OtherSystem,
    settings: &'a [Setting],
    picked: &'a [&'a FoundServer],
}

/// What was done.
#[derive(Default)]
struct Written {
    imported: Imported,
    settings: usize,
    backup: Option<PathBuf>,
    by_hand: Option<ByHand>,
}

impl FilePlan<'_> {
    fn print(&self, was: &[Json]) {
        let mut table = Table::new([Column::wrapping("KEY"), Column::wrapping("RESULT")]);
        let rows: Vec<&Row> =
            self.translated.rows.iter().filter(|row| row.becomes != Becomes::Server).collect();
        for row in &rows {
            table.row([shown(&row.key), cell(&words(row))]);
            let replaced = self.settings.iter().zip(was).filter(|(setting, was)| {
                !was.is_null() && **was != setting.value.to_json() && comes_from(setting, row)
            });
            for (setting, was) in replaced {
                // The key there now may be the secret itself.
                let was = if is_api_key(setting) { String::new() } else { format!(" = {was}") };
                table.note(cell(&format!("replaces `{}{was}`", setting.path())));
            }
        }
        if !rows.is_empty() {
            table.print();
        }
    }

    /// Whether the file can be used afterwards as well as before.
    fn check(&self, target: &Target, level: Level, home: Option<&Path>) -> Result<(), Failure> {
        let now = std::fs::read(&target.path).ok();
        let after = match put_settings(&target.path, self.settings, Writing::Not) {
            Ok(Some(edited)) => edited.after,
            Ok(None) => now.clone().unwrap_or_default(),
            Err(EditError::ByHand(_)) => return Ok(()),
            Err(error) => return Err(usage(error)),
        };
        let servers: Vec<&str> = self.picked.iter().map(|found| found.becomes.as_str()).collect();
        let errors = new_errors(&target.path, now.as_deref(), &after, &servers, level, home);
        match errors.is_empty() {
            true => Ok(()),
            false => Err(Failure::Usage(anyhow!(
                "nothing changed, because {} would have errors:\n  {}",
                short(&target.path, home),
                errors.join("\n  ")
            ))),
        }
    }

    fn write(
        &self,
        target: &Target,
        naming: &VariableNames<'_>,
        variables: &[String],
        surroundings: &Surroundings,
    ) -> Result<Written, Failure> {
        let mut written = Written { backup: self.back_up(target, surroundings)?, ..Written::default() };
        written.imported =
            import_with_variables(self.picked, variables, target, naming, surroundings).map_err(usage)?;
        match put_settings(&target.path, self.settings, Writing::Now) {
            Ok(Some(edited)) => {
                renew_approval(surroundings, &target.path, &target.path, &edited).map_err(usage)?;
                written.settings = self.settings.len();
            }
            Ok(None) => {}
            Err(EditError::ByHand(by_hand)) => written.by_hand = Some(in_one(by_hand)),
            Err(error) => return Err(usage(error)),
        }
        Ok(written)
    }

    /// What an auditor may ask about later.
    fn events(&self, written: &Written, file: &Path) -> Vec<AuditEvent> {
        let names: Vec<String> = self.settings.iter().map(Setting::path).collect();
        let changed = AuditEvent::config_changed(ConfigChange::SettingsChanged, &file.display().to_string());
        let settings = (written.settings > 0).then(|| changed.of_settings(&names));
        events(&written.imported, file).chain(settings).collect()
    }

    /// A copy of our own file as it is now, if there is one and we are about to change it.
    fn back_up(&self, target: &Target, surroundings: &Surroundings) -> Result<Option<PathBuf>, Failure> {
        if edit::is_left_to_owner(&target.path) {
            return Ok(None);
        }
        let Ok(bytes) = std::fs::read(&target.path) else { return Ok(None) };
        let place = Place {
            client: Client::ClaudeDesktop,
            file_scope: FileScope::User,
            path: target.path.clone(),
            format: Format::Toml,
            block: Block::Top("servers"),
        };
        let data = default_data_folder(surroundings)?;
        backup::save(&place, &data, &bytes, SystemTime::now()).map(Some).map_err(usage)
    }
}

impl Written {
    fn print(&self, target: &Path, home: Option<&Path>) {
        self.imported.lines(target, home).iter().for_each(|line| print_lines(line));
        let steps = self.imported.by_hand.iter().chain(&self.by_hand).flat_map(|by_hand| &by_hand.steps);
        let by_hand = ByHand { path: target.to_owned(), steps: steps.cloned().collect() };
        if !by_hand.steps.is_empty() {
            print_in_one(&by_hand);
        }
        if self.settings > 0 {
            let count = counted(self.settings, "setting");
            print_lines(&format!("wrote {count} to {}", short(target, home)));
        }
        if let Some(backup) = &self.backup {
            print_lines(&format!("backup: {}", short(backup, home)));
        }
        if self.settings > 0 || !self.imported.servers.is_empty() {
            hint("`gristmill config show` shows what it comes to");
        }
    }
}

/// What is to be added at one place is one text.
fn in_one(by_hand: ByHand) -> ByHand {
    let mut steps: Vec<Step> = Vec::new();
    for step in by_hand.steps {
        let instruction = step.instruction();
        let same = steps.iter_mut().find(|other| other.instruction() == instruction);
        match (same, step) {
            (Some(Step::Add { text, .. }), Step::Add { text: more, .. }) if !text.contains(&more) => {
                text.push_str(&more);
            }
            (Some(_), _) => {}
            (None, step) => steps.push(step),
        }
    }
    ByHand { path: by_hand.path, steps }
}

/// Tells the owner of a YAML file what to change, as one block. Where there are several places, a comment
/// before each part says which.
pub fn print_in_one(by_hand: &ByHand) {
    let by_hand = in_one(by_hand.clone());
    let path = by_hand.path.display();
    eprint_lines(&format!("error: {path} was not changed: Gristmill reads YAML but doesn't edit it"));
    let is_one = by_hand.steps.len() == 1;
    for step in &by_hand.steps {
        match is_one {
            true => eprint_lines(&step.instruction()),
            false => println!("# {}", Printable::all(&step.instruction())),
        }
        print!("{}", Printable::all(step.text().unwrap_or_default()));
    }
}

fn is_api_key(setting: &Setting) -> bool {
    (setting.table, setting.key) == (Some("llm"), "api_key")
}

/// Whether this row is the one that a setting comes from.
fn comes_from(setting: &Setting, row: &Row) -> bool {
    match &row.becomes {
        Becomes::Setting(text) if is_api_key(setting) => text.starts_with(&setting.path()),
        Becomes::Setting(text) => text.contains(&setting.text()),
        Becomes::AlreadySo(_) | Becomes::Nothing(_) | Becomes::NotTaken(_) | Becomes::Server => false,
    }
}

fn words(row: &Row) -> String {
    match &row.becomes {
        Becomes::Setting(text) => format!("becomes {text}"),
        Becomes::AlreadySo(why) => format!("nothing to do: {why}"),
        Becomes::Nothing(why) => format!("no counterpart: {why}"),
        Becomes::NotTaken(why) => format!("not taken: {why}"),
        Becomes::Server => "a server".to_owned(),
    }
}

fn row_json(row: &Row) -> Json {
    let (outcome, detail) = match &row.becomes {
        Becomes::Setting(text) => ("setting", Json::from(text.as_str())),
        Becomes::AlreadySo(why) => ("already_so", Json::from(*why)),
        Becomes::Nothing(why) => ("no_counterpart", Json::from(why.as_str())),
        Becomes::NotTaken(why) => ("not_taken", Json::from(why.as_str())),
        Becomes::Server => ("server", Json::Null),
    };
    json!({ "key": row.key, "line": row.line, "outcome": outcome, "detail": detail })
}
