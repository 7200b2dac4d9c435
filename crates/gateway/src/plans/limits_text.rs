//! The limits of a planned program, as they are kept.

use gristmill_domain::{Level, LimitName, Limits};
use serde_json::{Map, Value};

const LEVEL: &str = "level";

pub(super) fn write(limits: &Limits) -> String {
    let mut members = Map::new();
    members.insert(LEVEL.to_owned(), Value::from(limits.level().as_str()));
    for name in LimitName::ALL {
        members.insert(name.as_str().to_owned(), Value::from(limits.get(name)));
    }
    Value::Object(members).to_string()
}

/// The same again, at the gateway's own level or a stricter one: what is out of a level's range is brought
/// into it.
pub(super) fn read(text: &str, ours: &Limits) -> Limits {
    let members: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    let level = members.get(LEVEL).and_then(|level| level.as_str()?.parse::<Level>().ok());
    let mut limits = level.and_then(|level| ours.tightened(level)).unwrap_or_else(|| ours.clone());
    for name in LimitName::ALL {
        let Some(value) = members.get(name.as_str()).and_then(Value::as_u64) else { continue };
        let (least, most) = limits.range(name);
        // In its range.
        let _ = limits.set(name, value.clamp(least, most));
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_back_as_they_were_and_never_at_a_looser_level() {
        let mut limits = Limits::of(Level::Hardened);
        limits.set(LimitName::WallTime, 2_000).unwrap();
        let ours = Limits::of(Level::Production);
        assert_eq!(read(&write(&limits), &ours), limits);
        let loose = write(&Limits::of(Level::Development));
        let strict = Limits::of(Level::Hardened);
        assert_eq!(read(&loose, &strict).level(), Level::Hardened);
        assert_eq!(read("no limits", &ours), ours);
    }
}
