//! Amounts beside each other.

use maud::{Markup, Render, html};

use crate::number::{count, float, place};
use crate::{Text, parts::Tone};

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    pub label: Text,
    pub value: u64,
    pub tone: Tone,
}

/// Bars with a common scale. `unit` follows each value.
pub(crate) fn bars(bars: &[Bar], unit: &str) -> Markup {
    let most = bars.iter().map(|bar| bar.value).max().unwrap_or(0).max(1);
    html! {
        ul.bars {
            @for bar in bars {
                li {
                    span.label { (bar.label) }
                    (meter(float(bar.value) / float(most), bar.tone))
                    span.amount { (count(bar.value)) " " (unit) }
                }
            }
        }
    }
}

/// A share of one as a bar; what it means stands beside it.
fn meter(share: f64, tone: Tone) -> Markup {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    html! {
        svg.meter aria-hidden="true" {
            rect.track width="100%" height="100%" rx="4" {}
            rect.(tone.class()) width=(Percent(share)) height="100%" rx="4" {}
        }
    }
}

struct Percent(f64);

impl Render for Percent {
    fn render_to(&self, page: &mut String) {
        page.push_str(&place(self.0 * 100.0));
        page.push('%');
    }
}
