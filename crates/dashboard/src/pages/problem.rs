//! A page that can't be shown: what happened, and what to do next.

use maud::{Markup, html};

use crate::frame::{Head, Place, page};
use crate::parts::empty;
use crate::{Frame, Text, routes};

#[derive(Clone, Debug)]
pub struct Problem {
    /// Such as `There is no execution with this id`.
    pub what: Text,
    /// Such as `It may have been pruned: gristmill history prune`.
    pub next: Text,
}

pub fn problem(frame: &Frame, view: &Problem) -> Markup {
    let head = Head { title: Some(&view.what), ..Head::of(Place::Overview) };
    let body = empty(
        "This page can't be shown",
        &html! {
            (view.next) " " a href=(routes::OVERVIEW) { "Back to the overview" }
        },
    );
    page(frame, &head, &body)
}
