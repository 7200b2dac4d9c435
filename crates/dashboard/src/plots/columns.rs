//! How many went well and how many didn't, by time.

use maud::{Markup, html};

use crate::Moment;
use crate::number::{count, float, place};

const HEIGHT: f64 = 100.0;

/// One column: two counts, one on top of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnPair {
    pub at: Moment,
    pub good: u64,
    pub bad: u64,
}

pub(crate) fn columns(title: &str, pairs: &[ColumnPair]) -> Markup {
    let most = pairs.iter().map(|pair| pair.good.saturating_add(pair.bad)).max().unwrap_or(0).max(1);
    let width = pairs.len().max(1) * 10;
    let height = |number: u64| HEIGHT * float(number) / float(most);
    html! {
        figure.plot {
            svg.columns viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(title) {
                @for (at, pair) in pairs.iter().enumerate() {
                    @let (good, bad) = (height(pair.good), height(pair.bad));
                    g {
                        title {
                            (pair.at.exact()) ": " (count(pair.good)) " ok, " (count(pair.bad)) " failed"
                        }
                        rect.hover x=(at * 10) y="0" width="10" height=(HEIGHT) {}
                        rect.good x=(at * 10 + 1) width="8" y=(place(HEIGHT - good)) height=(place(good)) {}
                        rect.bad x=(at * 10 + 1) width="8" y=(place(HEIGHT - good - bad)) height=(place(bad)) {}
                    }
                }
            }
            @if let (Some(first), Some(last)) = (pairs.first(), pairs.last()) {
                div.plot-times aria-hidden="true" {
                    span { (first.at.day()) " " (first.at.clock()) }
                    span { (last.at.day()) " " (last.at.clock()) }
                }
            }
        }
    }
}
