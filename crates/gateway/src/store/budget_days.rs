//! How often each caller has called on one day, for rules with a budget: of all processes together.

use rusqlite::params;

use super::{Reply, Store};

/// More than there are callers and rules.
const ROWS_MAX: i64 = 20_000;

/// Calls of one day that count against one rule's budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DayCount {
    pub rule: String,
    pub owner: String,
    pub calls: u32,
}

impl Store {
    /// Adds calls to those of a day, in days since 1970, and gives all of that day. Earlier days are forgotten.
    pub(crate) fn add_day_counts(&self, day: u64, new: Vec<DayCount>) -> Reply<Vec<DayCount>> {
        let day = i64::try_from(day).unwrap_or(i64::MAX);
        self.change(move |transaction| {
            transaction.execute("DELETE FROM budget_days WHERE day < ?1", [day])?;
            for DayCount { rule, owner, calls } in &new {
                transaction.execute(
                    "INSERT INTO budget_days (day, rule, owner, calls) VALUES (?1, ?2, ?3, ?4) \
                     ON CONFLICT (day, rule, owner) DO UPDATE SET calls = calls + excluded.calls",
                    params![day, rule, owner, calls],
                )?;
            }
            let sql = "SELECT rule, owner, calls FROM budget_days WHERE day = ?1 LIMIT ?2";
            let mut query = transaction.prepare(sql)?;
            let found = query.query_map(params![day, ROWS_MAX], |row| {
                let calls: i64 = row.get(2)?;
                let calls = u32::try_from(calls).unwrap_or(u32::MAX);
                Ok(DayCount { rule: row.get(0)?, owner: row.get(1)?, calls })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn calls_of_a_day_add_up_and_earlier_days_are_forgotten() {
        let store = Store::in_memory().unwrap();
        let count = |owner: &str, calls| DayCount { rule: "r".to_owned(), owner: owner.to_owned(), calls };
        store.add_day_counts(7, vec![count("a", 2), count("b", 1)]).await.unwrap();
        assert_eq!(
            store.add_day_counts(7, vec![count("a", 3)]).await.unwrap(),
            [count("a", 5), count("b", 1)]
        );
        assert_eq!(store.add_day_counts(8, Vec::new()).await.unwrap(), []);
        assert_eq!(store.add_day_counts(7, Vec::new()).await.unwrap(), []);
    }
}
