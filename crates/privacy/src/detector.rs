//! Settings, ready to be used.

use crate::allow::AllowList;
use crate::context::Topics;
use crate::custom::Custom;
use crate::finding::Finding;
use crate::kind::Kind;
use crate::phone::Phones;
use crate::scan::{Depth, Rules, scan};
use crate::settings::{Settings, SettingsError};
use crate::sink::Sink;
use crate::token::outside_tokens;

/// Finds personal data and secrets. Make it once: patterns are compiled then.
#[derive(Debug)]
pub struct Detector {
    off: Vec<Kind>,
    confidence_min: u8,
    phones: Phones,
    custom: Custom,
    allow: AllowList,
}

impl Detector {
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let phones =
            Phones::of(&settings.phone_regions).map_err(|region| SettingsError::Region { region })?;
        Ok(Self {
            off: settings.off.clone(),
            // What nothing speaks for is never told.
            confidence_min: settings.confidence_min.max(1),
            phones,
            custom: Custom::of(&settings.patterns)?,
            allow: AllowList::of(&settings.allow)?,
        })
    }

    /// Everything in a text, in its order; no two findings overlap, and none covers a token.
    pub fn scan(&self, text: &str) -> Vec<Finding> {
        self.within(text, Topics::default(), |_| {})
    }

    /// As [`Self::scan`], for the value of a field with these topics; `also` adds what else is known of it.
    pub(crate) fn within(&self, text: &str, field: Topics, also: impl FnOnce(&mut Sink<'_>)) -> Vec<Finding> {
        let rules = Rules { phones: &self.phones, off: &self.off, confidence_min: self.confidence_min };
        let mut sink = rules.sink();
        scan(text, field, rules, &mut sink, Depth::Outer);
        also(&mut sink);
        self.custom.find(text, |found| {
            sink.take(found);
        });
        let mut findings = outside_tokens(text, sink.into_findings());
        findings
            .retain(|found| text.get(found.span.clone()).is_some_and(|value| !self.allow.has_value(value)));
        findings
    }

    pub(crate) fn allow(&self) -> &AllowList {
        &self.allow
    }
}
