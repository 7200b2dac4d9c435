//! Work that keeps a thread of the runtime for long: it may be the only one.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does it here, while another thread goes on with the other tasks of this one.
pub(crate) fn at_length<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // Nobody else could go on with them.
        Ok(_) | Err(_) => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn other_tasks_go_on_meanwhile() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let waiting = runtime.spawn(async move {
            // On the same thread, and never begun if that one only waited.
            tokio::spawn(async move { sender.send(7) });
            at_length(|| receiver.recv_timeout(Duration::from_secs(20)))
        });
        assert_eq!(runtime.block_on(waiting).unwrap(), Ok(7));
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_does_it_itself() {
        assert_eq!(at_length(|| 7), 7);
    }
}
