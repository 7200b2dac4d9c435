//! A future that can be stored.

use std::future::Future;
use std::pin::Pin;

/// See the module. Dropping it ends the work.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
