//! `gristmill init`: the first setup in one go. It asks, shows everything that will change, asks once, and
//! does it with what `connect` and the edits of a configuration do.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use clap::builder::PossibleValuesParser;
use gristmill_clients::Client;
use gristmill_clients::client_file::short;
use gristmill_config::edit::EditError;
use gristmill_config::edit_policy::Writing;
use gristmill_config::edit_settings::{Setting, put_settings};
use gristmill_config::serve_table::PROFILES;
use gristmill_config::tree::Node;
use gristmill_config::{Flags, Surroundings, load};
use gristmill_gateway::audit::{AuditEvent, ConfigChange};

use super::add::{Scope, file_of, renew_approval};
use super::client_arguments::ConnectOptions;
use super::client_choice::{installed_clients, picked_clients};
use super::connect::{Connect, Connected, Stage, agreed, connect_one, usage};
use super::import_file::print_in_one;
use super::{Failure, Outcome};
use crate::audit_log::note_changes;
use crate::exit_codes;
use crate::hints::hint;
use crate::terminal::{ask, eprint_lines, one_line, print_lines};

const NO_CLIENT: &str = "none";
const PRIVACY: [&str; 3] = ["off", "output", "boundary"];
const POLICY: [&str; 3] = ["trusting", "careful", "strict"];

#[derive(Args)]
pub struct InitArguments {
    /// Client to connect, or `none`; repeatable [default: ask]
    #[arg(long = "client", value_name = "CLIENT", value_parser = clients())]
    clients: Vec<String>,

    /// Move the clients' other servers to Gristmill [default: ask]
    #[arg(long, value_name = "yes|no", num_args = 0..=1, require_equals = true, default_missing_value = "yes",
          value_parser = ["yes", "no"])]
    move_servers: Option<String>,

    /// Tools that clients see [default: ask]
    #[arg(long, value_parser = PROFILES)]
    profile: Option<String>,

    /// How far personal data may go [default: ask]
    #[arg(long, value_parser = PRIVACY)]
    privacy: Option<String>,

    /// Which calls are asked about [default: ask]
    #[arg(long, value_parser = POLICY)]
    policy: Option<String>,

    /// Show what would change, without changing it
    #[arg(long)]
    dry_run: bool,

    /// Don't ask for confirmation
    #[arg(long)]
    yes: bool,
}

fn clients() -> PossibleValuesParser {
    PossibleValuesParser::new(Client::ALL.map(Client::name).into_iter().chain([NO_CLIENT]))
}

/// Asks what was not said, shows what will change, asks once, and does it.
pub fn init(arguments: &InitArguments) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    if !std::io::stdin().is_terminal() {
        needs_flags(arguments)?;
    }
    let answers = Answers::of(arguments, &surroundings)?;
    let path = file_of(&surroundings, &Scope::User).map_err(usage)?;
    let settings = answers.settings();
    let (is_new, by_hand) = match put_settings(&path, &settings, Writing::Not) {
        Ok(edited) => (edited.is_some(), None),
        Err(EditError::ByHand(by_hand)) => (false, Some(by_hand)),
        Err(error) => return Err(usage(error)),
    };
    let shown_path = short(&path, surroundings.home().as_deref());
    if is_new {
        print_lines(&format!("{shown_path}:"));
        settings.iter().for_each(|setting| print_lines(&format!("  {}", setting.text())));
    }
    by_hand.iter().for_each(print_in_one);
    if by_hand.is_some() && !answers.clients.is_empty() {
        eprint_lines("note: clients are connected all the same");
    }
    print_lines(&format!("connects: {}", answers.client_names()));
    let mut changes = is_new;
    for client in &answers.clients {
        changes |= answers.connect(*client, Stage::Show, &surroundings)? == Connected::Shown;
    }
    let done = if by_hand.is_some() { exit_codes::usage() } else { ExitCode::SUCCESS };
    if !changes {
        if by_hand.is_none() {
            print_lines("everything is set up already");
        }
        return Ok(done);
    }
    if arguments.dry_run {
        eprint_lines("nothing changed (dry run)");
        return Ok(done);
    }
    if !arguments.yes && !agreed("Change this?") {
        return Ok(exit_codes::usage());
    }
    if let Some(edited) =
        put_settings(&path, if is_new { &settings } else { &[] }, Writing::Now).map_err(usage)?
    {
        renew_approval(&surroundings, &path, &path, &edited).map_err(usage)?;
        let names: Vec<String> = settings.iter().map(Setting::path).collect();
        let event = AuditEvent::config_changed(ConfigChange::SettingsChanged, &path.display().to_string());
        note_changes(&Flags::default(), [event.of_settings(&names)]);
        print_lines(&format!("wrote {shown_path}"));
    }
    for client in &answers.clients {
        answers.connect(*client, Stage::Do, &surroundings)?;
    }
    hint("`gristmill doctor` checks that everything works; `gristmill demo` shows what it's for");
    Ok(done)
}

