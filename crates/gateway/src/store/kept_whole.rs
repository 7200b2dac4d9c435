//! What the journal keeps otherwise than others are told of it: all of it, and nothing that follows from the rest.

/// Calls with the moments at which they began.
pub(super) mod calls {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::store::RecordedCall;

    pub fn serialize<S: Serializer>(calls: &[RecordedCall], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(calls.iter().map(|call| (call, call.began_ms)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RecordedCall>, D::Error> {
        let calls = Vec::<(RecordedCall, Option<f64>)>::deserialize(deserializer)?;
        Ok(calls.into_iter().map(|(call, began_ms)| RecordedCall { began_ms, ..call }).collect())
    }
}

/// The figures of an account, without its verdict.
pub(super) mod tokens {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::report::TokenAccount;

    type Figures = (u64, u64, Option<u64>, u64, Option<u64>, Option<u64>, bool);

    pub fn serialize<S: Serializer>(account: &TokenAccount, serializer: S) -> Result<S::Ok, S::Error> {
        let TokenAccount { program, returned, own_definition, inside, definitions, looked_up, estimated } =
            *account;
        let figures: Figures = (program, returned, own_definition, inside, definitions, looked_up, estimated);
        figures.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TokenAccount, D::Error> {
        let (program, returned, own_definition, inside, definitions, looked_up, estimated) =
            Figures::deserialize(deserializer)?;
        Ok(TokenAccount { program, returned, own_definition, inside, definitions, looked_up, estimated })
    }
}
