//! What every page has around it: the menu, whose gateway this is, who looks.

use maud::{DOCTYPE, Markup, html};

use crate::{Moment, Text, assets, number, parts::Tone, parts::badge, routes};

/// What every page needs to know.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The name of the gateway that this page is about.
    pub gateway: Text,
    /// Others on the same data folder.
    pub other_gateways: Vec<OtherGateway>,
    /// Who is logged in.
    pub user: Text,
    /// Sent along by every form as `csrf`.
    pub csrf: Text,
    pub now: Moment,
    pub approvals_waiting: u64,
    pub version: Text,
    /// What became of the form that was just sent.
    pub notice: Option<Notice>,
}

/// Another gateway, whose executions are shown by `?gateway=ID`.
#[derive(Clone, Debug)]
pub struct OtherGateway {
    pub id: Text,
    pub name: Text,
    pub started: Moment,
}

/// One sentence above a page.
#[derive(Clone, Debug)]
pub struct Notice {
    pub tone: Tone,
    pub text: Text,
}

/// An entry of the menu.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Overview,
    Executions,
    Approvals,
    Playground,
    Sessions,
    Skills,
    Results,
    Servers,
    Policy,
    Privacy,
    Audit,
    Settings,
}

impl Place {
    fn title(self) -> &'static str {
        match self {
            Place::Overview => "Overview",
            Place::Executions => "Executions",
            Place::Approvals => "Approvals",
            Place::Playground => "Playground",
            Place::Sessions => "Sessions and files",
            Place::Skills => "Skills",
            Place::Results => "Results",
            Place::Servers => "Servers and tools",
            Place::Policy => "Policy",
            Place::Privacy => "Privacy",
            Place::Audit => "Audit",
            Place::Settings => "Settings and doctor",
        }
    }

    pub(crate) fn address(self) -> &'static str {
        match self {
            Place::Overview => routes::OVERVIEW,
            Place::Executions => routes::EXECUTIONS,
            Place::Approvals => routes::APPROVALS,
            Place::Playground => routes::PLAYGROUND,
            Place::Sessions => routes::SESSIONS,
            Place::Skills => routes::SKILLS,
            Place::Results => routes::RESULTS,
            Place::Servers => routes::SERVERS,
            Place::Policy => routes::POLICY,
            Place::Privacy => routes::PRIVACY,
            Place::Audit => routes::AUDIT,
            Place::Settings => routes::SETTINGS,
        }
    }
}

const MENU: [(&str, &[Place]); 3] = [
    ("Watch", &[Place::Overview, Place::Executions, Place::Approvals, Place::Audit]),
    ("Agents", &[Place::Playground, Place::Sessions, Place::Skills, Place::Results]),
    ("Gateway", &[Place::Servers, Place::Policy, Place::Privacy, Place::Settings]),
];

/// A page: its place in the menu, what it is called, what stands beside its title.
pub(crate) struct Head<'a> {
    pub place: Place,
    /// The page above this one, if it isn't the one in the menu itself.
    pub title: Option<&'a Text>,
    pub lead: Markup,
    pub actions: Markup,
}

impl Head<'_> {
    pub(crate) fn of(place: Place) -> Self {
        Head { place, title: None, lead: html! {}, actions: html! {} }
    }
}

/// The whole document.
pub(crate) fn page(frame: &Frame, head: &Head<'_>, body: &Markup) -> Markup {
    document(
        &html! {
            @if let Some(title) = head.title { (title) " · " }
            (head.place.title()) " · Gristmill"
        },
        &html! {
            a.skip href="#main" { "Skip to content" }
            (top_bar(frame))
            (menu(frame, head.place))
            main #main tabindex="-1" {
                @if let Some(notice) = &frame.notice {
                    p.notice.(notice.tone.class()) role="status" { (notice.text) }
                }
                (heading(head))
                (body)
            }
        },
    )
}

/// A document without a menu.
pub(crate) fn document(title: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // With `no-referrer` browsers would not say which page a form comes from.
                meta name="referrer" content="same-origin";
                title { (title) }
                link rel="icon" href=(assets::address("icon.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(assets::address("style.css"));
                // Before the first paint, so that the chosen theme doesn't flash.
                script src=(assets::address("app.js")) {}
            }
            body { (body) }
        }
    }
}

pub(crate) fn brand() -> Markup {
    html! {
        svg.logo viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" {
            circle cx="12" cy="12" r="10.5" class="logo-stone" {}
            path d="M12 3v6M21 12h-6M12 21v-6M3 12h6M5.6 5.6l4.3 4.3M18.4 5.6l-4.3 4.3M18.4 18.4l-4.3-4.3M5.6 18.4l4.3-4.3"
                class="logo-furrow" {}
            circle cx="12" cy="12" r="2.2" class="logo-eye" {}
        }
        span { "Gristmill" }
    }
}

fn top_bar(frame: &Frame) -> Markup {
    html! {
        header.top {
            a.brand href=(routes::OVERVIEW) { (brand()) }
            (gateways(frame))
            span.spring {}
            button.quiet.theme type="button" data-theme-switch hidden { "Theme" }
            (log_out(frame))
            a.menu-open href="#menu" { "Menu" }
        }
    }
}

/// Proves that a form came from our page.
pub(crate) fn csrf_field(frame: &Frame) -> Markup {
    html! { input type="hidden" name="csrf" value=(frame.csrf.raw()); }
}

fn log_out(frame: &Frame) -> Markup {
    html! {
        form.user method="post" action=(routes::LOGOUT) {
            (csrf_field(frame))
            span.who title="Logged in as" { (frame.user) }
            button.quiet type="submit" { "Log out" }
        }
    }
}

fn gateways(frame: &Frame) -> Markup {
    html! {
        @if frame.other_gateways.is_empty() {
            span.gateway { (frame.gateway) }
        } @else {
            details.gateways {
                summary { span.gateway { (frame.gateway) } }
                ul {
                    @for other in &frame.other_gateways {
                        li {
                            a href=(routes::query(routes::EXECUTIONS, &[("gateway", other.id.raw())])) {
                                (other.name) " " small { "started " (other.started.relative(frame.now)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn menu(frame: &Frame, here: Place) -> Markup {
    html! {
        nav.menu #menu aria-label="Dashboard" {
            a.menu-close href="#main" { "Close menu" }
            @for (group, places) in MENU {
                p.group { (group) }
                ul {
                    @for place in places {
                        li {
                            a href=(place.address()) aria-current=[(*place == here).then_some("page")] {
                                (place.title())
                                @if *place == Place::Approvals && frame.approvals_waiting > 0 {
                                    " " (badge(Tone::Warn, number::count(frame.approvals_waiting)))
                                }
                            }
                        }
                    }
                }
            }
            div.menu-user {
                button.quiet.theme type="button" data-theme-switch hidden { "Theme" }
                (log_out(frame))
            }
            p.version { "Gristmill " (frame.version) }
        }
    }
}

fn heading(head: &Head<'_>) -> Markup {
    html! {
        div.heading {
            div {
                @if let Some(title) = head.title {
                    p.crumb { a href=(head.place.address()) { (head.place.title()) } }
                    h1 { (title) }
                } @else {
                    h1 { (head.place.title()) }
                }
                div.lead { (head.lead) }
            }
            div.actions { (head.actions) }
        }
    }
}
