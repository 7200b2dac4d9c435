//! What the programs of a session keep under keys: JSON texts in the database.

use crate::ids::SessionId;
use crate::ports::{BoxFuture, StateFailure, StateValues};
use crate::store::{Put, Store, StoreError};

pub(super) struct SessionValues {
    store: Store,
    id: SessionId,
}

impl SessionValues {
    pub fn new(store: Store, id: SessionId) -> Self {
        Self { store, id }
    }

    fn id(&self) -> String {
        self.id.as_str().to_owned()
    }
}

fn not_kept(error: &StoreError) -> StateFailure {
    StateFailure(format!("can't use the state: {error}"))
}

impl StateValues for SessionValues {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StateFailure>> {
        Box::pin(async move {
            self.store.session_value(self.id(), key.to_owned()).await.map_err(|error| not_kept(&error))
        })
    }

    fn set<'a>(&'a self, key: &'a str, value: String) -> BoxFuture<'a, Result<(), StateFailure>> {
        Box::pin(async move {
            let put = self.store.put_session_value(self.id(), key.to_owned(), value).await;
            match put.map_err(|error| not_kept(&error))? {
                Put::Done => Ok(()),
                Put::NoRoom(failure) => Err(failure),
                Put::NoSession => Err(StateFailure("the session has ended; nothing is kept".to_owned())),
            }
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, StateFailure>> {
        Box::pin(async move {
            let removed = self.store.remove_session_value(self.id(), key.to_owned()).await;
            removed.map_err(|error| not_kept(&error))
        })
    }

    fn keys(&self) -> BoxFuture<'_, Result<Vec<String>, StateFailure>> {
        Box::pin(async move { self.store.session_keys(self.id()).await.map_err(|error| not_kept(&error)) })
    }

    fn clear(&self) -> BoxFuture<'_, Result<(), StateFailure>> {
        Box::pin(
            async move { self.store.clear_session_values(self.id()).await.map_err(|error| not_kept(&error)) },
        )
    }
}
