//! Tests once more where there are no namespaces, as in most containers.

use std::path::Path;
use std::process::{Command, Output};

/// Says to a test that it runs there already.
const VARIABLE: &str = "GRISTMILL_TESTS_WITHOUT_NAMESPACES";

/// Takes namespaces away from whatever it runs.
const NO_NAMESPACES: &str = r#"for kind in user pid mnt net ipc uts cgroup; do
  echo 0 > /proc/sys/user/max_${kind}_namespaces
done
exec "$@""#;

/// A command that has no namespaces to enter; none where a process may not limit its own.
pub fn without_namespaces(program: &Path) -> Option<Command> {
    let confined = |program: &Path| {
        let mut command = Command::new("unshare");
        command.args(["-Ur", "sh", "-ec", NO_NAMESPACES, "sh"]).arg(program);
        command
    };
    let is_permitted = confined(Path::new("true")).output().is_ok_and(|ran| ran.status.success());
    is_permitted.then(|| confined(program))
}

/// Whether this process was started by [`rerun_without_namespaces`].
pub fn is_without_namespaces() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Runs this very test program there, with these arguments. None if it runs there already or, with a word about it,
/// where that cannot be had.
pub fn rerun_without_namespaces(arguments: &[&str]) -> Option<Output> {
    if is_without_namespaces() {
        return None;
    }
    let program = std::env::current_exe().expect("a test program");
    let Some(mut command) = without_namespaces(&program) else {
        eprintln!("SKIPPED: this machine lets no process take namespaces away from itself");
        return None;
    };
    Some(command.args(arguments).env(VARIABLE, "1").output().expect("it was started"))
}
