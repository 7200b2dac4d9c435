//! What a zygote does, from its start on.

use std::fs;
use std::path::Path;

use gristmill_protocol::{EngineId, FromZygote, PROTOCOL_VERSION, Wall, WallState, WallStatus};
use serde::{Deserialize, Serialize};

use super::{Step, Text};

/// In the folder where a real worker keeps its compiled engine.
const SCRIPT_FILE: &str = "zygote.json";

/// One byte for each start.
const STARTS_FILE: &str = "starts";

/// The lives of the zygotes that a gateway starts, one after the other. Whatever comes after the last
/// one written here is sound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ZygoteScript {
    /// The first ones.
    pub lives: Vec<Life>,
}

/// What one zygote does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Life {
    /// What it does once the gateway has said hello, before it takes orders.
    pub opening: Vec<ZygoteStep>,
    /// How it answers the orders to fork, in their order. Further ones are carried out.
    pub forks: Vec<Fork>,
    /// What it says when a child has ended.
    pub exits: Exits,
}

/// How an order to fork is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fork {
    /// With a child that begins with these steps.
    Child(Vec<Step>),
    /// With a sound child, as on a system without pidfds.
    WithoutPidfd,
    /// With a failure, in these words.
    Fails(String),
    /// With these steps, and no child.
    Instead(Vec<ZygoteStep>),
}

/// What is said when a child has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exits {
    Told,
    ToldTwice,
    /// Nothing.
    Untold,
}

/// One thing that a zygote does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ZygoteStep {
    Say(FromZygote),
    /// Sends bytes that need not be a frame.
    Bytes(Vec<u8>),
    /// Sends a message with descriptors of a file, which it makes where its script is.
    Smuggle {
        message: FromZygote,
        file: String,
        copies: usize,
    },
    /// Starts a child that nobody asked for.
    Fork(Fork),
    /// Starts a child that nobody asked for, under a number that another one may have.
    ForkAs(u64),
    /// Writes to its standard error.
    Print(Text),
    /// Reads nothing more, and does not end by itself.
    Stall,
    /// Ends with this code.
    Exit(i32),
    /// Ends by this signal.
    Signal(i32),
}

impl Default for Life {
    fn default() -> Self {
        Self { opening: vec![ready(all_walls())], forks: Vec::new(), exits: Exits::Told }
    }
}

impl Life {
    /// One that does this at its start, and nothing else unless it says so.
    pub fn opening(steps: impl Into<Vec<ZygoteStep>>) -> Self {
        Self { opening: steps.into(), ..Self::default() }
    }

    /// One that is sound but for how it answers the first orders to fork.
    pub fn forks(forks: impl Into<Vec<Fork>>) -> Self {
        Self { forks: forks.into(), ..Self::default() }
    }

    /// One that is sound but for what it says of children that ended.
    pub fn exits(exits: Exits) -> Self {
        Self { exits, ..Self::default() }
    }
}

impl From<Life> for ZygoteScript {
    fn from(life: Life) -> Self {
        Self { lives: vec![life] }
    }
}

impl ZygoteScript {
    /// So many zygotes of this life.
    pub fn times(life: &Life, count: usize) -> Self {
        Self { lives: vec![life.clone(); count] }
    }

    /// Puts it where the zygotes of a gateway with this cache folder find it.
    pub fn write(&self, cache: &Path) {
        let folder = engines_in(cache);
        fs::create_dir_all(&folder).expect("a folder for the script");
        let text = serde_json::to_string(self).expect("a script is plain data");
        fs::write(folder.join(SCRIPT_FILE), text).expect("the script is written");
    }

    /// How many zygotes a gateway with this cache folder has started.
    pub fn starts(cache: &Path) -> u64 {
        fs::metadata(engines_in(cache).join(STARTS_FILE)).map_or(0, |metadata| metadata.len())
    }

    /// The life of the zygote that starts now; `folder` is what the gateway names to it.
    pub(super) fn next_life(folder: &Path) -> Life {
        use std::io::Write;
        let script = fs::read(folder.join(SCRIPT_FILE)).map_or_else(
            |_| Self::default(),
            |text| serde_json::from_slice(&text).expect("a script that was written here"),
        );
        fs::create_dir_all(folder).expect("a folder for the count");
        let mut starts =
            fs::File::options().append(true).create(true).open(folder.join(STARTS_FILE)).expect("the count");
        let before = starts.metadata().expect("the count").len();
        starts.write_all(b".").expect("the count");
        script.lives.into_iter().nth(usize::try_from(before).unwrap_or(usize::MAX)).unwrap_or_default()
    }
}

/// Where the gateway has its workers keep compiled engines.
fn engines_in(cache: &Path) -> std::path::PathBuf {
    cache.join("engines")
}

/// Says that children can be asked for, behind these walls.
pub fn ready(walls: Vec<WallStatus>) -> ZygoteStep {
    ZygoteStep::Say(FromZygote::Ready {
        version: PROTOCOL_VERSION,
        engine: EngineId::Python,
        description: "scripted".to_owned(),
        walls,
    })
}

/// Every wall there is, in place.
pub fn all_walls() -> Vec<WallStatus> {
    let all = [
        Wall::Wasm,
        Wall::Process,
        Wall::Landlock,
        Wall::Seccomp,
        Wall::NoNewPrivileges,
        Wall::UserNamespace,
        Wall::NetworkNamespace,
        Wall::MountNamespace,
        Wall::PidNamespace,
        Wall::Rlimits,
    ];
    let stands = |wall| WallStatus { wall, state: WallState::Stands, detail: "scripted".to_owned() };
    all.map(stands).to_vec()
}
