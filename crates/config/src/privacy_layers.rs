//! What all files, the environment and flags say about privacy.
//!
//! A project's file may make things stricter. What would let out more is left out, with a warning.

use gristmill_gateway::domain::{Level, PrivacyMode};
use gristmill_gateway::privacy::{Allow, Detector, DetectorSettings, Kind, PrivacySettings};
use serde_json::{Value as Json, json};

use super::origin::Origin;
use super::policy_table::Looser;
use super::privacy_table::{NamedKind, PrivacyTable, TABLE, problem_of};
use super::problem::ProblemKind;
use super::tree::join;

/// What all of them come to, and who said so.
#[derive(Clone, Debug)]
pub struct PrivacyConfig {
    pub settings: PrivacySettings,
    pub mode_origin: Origin,
    pub off_origin: Origin,
    pub confidence_origin: Origin,
    pub regions_origin: Origin,
    pub model_origin: Origin,
}

impl PrivacyConfig {
    /// What holds if nothing is said. `own` is the level without what a project says: a project that asks
    /// for a looser level gets no looser privacy with it.
    pub fn of(level: Level, own: Level) -> Self {
        let mut settings = PrivacySettings::of(level);
        settings.mode = settings.mode.max(PrivacyMode::of(own));
        Self {
            settings,
            mode_origin: Origin::Default,
            off_origin: Origin::Default,
            confidence_origin: Origin::Default,
            regions_origin: Origin::Default,
            model_origin: Origin::Default,
        }
    }

    /// Lays what a user's file says over it.
    pub fn lay_over(&mut self, table: &PrivacyTable, origin: impl Fn(usize) -> Origin) {
        let PrivacySettings { detector, restore, restore_to_model, .. } = &mut self.settings;
        if let Some((off, line)) = &table.off {
            (detector.off, self.off_origin) = (off.clone(), origin(*line));
        }
        if let Some((percent, line)) = table.confidence_min {
            (detector.confidence_min, self.confidence_origin) = (percent, origin(line));
        }
        if let Some((regions, line)) = &table.phone_regions {
            (detector.phone_regions, self.regions_origin) = (regions.clone(), origin(*line));
        }
        if let Some((kinds, line)) = &table.restore_to_model {
            (*restore_to_model, self.model_origin) = (kinds.clone(), origin(*line));
        }
        if let Some((allow, _)) = &table.allow {
            detector.allow = allow.clone();
        }
        let named = table.patterns.iter().map(|(name, pattern, _)| (name.clone(), pattern.clone()));
        detector.patterns.extend(named);
        restore.extend(table.restore.iter().map(|(rule, _)| rule.clone()));
        if let Some((mode, line)) = table.mode {
            self.take_mode(mode, origin(line));
        }
    }

    /// Lays what a project's file says over it, as far as that is stricter. What is not comes back.
    pub fn tighten(&mut self, table: &PrivacyTable, origin: impl Fn(usize) -> Origin) -> Vec<Looser> {
        let mut looser = Vec::new();
        let mut leave_out = |key: &str, line: usize| looser.push(Looser { key: join(TABLE, key), line });
        match table.mode {
            Some((mode, line)) if mode > self.settings.mode => self.take_mode(mode, origin(line)),
            Some((mode, line)) if mode < self.settings.mode => leave_out("mode", line),
            Some(_) | None => {}
        }
        let detector = &mut self.settings.detector;
        match table.confidence_min {
            Some((percent, line)) if percent < detector.confidence_min => {
                (detector.confidence_min, self.confidence_origin) = (percent, origin(line));
            }
            Some((percent, line)) if percent > detector.confidence_min => leave_out("confidence_min", line),
            Some(_) | None => {}
        }
        if let Some((regions, line)) = &table.phone_regions {
            match detector.phone_regions.iter().all(|own| regions.contains(own)) {
                true => (detector.phone_regions, self.regions_origin) = (regions.clone(), origin(*line)),
                false => leave_out("phone_regions", *line),
            }
        }
        for (name, pattern, line) in &table.patterns {
            match detector.patterns.get(name) {
                // Another pattern under the same name would no longer find what the user's finds.
                Some(own) if own != pattern => leave_out(&join("patterns", name), *line),
                Some(_) => {}
                // Nor may a value have another kind than the user's rules are about.
                None => {
                    detector.patterns.insert(name.clone(), pattern.clone());
                    detector.added.insert(name.clone());
                }
            }
        }
        for (key, kinds) in [("off", &table.off), ("restore_to_model", &table.restore_to_model)] {
            if let Some((kinds, line)) = kinds
                && !kinds.is_empty()
            {
                leave_out(key, *line);
            }
        }
        if let Some((_, line)) = table.allow.as_ref().filter(|(allow, _)| !is_empty(allow)) {
            leave_out("allow", *line);
        }
        self.refuse_more(table, &mut leave_out);
        looser
    }

    /// Before the user's own rules: the first that fits counts.
    fn refuse_more(&mut self, table: &PrivacyTable, leave_out: &mut impl FnMut(&str, usize)) {
        let mut refusing = Vec::new();
        for (index, (rule, line)) in table.restore.iter().enumerate() {
            match rule.allow {
                true => leave_out(&format!("restore[{index}]"), *line),
                false => refusing.push(rule.clone()),
            }
        }
        self.settings.restore.splice(0..0, refusing);
    }

    /// Whoever says so.
    pub fn take_mode(&mut self, mode: PrivacyMode, origin: Origin) {
        (self.settings.mode, self.mode_origin) = (mode, origin);
    }

    /// What a file names as a kind and no file has a pattern for.
    pub fn unknown_kinds<'a>(&self, table: &'a PrivacyTable) -> Vec<(&'a NamedKind, ProblemKind)> {
        let patterns = &self.settings.detector.patterns;
        let known: Vec<&str> =
            Kind::ALL.iter().map(Kind::name).chain(patterns.keys().map(String::as_str)).collect();
        let unknown = table.kinds.iter().filter(|named| !known.contains(&named.kind.name()));
        unknown.map(|named| (named, ProblemKind::not_one_of(named.kind.name(), &known))).collect()
    }

    /// What is wrong with the patterns of all files together.
    pub fn patterns_problem(&self) -> Option<ProblemKind> {
        let patterns = self.settings.detector.patterns.clone();
        if patterns.is_empty() {
            return None;
        }
        // Numbering plans take a while to load, and no pattern needs one.
        let settings =
            DetectorSettings { patterns, phone_regions: Vec::new(), ..DetectorSettings::default() };
        Detector::new(&settings).err().map(problem_of)
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, Json, &Origin); 5] {
        let PrivacySettings { mode, detector, restore_to_model, .. } = &self.settings;
        [
            ("mode", json!(mode), &self.mode_origin),
            ("off", json!(detector.off), &self.off_origin),
            ("confidence_min", json!(detector.confidence_min), &self.confidence_origin),
            ("phone_regions", json!(detector.phone_regions), &self.regions_origin),
            ("restore_to_model", json!(restore_to_model), &self.model_origin),
        ]
    }
}

fn is_empty(allow: &Allow) -> bool {
    allow.values.is_empty() && allow.globs.is_empty() && allow.fields.is_empty()
}
