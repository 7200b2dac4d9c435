use std::io::Write;
use std::os::unix::net::UnixStream;

use gristmill_protocol::ToZygote;
use gristmill_testkit::TestFolder;
use tokio::sync::{mpsc, watch};

use super::super::scratch::ScratchFolders;
use super::super::zygote_link::ZygoteLink;
use super::*;

/// Interpreters without processes: what they say is written by the test, and who is killed is read.
struct World {
    kept: KeptWorkers<()>,
    scratch: ScratchFolders,
    link: Arc<ZygoteLink>,
    orders: mpsc::UnboundedReceiver<ToZygote>,
    killed: Vec<u64>,
    _folder: TestFolder,
}

impl World {
    fn new(count: usize) -> Self {
        let folder = TestFolder::new("kept");
        let (link, orders) = ZygoteLink::to_nobody();
        let settings = KeepSettings { count, idle: Duration::from_secs(1800), memory_bytes: 100 };
        let scratch = ScratchFolders::open(&folder.path().join("scratch")).unwrap();
        Self {
            kept: KeptWorkers::new(settings, Handle::current()),
            scratch,
            link,
            orders,
            killed: Vec::new(),
            _folder: folder,
        }
    }

    fn interpreter(&self, id: u64) -> (Interpreter<()>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let exit = watch::channel(None).1;
        let worker = Worker::new(id, ours.into(), None, exit, Arc::clone(&self.link)).unwrap();
        let belongings = Belongings { given: (), folders: Vec::new(), scratch: self.scratch.take().unwrap() };
        (Interpreter { worker, belongings, memory_bytes: 10 }, theirs)
    }

    /// A session's first program ends, and its interpreter stays.
    fn keep(&self, session: &str, id: u64) -> UnixStream {
        let lease = self.kept.take(session);
        assert_eq!((lease.kept().is_some(), lease.room()), (false, Room::Yes));
        let (interpreter, line) = self.interpreter(id);
        assert_eq!(lease.keep(interpreter), Ok(()));
        line
    }

    /// Which interpreter a session has; it stays where it is.
    fn id_of(&self, session: &str) -> Option<u64> {
        self.kept.take(session).kept().map(|kept| kept.worker.id())
    }

    /// Why a session has none although it had one.
    fn loss(&self, session: &str) -> Option<Lost> {
        let mut lease = self.kept.take(session);
        assert!(lease.kept().is_none());
        lease.take_loss()
    }

