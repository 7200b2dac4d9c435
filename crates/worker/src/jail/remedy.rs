//! What to do about a wall that does not stand.

use gristmill_protocol::{Wall, WallState, WallStatus};

/// The first required wall that is missing, in words with a way out.
pub fn first_missing(walls: &[WallStatus], required: &[Wall]) -> Option<String> {
    let missing =
        required.iter().find_map(|wanted| match walls.iter().find(|status| status.wall == *wanted) {
            Some(status) if status.state == WallState::Stands => None,
            Some(status) => Some((*wanted, status.detail.as_str())),
            None => Some((*wanted, "not known to this worker")),
        })?;
    let (wall, detail) = missing;
    Some(format!(
        "this isolation level needs {}, which this machine doesn't have ({detail}); {}",
        name_of(wall),
        remedy_for(wall)
    ))
}

fn name_of(wall: Wall) -> &'static str {
    match wall {
        Wall::Wasm => "WebAssembly",
        Wall::Process => "a process of its own",
        Wall::Landlock => "landlock",
        Wall::Seccomp => "seccomp",
        Wall::NoNewPrivileges => "no-new-privileges",
        Wall::UserNamespace => "a user namespace",
        Wall::NetworkNamespace => "a network namespace",
        Wall::MountNamespace => "an empty root",
        Wall::PidNamespace => "a process namespace",
        Wall::Rlimits => "resource limits",
    }
}

/// How to raise it, or how to do without.
pub fn remedy_for(wall: Wall) -> &'static str {
    match wall {
        Wall::Wasm | Wall::Process => "this is part of gristmill itself: please report it",
        Wall::Landlock => {
            "use a Linux kernel 5.13 or newer with landlock in its `lsm=` list, or run with --level development"
        }
        Wall::Seccomp | Wall::NoNewPrivileges => {
            "use a kernel with CONFIG_SECCOMP_FILTER, or run with --level development"
        }
        Wall::UserNamespace | Wall::NetworkNamespace | Wall::MountNamespace | Wall::PidNamespace => {
            "permit unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1 or an AppArmor \
             profile with `userns`; in Docker --security-opt seccomp=unconfined), or run with --level production"
        }
        Wall::Rlimits => "raise the hard limits that `ulimit -H -a` shows, or run with --level production",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_wall_is_named_with_its_reason_and_a_way_out() {
        let walls = [
            WallStatus { wall: Wall::Seccomp, state: WallState::Stands, detail: String::new() },
            WallStatus { wall: Wall::Landlock, state: WallState::Unavailable, detail: "ABI 0".to_owned() },
        ];
        assert_eq!(first_missing(&walls, &[Wall::Seccomp]), None);
        let message = first_missing(&walls, &[Wall::Seccomp, Wall::Landlock]).unwrap();
        assert!(message.contains("needs landlock") && message.contains("ABI 0"), "{message}");
        assert!(message.contains("--level development"), "{message}");
    }
}
