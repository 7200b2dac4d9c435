//! Login: a one-time code from the command line. There is no session yet that a form could belong to: the code is
//! what proves it.

use maud::{Markup, html};

use crate::frame::{brand, document};
use crate::{Text, routes};

#[derive(Clone, Debug)]
pub struct Login {
    /// The code of a one-time link, to be confirmed by the button.
    pub code: Option<Text>,
    /// Why the last try failed.
    pub problem: Option<Text>,
}

pub fn login(view: &Login) -> Markup {
    document(
        &html! { "Log in · Gristmill" },
        &html! {
            main.login #main {
                p.brand { (brand()) }
                form.card method="post" action=(routes::LOGIN) {
                    h1 { "Log in" }
                    @if let Some(problem) = &view.problem { p.notice.bad role="alert" { (problem) } }
                    @if let Some(code) = &view.code {
                        input type="hidden" name="code" value=(code.raw());
                        p { "Your link works once. This browser stays logged in until you log out." }
                    } @else {
                        p { "Run " code { "gristmill dashboard" } " where the gateway runs. It opens a link that works "
                            "once, or paste its code:" }
                        label {
                            span { "One-time code" }
                            input name="code" required autocomplete="one-time-code" autocapitalize="off" spellcheck="false";
                        }
                    }
                    button.primary type="submit" { "Log in" }
                }
            }
        },
    )
}
