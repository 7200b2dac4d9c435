use std::fs;
use std::path::{Path, PathBuf};

use gristmill_testkit::TestFolder;

use super::*;

const LIMITS: CgroupLimits = CgroupLimits { memory_bytes: 3 << 30, processes: 200 };

/// A machine made of plain files: a `/proc`, and a cgroup tree in which the gateway is at `own`.
struct Machine {
    folder: TestFolder,
}

impl Machine {
    fn new(own: &str) -> Self {
        let machine = Self { folder: TestFolder::new("cgroup") };
        let mounted = machine.tree("");
        machine.put("proc/self/cgroup", &format!("12:pids:/elsewhere\n0::{own}\n"));
        let other = "22 1 0:21 / /proc rw - proc proc rw";
        let tree = format!("30 1 0:27 / {} rw,nosuid - cgroup2 cgroup2 rw", mounted.display());
        machine.put("proc/self/mountinfo", &format!("{other}\n{tree}\n"));
        machine.put("proc/meminfo", "MemFree: 1 kB\nMemTotal:       16777216 kB\n");
        machine
    }

    /// One that a service manager has delegated.
    fn delegated() -> Self {
        let machine = Self::new("/svc/gateway");
        machine.put("tree/svc/gateway/cgroup.procs", "77\n");
        machine.put("tree/svc/cgroup.controllers", "memory pids\n");
        machine.put("tree/svc/cgroup.subtree_control", "");
        machine
    }

    /// The same with a share of the CPU.
    fn with_cpu() -> Self {
        let machine = Self::delegated();
        machine.put("tree/svc/cgroup.controllers", "cpuset cpu memory pids\n");
        machine
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn proc(&self) -> PathBuf {
        self.folder.path().join("proc")
    }

    fn tree(&self, path: &str) -> PathBuf {
        self.folder.path().join("tree").join(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.tree(path)).unwrap()
    }

    fn make(&self) -> Result<WorkerCgroup, NoCgroup> {
        WorkerCgroup::make(&self.proc(), LIMITS)
    }

    fn workers(&self) -> Vec<String> {
        let names = fs::read_dir(self.tree("svc")).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(PREFIX)).collect();
        names.sort();
        names
    }
}

fn check(machine: &Machine, expected: &NoCgroup) {
    assert_eq!(machine.make().err().as_ref(), Some(expected));
}

#[test]
fn workers_get_a_group_beside_the_gateways_with_both_limits() {
    let machine = Machine::delegated();
    let made = machine.make().unwrap();
    assert_eq!(machine.read("svc/cgroup.subtree_control"), "+memory +pids");
    let name = machine.workers().remove(0);
    assert!(name.starts_with(&format!("{PREFIX}{}-", std::process::id())), "{name}");
    made.take(4711).unwrap();
    let of = |file: &str| machine.read(&format!("svc/{name}/{file}"));
    let limits = (of("memory.max"), of("pids.max"), of("cgroup.procs"));
    assert_eq!(limits, ("3221225472".to_owned(), "200".to_owned(), "4711".to_owned()));
    // The gateway stays where it is.
    assert_eq!(machine.read("svc/gateway/cgroup.procs"), "77\n");
    assert_eq!(made.limits(), LIMITS);
}

#[test]
fn without_the_cpu_controller_no_program_is_slowed() {
    let machine = Machine::delegated();
    let made = machine.make().unwrap();
    let expected = NoCgroup::NoController { folder: machine.tree("svc"), controller: "cpu" };
    assert_eq!(made.shares().err(), Some(expected));
}

#[test]
fn with_the_cpu_controller_workers_and_programs_have_groups_within_theirs() {
    let machine = Machine::with_cpu();
    let made = machine.make().unwrap();
    // A kernel adds to what there is; a plain file has what was written last.
    assert_eq!(machine.read("svc/cgroup.subtree_control"), "+cpu");
    let name = machine.workers().remove(0);
    made.take(4711).unwrap();
    let program = made.shares().unwrap().hold(4712, 30).unwrap();
    let of = |file: &str| machine.read(&format!("svc/{name}/{file}"));
    assert_eq!((of("memory.max"), of("pids.max")), ("3221225472".to_owned(), "200".to_owned()));
    assert_eq!(of("cgroup.subtree_control"), "+cpu");
    assert_eq!(of("workers/cgroup.procs"), "4711");
    assert_eq!(
        (of("program-0/cpu.max"), of("program-0/cgroup.procs")),
        ("30000 100000".into(), "4712".into())
    );
    assert!(!machine.tree(&format!("svc/{name}/cgroup.procs")).exists());
    drop(program);
    let group = machine.tree(&format!("svc/{name}"));
    for folder in [group.join("workers"), group.join("program-0"), group.clone()] {
        for file in fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_file()) {
            fs::remove_file(file.path()).unwrap();
        }
    }
    drop(made);
    assert_eq!(machine.workers(), [""; 0]);
}

