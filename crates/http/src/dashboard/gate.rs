//! Before every page: is this browser logged in, and does a form come from a page of ours?

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use gristmill_dashboard::pages::{Login, login};
use gristmill_dashboard::routes;
use gristmill_gateway::audit::AuditEvent;
use gristmill_gateway::ports::AuditLog;
use http::header::{COOKIE, HOST, ORIGIN, RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::Dashboard;
use super::answer::{guarded, page, redirect, set};
use super::form::Form;
use super::logins::{LoginRefused, SESSION_TIME, csrf};

/// A browser that is logged in: what its cookie holds.
#[derive(Clone)]
pub(super) struct LoggedIn {
    cookie: Arc<str>,
}

impl LoggedIn {
    /// What its forms send along.
    pub(super) fn csrf(&self) -> String {
        csrf(&self.cookie).to_hex().to_string()
    }

    pub(super) fn is_still(&self, dashboard: &Dashboard) -> bool {
        dashboard.logins.is_logged_in(&self.cookie, Instant::now(), dashboard.epoch())
    }
}

/// Passes on requests of browsers that are logged in, and of forms only those that our pages sent.
pub(super) async fn pass_logged_in(
    State(dashboard): State<Arc<Dashboard>>,
    mut request: Request,
    next: Next,
) -> Response {
    let cookie = cookie(request.headers());
    let Some(logged_in) = cookie.map(|cookie| LoggedIn { cookie }).filter(|it| it.is_still(&dashboard))
    else {
        return guarded(login_page(StatusCode::UNAUTHORIZED, None, None));
    };
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let (parts, body) = request.into_parts();
        let form = match Form::read(body).await {
            Ok(form) => form,
            Err(error) => return guarded(error.answer()),
        };
        let sent = form.value("csrf").and_then(|text| blake3::Hash::from_hex(text).ok());
        let is_ours = is_from_our_page(&parts.headers) && sent == Some(csrf(&logged_in.cookie));
        if !is_ours {
            let why = "This form didn't come from a page of your dashboard, or the page is old. Reload it, and try again.";
            return guarded(login_page(StatusCode::FORBIDDEN, None, Some(why)));
        }
        request = Request::from_parts(parts, axum::body::Body::empty());
        request.extensions_mut().insert(form);
    }
    request.extensions_mut().insert(logged_in);
    guarded(next.run(request).await)
}

/// `GET` shows a button, so that what opens links in advance logs nobody in.
pub(super) async fn show_login(request: Request) -> Response {
    let query = Form::of(request.uri().query().unwrap_or_default());
    guarded(login_page(StatusCode::OK, query.value("code"), None))
}

/// The button was pressed.
pub(super) async fn log_in(State(dashboard): State<Arc<Dashboard>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let form = match Form::read(body).await {
        Ok(form) => form,
        Err(error) => return guarded(error.answer()),
    };
    if !is_from_our_page(&parts.headers) {
        let why = "Log in from this page, and not from another one.";
        return guarded(login_page(StatusCode::FORBIDDEN, None, Some(why)));
    }
    let code = form.value("code").unwrap_or_default().trim();
    let answer = match dashboard.logins.log_in(code, Instant::now(), dashboard.epoch()) {
        Ok(secret) => {
            if let Some(audit) = dashboard.parts.gateway.audit() {
                audit.note(AuditEvent::dashboard_login());
            }
            let mut answer = redirect(routes::OVERVIEW);
            set_cookie(&mut answer, &parts.headers, secret.reveal(), SESSION_TIME.as_secs());
            answer
        }
        Err(LoginRefused::Wrong) => {
            if let Some(audit) = dashboard.parts.gateway.audit() {
                audit.note(AuditEvent::token_refused("dashboard link", None));
            }
            let why = "This link was used already, or is too old. Run gristmill dashboard for a new one.";
            login_page(StatusCode::UNAUTHORIZED, None, Some(why))
        }
        Err(LoginRefused::TooMany(time)) => {
            let why = "Too many wrong codes. Wait a minute, then run gristmill dashboard for a new link.";
            let mut answer = login_page(StatusCode::TOO_MANY_REQUESTS, None, Some(why));
            set(&mut answer, RETRY_AFTER, HeaderValue::from(time.as_secs() + 1));
            answer
        }
        Err(LoginRefused::NoRandomness) => {
            let why = "The system random source failed. Try again.";
            login_page(StatusCode::SERVICE_UNAVAILABLE, None, Some(why))
        }
    };
    guarded(answer)
}

pub(super) async fn log_out(
    State(dashboard): State<Arc<Dashboard>>,
    axum::Extension(logged_in): axum::Extension<LoggedIn>,
    headers: HeaderMap,
) -> Response {
    dashboard.logins.log_out(&logged_in.cookie);
    if let Some(audit) = dashboard.parts.gateway.audit() {
        audit.note(AuditEvent::dashboard_logout());
    }
    let mut answer = redirect(routes::LOGIN);
    set_cookie(&mut answer, &headers, "", 0);
    answer
}

fn login_page(status: StatusCode, code: Option<&str>, problem: Option<&str>) -> Response {
    page(status, login(&Login { code: code.map(Into::into), problem: problem.map(Into::into) }))
}

/// Browsers send cookies to every port of a machine: each gateway's has a name of its own.
fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map(|(_, port)| port).filter(|port| port.parse::<u16>().is_ok());
    format!("gristmill_{}", port.unwrap_or("dashboard"))
}

fn cookie(headers: &HeaderMap) -> Option<Arc<str>> {
    let name = cookie_name(headers);
    let given = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let mut pairs = given.flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| Arc::from(value))
}

fn set_cookie(answer: &mut Response, headers: &HeaderMap, value: &str, seconds: u64) {
    let name = cookie_name(headers);
    let is_https = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if is_https { "; Secure" } else { "" };
    let text =
        format!("{name}={value}; Path=/dashboard; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    if let Ok(value) = HeaderValue::from_str(&text) {
        answer.headers_mut().append(SET_COOKIE, value);
    }
}

/// Whether a browser says that the form is on a page that this very server sent.
fn is_from_our_page(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let (Some(origin), Some(host)) = (text(ORIGIN), text(HOST)) else { return false };
    let page = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    page.is_some_and(|page| page.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(http::HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_form_is_ours_if_its_page_has_our_host_and_port() {
        let check = |origin: Option<&'static str>, expected: bool| {
            let mut headers = headers(&[(HOST, "127.0.0.1:8770")]);
            origin.map(|origin| headers.insert(ORIGIN, HeaderValue::from_static(origin)));
            assert_eq!(is_from_our_page(&headers), expected, "{origin:?}");
        };
        check(Some("http://127.0.0.1:8770"), true);
        check(Some("http://127.0.0.1:8771"), false);
        check(Some("http://localhost:8770"), false);
        check(Some("null"), false);
        check(None, false);
    }

    #[test]
    fn each_port_has_a_cookie_of_its_own() {
        let both = "gristmill_1=a; gristmill_2=b";
        let value = |host| cookie(&headers(&[(HOST, host), (COOKIE, both)]));
        assert_eq!(value("127.0.0.1:1").as_deref(), Some("a"));
        assert_eq!(value("[::1]:2").as_deref(), Some("b"));
        assert_eq!(value("127.0.0.1:3"), None);
    }
}