/// Nobody is there to answer: every answer must be a flag.
fn needs_flags(arguments: &InitArguments) -> Result<(), Failure> {
    let connects = arguments.clients.iter().any(|name| name != NO_CLIENT);
    let mut missing = Vec::new();
    if arguments.clients.is_empty() {
        missing.push("--client NAME (or none)");
    }
    match (&arguments.move_servers, arguments.clients.is_empty()) {
        (None, true) => missing.push("--move-servers=yes|no (not with none)"),
        (None, false) if connects => missing.push("--move-servers=yes|no"),
        (None, false) | (Some(_), _) => {}
    }
    if arguments.profile.is_none() {
        missing.push("--profile minimal|standard|full");
    }
    if arguments.privacy.is_none() {
        missing.push("--privacy off|output|boundary");
    }
    if arguments.policy.is_none() {
        missing.push("--policy trusting|careful|strict");
    }
    if !arguments.yes && !arguments.dry_run {
        missing.push("--yes");
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Failure::Usage(anyhow!(
            "not a terminal, so there is no one to ask; pass {}",
            missing.join(", ")
        ))),
    }
}

/// What is wanted.
struct Answers {
    clients: Vec<Client>,
    moves: bool,
    profile: String,
    privacy: String,
    policy: String,
    dry_run: bool,
}

impl Answers {
    fn of(arguments: &InitArguments, surroundings: &Surroundings) -> Result<Self, Failure> {
        let config = load(surroundings, &Flags::default()).config;
        let clients = match arguments.clients.is_empty() {
            false => arguments.clients.iter().filter_map(|name| Client::from_name(name)).collect(),
            true => asked_clients(surroundings),
        };
        let moves = match (&arguments.move_servers, clients.is_empty()) {
            (Some(answer), _) => answer == "yes",
            (None, true) => false,
            (None, false) => matches!(
                ask("Move the clients' other servers to Gristmill, so that programs can call them? [Y/n]")
                    .as_deref(),
                Some("" | "y" | "Y" | "yes")
            ),
        };
        let choice = |flag: &Option<String>, question: &Question<'_>| match flag {
            Some(word) => Ok(word.clone()),
            None => question.answer(),
        };
        Ok(Self {
            clients,
            moves,
            profile: choice(
                &arguments.profile,
                &Question {
                    what: "Which tools should clients see?",
                    choices: [
                        (PROFILES[0], "run code and search for tools: the fewest tokens"),
                        (PROFILES[1], "also tools for files, results, skills and analyses"),
                        (PROFILES[2], "everything"),
                    ],
                    now: config.serve.profile,
                },
            )?,
            privacy: choice(
                &arguments.privacy,
                &Question {
                    what: "Hide personal data from:",
                    choices: [
                        (PRIVACY[0], "nobody"),
                        (PRIVACY[1], "the model and records"),
                        (PRIVACY[2], "programs, too"),
                    ],
                    now: config.privacy.settings.mode.as_str(),
                },
            )?,
            policy: choice(
                &arguments.policy,
                &Question {
                    what: "Which tool calls should ask you first?",
                    choices: [
                        (POLICY[0], "none"),
                        (POLICY[1], "destructive ones"),
                        (POLICY[2], "everything that isn't read-only"),
                    ],
                    now: config.policy.settings.preset.as_str(),
                },
            )?,
            dry_run: arguments.dry_run,
        })
    }

    fn client_names(&self) -> String {
        match self.clients.is_empty() {
            true => NO_CLIENT.to_owned(),
            false => self.clients.iter().map(Client::to_string).collect::<Vec<_>>().join(", "),
        }
    }

    fn settings(&self) -> Vec<Setting> {
        let setting = |table, key, word: &str| Setting { table: Some(table), key, value: Node::text(word) };
        vec![
            setting("serve", "profile", &self.profile),
            setting("privacy", "mode", &self.privacy),
            setting("policy", "preset", &self.policy),
        ]
    }

    fn connect(
        &self,
        client: Client,
        stage: Stage,
        surroundings: &Surroundings,
    ) -> Result<Connected, Failure> {
        let options = ConnectOptions {
            project: false,
            name: "gristmill".to_owned(),
            profile: None,
            http: None,
            command: None,
            move_servers: self.moves,
            dry_run: self.dry_run,
            yes: stage == Stage::Do,
        };
        connect_one(&Connect { client, options: &options, stage }, surroundings)
    }
}

fn asked_clients(surroundings: &Surroundings) -> Vec<Client> {
    let installed = installed_clients(surroundings);
    if installed.is_empty() {
        eprint_lines("No MCP client found on this machine; `gristmill connect` connects one later.");
        return installed;
    }
    picked_clients(installed)
}

/// One of three words.
struct Question<'a> {
    what: &'a str,
    choices: [(&'a str, &'a str); 3],
    /// What holds now.
    now: &'a str,
}

impl Question<'_> {
    /// An empty answer leaves things as they are.
    fn answer(&self) -> Result<String, Failure> {
        eprint_lines(self.what);
        for (word, about) in self.choices {
            eprint_lines(&format!("  {:<10}{about}", format!("{word}:")));
        }
        loop {
            let question = format!("Type one of these, or press Enter to keep [{}]:", self.now);
            let Some(answer) = ask(&question) else {
                return Err(Failure::Usage(anyhow!("nobody answered; nothing changed")));
            };
            let mut words = self.choices.iter().map(|(word, _)| *word);
            match (answer.as_str(), words.find(|word| word.eq_ignore_ascii_case(&answer))) {
                ("", _) => return Ok(self.now.to_owned()),
                (_, Some(word)) => return Ok(word.to_owned()),
                (_, None) => eprint_lines(&format!("`{}` isn't one of these", one_line(&answer))),
            }
        }
    }
}