    /// The next one that is killed. Each is killed a second time when it is dropped, on a thread
    /// that may be late: that tells nothing new.
    async fn next_killed(&mut self) -> u64 {
        loop {
            match self.orders.recv().await {
                Some(ToZygote::Kill { id }) if self.killed.contains(&id) => {}
                Some(ToZygote::Kill { id }) => {
                    self.killed.push(id);
                    return id;
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn an_interpreter_is_found_by_its_own_session_and_by_no_other() {
    let world = World::new(4);
    let _lines = [world.keep("a", 1), world.keep("b", 2)];
    assert_eq!(
        [world.id_of("a"), world.id_of("b"), world.id_of("c"), world.id_of("")],
        [Some(1), Some(2), None, None]
    );
    let held = world.kept.take("a");
    assert_eq!(held.kept().map(|kept| kept.worker.id()), Some(1));
    let second = world.kept.take("a");
    assert_eq!((second.kept().is_some(), second.room()), (false, Room::Busy), "it is in use");
    drop((second, held));
    assert_eq!(world.id_of("a"), Some(1), "what was not used goes back");
}

#[tokio::test]
async fn the_one_that_was_used_longest_ago_makes_room() {
    let mut world = World::new(2);
    let _lines = [world.keep("a", 1), world.keep("b", 2)];
    assert_eq!(world.id_of("a"), Some(1), "which is a use");
    let _line = world.keep("c", 3);
    assert_eq!(world.next_killed().await, 2);
    assert_eq!([world.id_of("a"), world.id_of("c")], [Some(1), Some(3)]);
    assert_eq!(world.loss("b"), Some(Lost::MadeRoom));
    assert_eq!(world.loss("b"), None, "told once");
}

#[tokio::test]
async fn memory_makes_room_too_but_one_alone_may_have_any() {
    let world = World::new(4);
    let _lines = [world.keep("a", 1), world.keep("b", 2)];
    let (mut large, _line) = world.interpreter(3);
    large.memory_bytes = 95;
    assert_eq!(world.kept.take("c").keep(large), Ok(()));
    assert_eq!([world.id_of("a"), world.id_of("b"), world.id_of("c")], [None, None, Some(3)]);
    let (mut larger, _line) = world.interpreter(4);
    larger.memory_bytes = u64::MAX;
    assert_eq!(world.kept.take("d").keep(larger), Ok(()));
    assert_eq!([world.id_of("c"), world.id_of("d")], [None, Some(4)]);
}

#[tokio::test]
async fn where_none_is_kept_nothing_stays() {
    let world = World::new(0);
    assert_eq!(world.kept.take("a").room(), Room::NoneKept);
    assert_eq!(world.kept.now().count, 0);
}

#[tokio::test(start_paused = true)]
async fn an_idle_one_ends_after_its_time() {
    let mut world = World::new(2);
    let _line = world.keep("a", 1);
    assert_eq!(world.next_killed().await, 1);
    let lost = world.loss("a").unwrap();
    assert_eq!(lost.to_string(), "the interpreter was idle for 30 minutes");
}

#[tokio::test]
async fn one_that_speaks_while_it_is_idle_is_ended_and_not_read() {
    let mut world = World::new(2);
    let mut line = world.keep("a", 1);
    line.set_nonblocking(true).unwrap();
    // A flood: what nobody reads stays in the socket, and that is full soon.
    while line.write(&[0; 64 * 1024]).is_ok() {}
    assert_eq!(world.next_killed().await, 1);
    assert_eq!(world.loss("a"), Some(Lost::Spoke));
}

#[tokio::test]
async fn words_that_came_a_moment_before_the_next_program_are_noticed() {
    let world = World::new(2);
    let mut line = world.keep("a", 1);
    line.write_all(b"x").unwrap();
    // Without a pause in which anything else could have noticed.
    assert_eq!(world.loss("a"), Some(Lost::Spoke));
}

#[tokio::test]
async fn one_that_is_gone_is_not_handed_out() {
    let mut world = World::new(2);
    drop(world.keep("a", 1));
    assert_eq!(world.next_killed().await, 1);
    assert_eq!(world.loss("a"), Some(Lost::Gone));
}

#[tokio::test]
async fn one_that_speaks_after_its_last_word_is_not_kept() {
    let world = World::new(2);
    let (interpreter, mut line) = world.interpreter(1);
    line.write_all(b"a second Done").unwrap();
    assert_eq!(world.kept.take("a").keep(interpreter), Err(Lost::Spoke));
    assert_eq!(world.id_of("a"), None);
}

#[tokio::test]
async fn a_session_that_is_ended_loses_its_interpreter_even_while_it_runs() {
    let mut world = World::new(2);
    let _line = world.keep("a", 1);
    world.kept.forget("a", "the session was reset");
    assert_eq!(world.next_killed().await, 1);
    let lease = world.kept.take("a");
    world.kept.forget("a", "the session was ended");
    let (interpreter, _line) = world.interpreter(2);
    let refused = lease.keep(interpreter).unwrap_err();
    assert_eq!(refused.to_string(), "the session was ended");
    assert_eq!(world.next_killed().await, 2);
    assert_eq!(world.id_of("a"), None);
}

#[tokio::test]
async fn losses_are_remembered_for_a_number_of_sessions() {
    let world = World::new(1);
    let mut lines = Vec::new();
    for number in 0..LOSSES_MAX as u64 + 3 {
        lines.push(world.keep(&number.to_string(), number));
        if lines.len() > 8 {
            lines.clear();
        }
        // Those that had to go let go of their descriptors.
        tokio::task::yield_now().await;
    }
    assert_eq!(world.kept.shared.lock().losses.len(), LOSSES_MAX);
    world.kept.close();
    assert_eq!(world.kept.now().count, 0);
    assert_eq!(world.kept.take("x").room(), Room::NoneKept, "a gateway that closes keeps no more");
}
