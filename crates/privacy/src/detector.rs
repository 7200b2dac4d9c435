//! Settings, ready to be used.

use crate::allow::AllowList;
use crate::context::Topics;
use crate::custom::Custom;
use crate::finding::{Finding, TooMany};
use crate::kind::Kind;
use crate::phone::Phones;
use crate::printed;
use crate::scan::{Depth, Rules, scan};
use crate::settings::{Settings, SettingsError};
use crate::sink::{Sink, beside};
use crate::token::outside_tokens;

/// Finds personal data and secrets. Make it once: patterns are compiled then.
#[derive(Debug)]
pub struct Detector {
    off: Vec<Kind>,
    confidence_min: u8,
    phones: Phones,
    custom: Custom,
    /// What they find counts only where nothing else is found.
    added: Custom,
    allow: AllowList,
}

impl Detector {
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let phones =
            Phones::of(&settings.phone_regions).map_err(|region| SettingsError::Region { region })?;
        let (custom, added) = Custom::of(&settings.patterns)?.without(&settings.added);
        Ok(Self {
            off: settings.off.clone(),
            // What nothing speaks for is never told.
            confidence_min: settings.confidence_min.max(1),
            phones,
            custom,
            added,
            allow: AllowList::of(&settings.allow)?,
        })
    }

    /// Everything in a text, in its order; no two findings overlap, and none covers a token.
    pub fn scan(&self, text: &str) -> Vec<Finding> {
        self.scan_up_to(text, usize::MAX).unwrap_or_default()
    }

    /// The same, unless there is too much in it: then no more of it is looked at. Findings that overlap count, too.
    pub fn scan_up_to(&self, text: &str, findings_max: usize) -> Result<Vec<Finding>, TooMany> {
        self.within(text, Topics::default(), findings_max, |_| {})
    }

    /// Every kind of ours that speaks for a text or a part of it, whichever pattern of the configuration fits, too.
    pub fn built_in_kinds(&self, text: &str) -> Vec<Kind> {
        let rules = Rules { phones: &self.phones, off: &[], confidence_min: self.confidence_min };
        let mut sink = rules.sink();
        scan(text, Topics::default(), rules, &mut sink, Depth::Outer);
        printed::records(text, rules, &mut sink);
        sink.kinds()
    }

    /// As [`Self::scan_up_to`], for the value of a field with these topics; `also` adds what else is known of it.
    pub(crate) fn within(
        &self,
        text: &str,
        field: Topics,
        findings_max: usize,
        also: impl FnOnce(&mut Sink<'_>),
    ) -> Result<Vec<Finding>, TooMany> {
        let rules = Rules { phones: &self.phones, off: &self.off, confidence_min: self.confidence_min };
        let mut sink = rules.sink().up_to(findings_max);
        scan(text, field, rules, &mut sink, Depth::Outer);
        printed::records(text, rules, &mut sink);
        also(&mut sink);
        self.custom.find(text, &mut sink);
        let mut added = rules.sink().up_to(findings_max);
        if !sink.is_full() {
            self.added.find(text, &mut added);
        }
        if sink.is_full() || added.is_full() {
            return Err(TooMany);
        }
        let found = beside(sink.into_findings(), added.into_findings());
        let mut findings = outside_tokens(text, found);
        findings
            .retain(|found| text.get(found.span.clone()).is_some_and(|value| !self.allow.has_value(value)));
        Ok(findings)
    }

    pub(crate) fn allow(&self) -> &AllowList {
        &self.allow
    }
}
