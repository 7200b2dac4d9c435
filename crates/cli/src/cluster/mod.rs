//! Machines that run programs together, as the table `[cluster]` has it. A build without the feature `cluster` has the
//! same commands, which say how to get one that can do it.

#[cfg(feature = "cluster")]
mod bus;
#[cfg(feature = "cluster")]
mod member;
#[cfg(not(feature = "cluster"))]
mod without;

#[cfg(feature = "cluster")]
pub use bus::{
    connect, connect_and_stay, host_node_name, labels_of, look_around, node_cache, node_name, settings_of,
};
#[cfg(feature = "cluster")]
pub use member::Member;
#[cfg(not(feature = "cluster"))]
pub use without::{Member, not_built};
