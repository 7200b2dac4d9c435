//! Settings as they hold, with where each comes from, and whether this gateway is well.

use axum::response::Response;
use gristmill_dashboard::pages::{self, Check, SettingLine, Settings};
use gristmill_dashboard::parts::Tone;
use gristmill_gateway::{Wall, WallState, WallStatus, required_walls};
use serde_json::Value;

use super::gateways;
use super::visit::Visit;

/// Settings are shown to this depth; a server's own are on its page.
const DEPTH_MAX: usize = 4;

pub(super) async fn settings(visit: Visit) -> Response {
    let mut values = Vec::new();
    for (name, value) in visit.parts().configuration.as_object().into_iter().flatten() {
        if name != "servers" {
            flatten(name, value, DEPTH_MAX, &mut values);
        }
    }
    let view =
        Settings { checks: checks(&visit).await, values, gateways: gateways::lines(visit.history()).await };
    visit.page(pages::settings, view).await
}

/// `{"value": …, "origin": …}` is one setting; anything else holds further ones.
fn flatten(name: &str, value: &Value, depth: usize, lines: &mut Vec<SettingLine>) {
    let origin = value.get("origin").and_then(Value::as_str);
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        _ => value.to_string(),
    };
    match (value, value.get("value")) {
        (_, Some(inner)) => lines.push(SettingLine {
            name: name.into(),
            value: text(inner).into(),
            source: origin.unwrap_or_default().into(),
        }),
        (Value::Object(members), None) if depth > 0 => {
            for (key, inner) in members {
                flatten(&format!("{name}.{key}"), inner, depth - 1, lines);
            }
        }
        _ => lines.push(SettingLine {
            name: name.into(),
            value: text(value).into(),
            source: String::new().into(),
        }),
    }
}

async fn checks(visit: &Visit) -> Vec<Check> {
    let gateway = &visit.parts().gateway;
    let mut checks = Vec::new();
    match gateway.ready().await {
        Ok(walls) => {
            let required = required_walls(gateway.limits().level());
            checks.extend(walls.iter().map(|status| wall(status, required.contains(&status.wall))));
        }
        Err(error) => checks.push(bad("Workers", &error.to_string())),
    }
    checks.extend(gateway.problems().iter().map(|problem| bad("Data", &problem.to_string())));
    // To look for damage reads all of it, and whoever records something would wait meanwhile.
    checks.push(match visit.parts().store.list_approvals().await {
        Ok(_) => Check {
            tone: Tone::Good,
            title: "Database".into(),
            detail: "can be read; gristmill doctor looks at all of it".into(),
            fix: None,
        },
        Err(error) => bad("Database", &error.to_string()),
    });
    checks
}

fn wall(status: &WallStatus, is_required: bool) -> Check {
    let tone = match (status.state == WallState::Stands, is_required) {
        (true, _) => Tone::Good,
        (false, true) => Tone::Bad,
        (false, false) => Tone::Warn,
    };
    let fix = (tone != Tone::Good).then(|| "gristmill doctor".into());
    Check {
        tone,
        title: format!("Sandbox: {}", name_of(status.wall)).into(),
        detail: status.detail.as_str().into(),
        fix,
    }
}

fn name_of(wall: Wall) -> &'static str {
    match wall {
        Wall::Wasm => "WebAssembly",
        Wall::Process => "own process",
        Wall::Landlock => "landlock",
        Wall::Seccomp => "seccomp",
        Wall::NoNewPrivileges => "no new privileges",
        Wall::UserNamespace => "user namespace",
        Wall::NetworkNamespace => "network namespace",
        Wall::MountNamespace => "empty root",
        Wall::PidNamespace => "process namespace",
        Wall::Rlimits => "rlimits",
    }
}

fn bad(title: &str, detail: &str) -> Check {
    Check {
        tone: Tone::Bad,
        title: title.into(),
        detail: detail.into(),
        fix: Some("gristmill doctor".into()),
    }
}
