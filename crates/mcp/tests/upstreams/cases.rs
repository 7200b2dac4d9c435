//! A case: a name and what it does, with a time after which it has failed.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

/// No case takes a tenth of this on a machine that has nothing else to do.
const LIMIT: Duration = Duration::from_secs(90);

/// Its name, and a way to begin it.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub run: fn() -> Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// The cases of a module, each an async function whose name says what is expected.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        pub fn cases() -> Vec<$crate::cases::Case> {
            vec![$($crate::cases::Case {
                name: concat!(module_path!(), "::", stringify!($name)),
                run: || Box::pin($name()),
            }),*]
        }
    };
}
pub(crate) use cases;

/// Runs in a runtime of its own, which ends with it.
pub fn trial(case: Case) -> Trial {
    let name = case.name.strip_prefix("upstreams::").unwrap_or(case.name);
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let outcome = runtime.block_on(async { tokio::time::timeout(LIMIT, (case.run)()).await });
        outcome.map_err(|_| Failed::from(format!("it took longer than {} s", LIMIT.as_secs())))
    })
}
