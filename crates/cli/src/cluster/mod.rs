//! Machines that run programs together, as the table `[cluster]` has it. A build without the feature `cluster` has the
//! same commands, which say how to get one that can do it.

#[cfg(feature = "cluster")]
mod bus;
#[cfg(feature = "cluster")]
mod member;
#[cfg(feature = "cluster")]
mod shared_state;
#[cfg(not(feature = "cluster"))]
mod without;

#[cfg(feature = "cluster")]
pub use bus::{
    connect, connect_and_stay, heard, labels_of, look_around, node_cache, node_name, settings_of, state_of,
};
#[cfg(feature = "cluster")]
pub use member::Member;
#[cfg(feature = "cluster")]
pub use shared_state::Turn;
#[cfg(not(feature = "cluster"))]
pub use without::{HOW_TO_BUILD, Member, Turn, not_built};

/// What this machine is called in a cluster if nobody says anything else.
pub fn host_node_name() -> String {
    let host = rustix::system::uname();
    gristmill_config::cluster_names::node_name_of_host(&host.nodename().to_string_lossy())
}