#[test]
fn the_group_goes_with_the_pool() {
    let machine = Machine::delegated();
    let made = machine.make().unwrap();
    // The files of a real group go with it by themselves.
    let group = machine.tree(&format!("svc/{}", machine.workers().remove(0)));
    for file in fs::read_dir(&group).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    drop(made);
    assert_eq!(machine.workers(), [""; 0]);
}

#[test]
fn leftovers_of_dead_gateways_are_removed_and_those_in_use_are_not() {
    let machine = Machine::delegated();
    machine.put("proc/500/stat", "");
    let [dead, living, busy] = ["400-a-0", "500-b-0", "600-c-0"].map(|rest| format!("{PREFIX}{rest}"));
    for name in [&dead, &living] {
        fs::create_dir(machine.tree(&format!("svc/{name}"))).unwrap();
    }
    machine.put(&format!("tree/svc/{busy}/cgroup.procs"), "601\n");
    fs::create_dir(machine.tree(&format!("svc/{dead}/workers"))).unwrap();
    // Its own file has nobody; the one within it has.
    let busy_within = format!("{PREFIX}700-d-0");
    machine.put(&format!("tree/svc/{busy_within}/workers/cgroup.procs"), "701\n");
    machine.put("tree/svc/gristmill-workers-mine/cgroup.procs", "");
    let _made = machine.make().unwrap();
    let workers = machine.workers();
    assert!(!workers.contains(&dead) && workers.contains(&living) && workers.contains(&busy), "{workers:?}");
    assert!(workers.contains(&busy_within), "{workers:?}");
    assert_eq!(workers.len(), 5, "{workers:?}");
}

#[test]
fn nothing_is_made_where_it_cannot_be_had_and_the_reason_is_told() {
    let version_1 = Machine::delegated();
    version_1.put("proc/self/cgroup", "4:memory:/svc/gateway\n1:name=systemd:/svc\n");
    check(&version_1, &NoCgroup::NoVersion2);
    let not_mounted = Machine::delegated();
    not_mounted.put("proc/self/mountinfo", "31 1 0:28 / /sys/fs/cgroup rw - cgroup cgroup rw,memory\n");
    check(&not_mounted, &NoCgroup::NoVersion2);
    check(&Machine::new("/"), &NoCgroup::Topmost);
    check(&Machine::new("/../gateway"), &NoCgroup::Topmost);

    let slice = Machine::new("/user.slice/session-1.scope");
    slice.put("tree/user.slice/cgroup.controllers", "memory pids");
    check(&slice, &NoCgroup::NotDelegated(slice.tree("user.slice")));

    let without_pids = Machine::delegated();
    without_pids.put("tree/svc/cgroup.controllers", "cpu memory\n");
    let expected = NoCgroup::NoController { folder: without_pids.tree("svc"), controller: "pids" };
    check(&without_pids, &expected);

    let busy = Machine::delegated();
    fs::remove_file(busy.tree("svc/cgroup.subtree_control")).unwrap();
    // A write that fails, whoever runs the test.
    fs::create_dir(busy.tree("svc/cgroup.subtree_control")).unwrap();
    assert!(matches!(busy.make(), Err(NoCgroup::NotEnabled { .. })));
    assert_eq!(busy.workers(), [""; 0]);
}

#[test]
fn a_tree_that_cannot_be_written_to_is_not_delegated() {
    let parent = Path::new("/sys/fs/cgroup/svc");
    let not_delegated = NoCgroup::NotDelegated(parent.to_owned());
    for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem] {
        assert_eq!(refused(parent, &io::Error::from(kind)), not_delegated);
    }
    assert_eq!(not_delegated.to_string(), "/sys/fs/cgroup/svc isn't delegated to the gateway");
}

#[test]
fn a_part_of_the_tree_is_found_where_it_is_mounted() {
    let machine = Machine::new("/docker/abc/gateway");
    let mounted = machine.tree("");
    let line = format!("30 1 0:27 /docker/abc {} rw - cgroup2 none rw", mounted.display());
    machine.put("proc/self/mountinfo", &line);
    machine.put("tree/cgroup.controllers", "memory pids");
    machine.put("tree/cgroup.subtree_control", "memory pids");
    let made = machine.make().unwrap();
    assert_eq!(made.folder.parent(), Some(mounted.as_path()));
}

#[test]
fn the_limits_hold_every_worker_that_there_can_be() {
    let counts =
        WorkerCounts { running: 20, running_bytes: 600 << 20, waiting: 4, kept: 16, kept_bytes: 2 << 30 };
    let limits = CgroupLimits::of(counts);
    let memory = ((20 * 600) << 20) + (2 << 30) + ((40 * 64) << 20) + ((6 * 256) << 20);
    assert_eq!(limits, CgroupLimits { memory_bytes: memory, processes: 2 * 40 + 6 * 4 });
    // Never more than the machine can bear.
    let machine = Machine::delegated();
    assert_eq!(limits.on_machine(&machine.proc()).memory_bytes, (16_u64 << 30) / 10 * 9);
    machine.put("proc/meminfo", "");
    assert_eq!(limits.on_machine(&machine.proc()), limits);
}
