use super::*;

const START: u64 = 1_767_600_000_000;

struct World {
    alerts: Alerts,
    settings: AlertSettings,
}

impl World {
    fn new(settings: AlertSettings) -> Self {
        Self { alerts: Alerts::new(), settings }
    }

    fn found(&mut self, minute: u64, severity: Severity, name: &str) -> &'static str {
        let subject = Subject::Caller(name.to_owned());
        let mut anomaly = Anomaly::new(Kind::Failures, severity, subject, String::new());
        anomaly.at_ms = START + minute * MINUTE_MS;
        word(self.alerts.found(&self.settings, &anomaly).as_ref())
    }

    fn tick(&mut self, minute: u64) -> Vec<Alert> {
        self.alerts.tick(&self.settings, START + minute * MINUTE_MS)
    }
}

fn word(alert: Option<&Alert>) -> &'static str {
    match alert {
        None => "-",
        Some(Alert::Send { .. }) => "send",
        Some(Alert::Repeat { .. }) => "repeat",
        Some(Alert::Recovered { .. }) => "recovered",
    }
}

#[test]
fn a_warning_is_sent_once_repeated_after_hours_and_recovers() {
    let mut world = World::new(AlertSettings::default());
    assert_eq!(world.found(0, Severity::Warning, "a"), "send");
    for minute in (10..360).step_by(10) {
        assert_eq!(world.found(minute, Severity::Warning, "a"), "-");
        assert_eq!(world.tick(minute + 5), []);
    }
    assert_eq!(world.found(360, Severity::Warning, "a"), "repeat");
    assert_eq!(world.tick(389), []);
    let over = world.tick(390);
    assert!(
        matches!(&over[..], [Alert::Recovered { findings: 37, since_ms: START, until_ms, .. }]
            if *until_ms == START + 360 * MINUTE_MS),
        "{over:?}"
    );
    assert_eq!(world.tick(391), [], "said once");
}

#[test]
fn a_notice_is_never_sent_unless_that_is_wanted() {
    assert_eq!(World::new(AlertSettings::default()).found(0, Severity::Notice, "a"), "-");
    let mut world = World::new(AlertSettings { notices: 1, ..AlertSettings::default() });
    assert_eq!(world.found(0, Severity::Notice, "a"), "send");
}

#[test]
fn a_threshold_counts_findings_of_one_key_within_its_time() {
    let mut world = World::new(AlertSettings { warnings: 3, ..AlertSettings::default() });
    assert_eq!(world.found(0, Severity::Warning, "a"), "-");
    assert_eq!(world.found(1, Severity::Warning, "b"), "-");
    assert_eq!(world.found(50, Severity::Warning, "a"), "-");
    assert_eq!(world.found(70, Severity::Warning, "a"), "-", "the first is too old: counted anew");
    assert_eq!(world.found(80, Severity::Warning, "a"), "-");
    assert_eq!(world.found(90, Severity::Warning, "a"), "send");
    assert_eq!(world.found(91, Severity::Critical, "b"), "send", "critical needs one");
}

#[test]
fn what_comes_back_during_the_hold_off_is_sent_only_if_it_is_worse() {
    let mut world = World::new(AlertSettings::default());
    assert_eq!(world.found(0, Severity::Warning, "a"), "send");
    assert_eq!(world.tick(30).len(), 1);
    assert_eq!(world.found(40, Severity::Warning, "a"), "-");
    assert_eq!(world.found(50, Severity::Critical, "a"), "send");
    assert_eq!(world.tick(80).len(), 1);
    assert_eq!(world.found(139, Severity::Critical, "a"), "-");
    assert_eq!(world.found(140, Severity::Warning, "a"), "send", "the hold-off is over");
}

#[test]
fn a_warning_that_becomes_critical_is_sent_again_at_once() {
    let mut world = World::new(AlertSettings::default());
    assert_eq!(world.found(0, Severity::Warning, "a"), "send");
    assert_eq!(world.found(1, Severity::Critical, "a"), "send");
    assert_eq!(world.found(2, Severity::Warning, "a"), "-");
}

#[test]
fn a_flood_of_keys_is_cut_and_counted_and_critical_ones_still_pass() {
    let mut world = World::new(AlertSettings::default());
    let sent = (0..5000).filter(|i| world.found(0, Severity::Warning, &format!("c{i}")) == "send").count();
    assert_eq!(sent, 20);
    let mut anomaly = Anomaly::new(Kind::Denials, Severity::Critical, Subject::Everything, String::new());
    anomaly.at_ms = START + MINUTE_MS;
    let alert = world.alerts.found(&world.settings.clone(), &anomaly);
    assert!(matches!(alert, Some(Alert::Send { withheld: 4980, .. })), "{alert:?}");
    assert!(serde_json::to_string(&world.alerts).expect("it is plain data").len() < 1_000_000);
}

#[test]
fn a_first_use_is_sent_and_does_not_recover() {
    let mut world = World::new(AlertSettings::default());
    let subject = Subject::Use { caller: "a".to_owned(), server: "crm".to_owned(), tool: None };
    let mut anomaly = Anomaly::new(Kind::FirstServer, Severity::Warning, subject, String::new());
    anomaly.at_ms = START;
    assert_eq!(word(world.alerts.found(&world.settings.clone(), &anomaly).as_ref()), "send");
    assert_eq!(world.tick(1000), []);
}

#[test]
fn a_restart_repeats_nothing_and_forgets_no_recovery() {
    let mut world = World::new(AlertSettings::default());
    assert_eq!(world.found(0, Severity::Warning, "a"), "send");
    let text = serde_json::to_string(&world.alerts).expect("it is plain data");
    world.alerts = serde_json::from_str(&text).expect("its own text");
    assert_eq!(world.found(10, Severity::Warning, "a"), "-");
    assert_eq!(word(world.tick(45).first()), "recovered");
}
