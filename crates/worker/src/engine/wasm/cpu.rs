//! Whether this CPU has what the compiled code needs.

/// What is missing, in words with a way out.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this CPU has no {}, which the engine needs; use an x86-64 CPU of 2009 or newer (x86-64-v2), and in a \
     virtual machine a CPU model such as `host` instead of `qemu64` or `kvm64`",
    .missing.join(", ")
)]
pub struct CpuTooOld {
    missing: Vec<String>,
}

/// Asks the CPU itself.
#[cfg(target_arch = "x86_64")]
pub fn check() -> Result<(), CpuTooOld> {
    demand(super::code_settings::X86_64_BASELINE, |feature| match feature {
        "has_sse3" => is_x86_feature_detected!("sse3"),
        "has_ssse3" => is_x86_feature_detected!("ssse3"),
        "has_sse41" => is_x86_feature_detected!("sse4.1"),
        "has_sse42" => is_x86_feature_detected!("sse4.2"),
        "has_popcnt" => is_x86_feature_detected!("popcnt"),
        _ => false,
    })
}

/// The code for other CPUs needs nothing that one of them may not have.
#[cfg(not(target_arch = "x86_64"))]
pub fn check() -> Result<(), CpuTooOld> {
    Ok(())
}

#[cfg(any(target_arch = "x86_64", test))]
fn demand(needed: &[&str], has: impl Fn(&str) -> bool) -> Result<(), CpuTooOld> {
    let name = |feature: &&str| feature.trim_start_matches("has_").to_uppercase();
    let missing: Vec<String> = needed.iter().filter(|feature| !has(feature)).map(name).collect();
    if missing.is_empty() { Ok(()) } else { Err(CpuTooOld { missing }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_is_too_old_is_told_apart_with_a_way_out() {
        let needed = super::super::code_settings::X86_64_BASELINE;
        assert_eq!(demand(needed, |_| true), Ok(()));
        let message = demand(needed, |feature| !feature.ends_with("cnt")).unwrap_err().to_string();
        assert!(
            message.starts_with("this CPU has no POPCNT, which") && message.contains("`host`"),
            "{message}"
        );
    }
}
