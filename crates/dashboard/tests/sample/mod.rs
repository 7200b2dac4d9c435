//! Every page with sample data. Whatever is text goes through a voice, so that tests can say it in a hostile way.

mod executions;
mod rules;
mod things;

use gristmill_dashboard::parts::Tone;
use gristmill_dashboard::{Frame, Markup, Moment, Notice, OtherGateway, Text, pages, routes};

/// 2026-11-16 22:00 UTC.
pub const NOW: Moment = Moment(1_794_866_400_000);

/// How sample texts are said.
pub struct Voice<'a>(pub &'a dyn Fn(&str) -> String);

impl Voice<'_> {
    pub fn say(&self, text: &str) -> Text {
        Text::from(self.word(text))
    }

    pub fn word(&self, text: &str) -> String {
        (self.0)(text)
    }

    fn list(&self, texts: &[&str]) -> Vec<Text> {
        texts.iter().map(|text| self.say(text)).collect()
    }
}

/// A page and where it would be served.
pub struct Sample {
    pub name: &'static str,
    pub address: String,
    pub page: Markup,
}

pub fn frame(voice: &Voice<'_>) -> Frame {
    Frame {
        gateway: voice.say("workstation"),
        other_gateways: vec![OtherGateway {
            id: voice.say("build-box"),
            name: voice.say("build-box"),
            started: minutes_ago(120),
        }],
        user: voice.say("ada"),
        csrf: voice.say("c5rf-0123456789"),
        now: NOW,
        approvals_waiting: 2,
        version: voice.say("0.1.0"),
        notice: None,
    }
}

/// Each page with something on it.
pub fn full(voice: &Voice<'_>) -> Vec<Sample> {
    let frame = frame(voice);
    let noticed = Frame {
        notice: Some(Notice { tone: Tone::Good, text: voice.say("Approved once: mail.send") }),
        ..frame.clone()
    };
    let at = |name, address: &str, page| Sample { name, address: address.to_owned(), page };
    let of =
        |name, route, segments: &[&str], page| Sample { name, address: routes::fill(route, segments), page };
    vec![
        at("overview", routes::OVERVIEW, pages::overview(&frame, &executions::overview(voice))),
        at("executions", routes::EXECUTIONS, pages::executions(&frame, &executions::list(voice))),
        of("execution", routes::EXECUTION, &["ex_4"], pages::execution(&frame, &executions::failed(voice))),
        of("running", routes::EXECUTION, &["ex_1"], pages::execution(&frame, &executions::running(voice))),
        at("approvals", routes::APPROVALS, pages::approvals(&noticed, &executions::approvals(voice))),
        at("playground", routes::PLAYGROUND, pages::playground(&frame, &executions::playground(voice))),
        at("sessions", routes::SESSIONS, pages::sessions(&frame, &things::sessions(voice))),
        of("session", routes::SESSION, &["mail-triage"], pages::session(&frame, &things::session(voice))),
        at("skills", routes::SKILLS, pages::skills(&frame, &things::skills(voice))),
        of("skill", routes::SKILL, &["weekly_report"], pages::skill(&frame, &things::skill(voice))),
        at("results", routes::RESULTS, pages::results(&frame, &things::results(voice))),
        of("result", routes::RESULT, &["res_9fk2"], pages::result(&frame, &things::result(voice))),
        at("servers", routes::SERVERS, pages::servers(&frame, &things::servers(voice))),
        of("server", routes::SERVER, &["mail"], pages::server(&frame, &things::server(voice))),
        of("tool", routes::TOOL, &["mail", "send"], pages::tool(&frame, &things::tool(voice))),
        at("policy", routes::POLICY, pages::policy(&frame, &rules::policy(voice))),
        at("privacy", routes::PRIVACY, pages::privacy(&frame, &rules::privacy(voice))),
        at("audit", routes::AUDIT, pages::audit(&frame, &rules::audit(voice))),
        at("settings", routes::SETTINGS, pages::settings(&frame, &rules::settings(voice))),
        at("login", routes::LOGIN, pages::login(&rules::login(voice))),
        at("problem", "/dashboard/missing", pages::problem(&frame, &rules::problem(voice))),
    ]
}

/// Each list with nothing on it.
pub fn empty(voice: &Voice<'_>) -> Vec<Sample> {
    let frame = Frame { approvals_waiting: 0, other_gateways: Vec::new(), ..frame(voice) };
    let at = |name: &'static str, page| Sample { name, address: format!("/empty/{name}"), page };
    vec![
        at("overview", pages::overview(&frame, &executions::overview_of_nothing())),
        at("executions", pages::executions(&frame, &executions::list_of_nothing(voice))),
        at("approvals", pages::approvals(&frame, &pages::Approvals { waiting: vec![], answered: vec![] })),
        at("playground", pages::playground(&frame, &executions::playground_of_nothing(voice))),
        at("sessions", pages::sessions(&frame, &pages::Sessions { sessions: vec![] })),
        at("skills", pages::skills(&frame, &pages::Skills { skills: vec![] })),
        at("results", pages::results(&frame, &pages::Results { results: vec![] })),
        at("servers", pages::servers(&frame, &pages::Servers { servers: vec![] })),
        at("policy", pages::policy(&frame, &rules::policy_of_nothing())),
        at("privacy", pages::privacy(&frame, &rules::privacy_of_nothing(voice))),
        at("audit", pages::audit(&frame, &rules::audit_of_nothing())),
        at("settings", pages::settings(&frame, &rules::settings_of_nothing())),
    ]
}

fn minutes_ago(minutes: i64) -> Moment {
    Moment(NOW.0 - minutes * 60_000)
}
