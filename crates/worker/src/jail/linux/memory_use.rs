//! How much memory this process has: what it may grow from, and what it took.

/// Taken for the size of the zygote's data where the kernel does not tell it.
const DATA_BYTES_UNTOLD: u64 = 256 << 20;

/// Private writable memory of this process, which is what RLIMIT_DATA counts. For as long as /proc can
/// be seen.
pub fn data_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    data_bytes_in(&status).unwrap_or(DATA_BYTES_UNTOLD)
}

fn data_bytes_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The most that this process has had in memory at once, shared pages included.
pub fn resident_peak_bytes() -> u64 {
    // SAFETY: a zeroed structure is a valid one, and the call only fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_the_data_is_read_from_the_kernels_words() {
        assert_eq!(data_bytes_in("VmStk:\t  132 kB\nVmData:\t   2048 kB\nVmExe: 1 kB\n"), Some(2 << 20));
        assert_eq!(data_bytes_in("Name:\tx\n"), None);
        assert!(data_bytes() > 0 && resident_peak_bytes() > 0);
    }
}
