//! Arguments of `gristmill bench cluster`, and the settings that they make.

use anyhow::{anyhow, bail};
use clap::Args;

use super::beliefs::Ties;
use super::costs::VCPU_HOUR_USD;
use super::design::{Placement, Policy, Rules, Settings};
use super::timeline::Micros;

const SESSIONS: usize = 1_000_000;
const SECONDS: u64 = 120;

/// Each takes a byte, and the simulation minutes.
const EXECUTIONS_MAX: u64 = 200_000_000;

#[derive(Args)]
pub struct ClusterArguments {
    /// cluster: simulate one instead of measuring this machine
    #[arg(long)]
    pub simulate: bool,

    /// cluster: nodes
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(1..=20_000))]
    pub nodes: u16,

    /// cluster: gateways
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub gateways: u16,

    /// cluster: executions asked for per second
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate: u32,

    /// cluster: what chance starts from; the same seed gives the same figures
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// cluster: change what is simulated, such as presence-gap=50 (docs/scaling.md)
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    pub change: Vec<String>,

    /// cluster: price of a vCPU per hour, in US dollars
    #[arg(long, value_name = "USD", default_value_t = VCPU_HOUR_USD)]
    pub vcpu_price: f64,
}

impl ClusterArguments {
    pub fn settings(&self, sessions: Option<usize>, seconds: Option<u64>) -> anyhow::Result<Settings> {
        let (sessions, seconds) = (sessions.unwrap_or(SESSIONS), seconds.unwrap_or(SECONDS));
        if !(1..=100_000_000).contains(&sessions) {
            bail!("--sessions must be between 1 and 100,000,000");
        }
        if !(10..=86_400).contains(&seconds) {
            bail!("--seconds must be between 10 and 86,400: each failure needs its time");
        }
        if u64::from(self.rate) * seconds > EXECUTIONS_MAX {
            bail!("--rate times --seconds must be at most 200,000,000 executions");
        }
        if !(self.vcpu_price.is_finite() && self.vcpu_price >= 0.0) {
            bail!("--vcpu-price must be a number of dollars");
        }
        let mut policy = Policy::default();
        self.change.iter().try_for_each(|change| apply(change, &mut policy))?;
        Ok(Settings {
            nodes: self.nodes.into(),
            gateways: self.gateways.into(),
            sessions,
            rate: self.rate.into(),
            seconds,
            seed: self.seed,
            placement: Placement::Gateways,
            policy,
            rules: Rules::default(),
        })
    }
}

fn apply(change: &str, policy: &mut Policy) -> anyhow::Result<()> {
    let unknown = || {
        anyhow!(
            "`{change}` isn't a change; there are presence-gap=MS, offer-time=MS, owner-share=PERCENT, ties=lot, \
             refused=first, and bus-patience=MS"
        )
    };
    let (name, value) = change.split_once('=').ok_or_else(unknown)?;
    let number = |least: u64, most: u64| {
        let number = value.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| anyhow!("`{name}` must be a whole number between {least} and {most}"))
    };
    let ms = |least| -> anyhow::Result<Micros> { Ok(number(least, 10_000)? * 1_000) };
    match (name, value) {
        ("presence-gap", _) => policy.presence_gap_us = ms(0)?,
        ("offer-time", _) => policy.offer_time_us = Some(ms(1)?),
        ("owner-share", _) => policy.owner_share = number(1, 100)? as f64 / 100.0,
        ("bus-patience", _) => {
            policy.bus_ping_us = ms(1)?;
            policy.bus_connect_timeout_us = ms(1)?;
        }
        ("ties", "lot") => policy.ties = Ties::ByLot,
        ("refused", "first") => policy.refused_keep_their_turn = true,
        _ => return Err(unknown()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(change: &[&str]) -> ClusterArguments {
        ClusterArguments {
            simulate: true,
            nodes: 5,
            gateways: 2,
            rate: 100,
            seed: 1,
            change: change.iter().map(|change| (*change).to_owned()).collect(),
            vcpu_price: 0.05,
        }
    }

    #[test]
    fn without_changes_the_design_is_simulated() {
        let settings = arguments(&[]).settings(None, None).unwrap();
        assert_eq!((settings.sessions, settings.seconds, settings.nodes), (SESSIONS, SECONDS, 5));
        assert_eq!((settings.policy.presence_gap_us, settings.policy.ties), (0, Ties::ByName));
    }

    #[test]
    fn changes_are_made_together() {
        let all = [
            "presence-gap=50",
            "offer-time=20",
            "owner-share=30",
            "ties=lot",
            "refused=first",
            "bus-patience=500",
        ];
        let policy = arguments(&all).settings(Some(10), Some(20)).unwrap().policy;
        assert_eq!((policy.presence_gap_us, policy.offer_time_us), (50_000, Some(20_000)));
        assert_eq!((policy.owner_share, policy.ties), (0.3, Ties::ByLot));
        assert_eq!((policy.bus_ping_us, policy.bus_connect_timeout_us), (500_000, 500_000));
        assert!(policy.refused_keep_their_turn);
    }

    #[test]
    fn what_cannot_be_simulated_is_refused_with_what_can() {
        let check = |change: &str, sessions, seconds, expected: &str| {
            let error = arguments(&[change]).settings(sessions, seconds).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("ties=lottery", None, None, "there are presence-gap=MS");
        check("presence-gap", None, None, "`presence-gap` isn't a change");
        check("owner-share=0", None, None, "between 1 and 100");
        check("ties=lot", Some(0), None, "--sessions");
        check("ties=lot", None, Some(1), "--seconds");
        let fast = ClusterArguments { rate: 1_000_000, ..arguments(&[]) };
        assert!(fast.settings(None, Some(1_000)).is_err());
        let free = ClusterArguments { vcpu_price: f64::NAN, ..arguments(&[]) };
        assert!(free.settings(None, None).is_err());
    }
}
