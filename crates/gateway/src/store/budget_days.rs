//! How often each caller has called on one day, for rules with a budget: of all processes together.

use rusqlite::{OptionalExtension, Transaction, params};

use super::{Reply, Store, StoreError};

/// Calls of one day that count against one rule's budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DayCount {
    pub rule: String,
    pub owner: String,
    pub calls: u32,
}

/// A rule's budget of a day, against which a call is to count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DayBudget {
    pub rule: String,
    pub owner: String,
    pub calls_max: u32,
}

/// Whether a call was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DayTaken {
    /// The place of the first budget that is used up: the call was counted against none then.
    pub used_up: Option<usize>,
    /// What counts against each of the budgets now.
    pub counts: Vec<DayCount>,
}

impl Store {
    /// Counts one call against budgets of a day, in days since 1970, if none is used up: of several processes at once,
    /// only as many have theirs counted as there is room for. Calls that were made before and not written are added
    /// first. Earlier days are forgotten.
    pub(crate) fn take_of_day(
        &self,
        day: u64,
        unsaved: Vec<DayCount>,
        budgets: Vec<DayBudget>,
    ) -> Reply<DayTaken> {
        let day = i64::try_from(day).unwrap_or(i64::MAX);
        self.change(move |transaction| {
            transaction.prepare_cached("DELETE FROM budget_days WHERE day < ?1")?.execute([day])?;
            for DayCount { rule, owner, calls } in &unsaved {
                add(transaction, day, (rule, owner), *calls)?;
            }
            let mut counts = Vec::with_capacity(budgets.len());
            for DayBudget { rule, owner, .. } in &budgets {
                counts.push(made(transaction, day, (rule, owner))?);
            }
            let used_up = budgets.iter().zip(&counts).position(|(budget, made)| *made >= budget.calls_max);
            if used_up.is_none() {
                for (DayBudget { rule, owner, .. }, made) in budgets.iter().zip(&mut counts) {
                    add(transaction, day, (rule, owner), 1)?;
                    *made = made.saturating_add(1);
                }
            }
            let count = |(budget, calls): (DayBudget, u32)| DayCount {
                rule: budget.rule,
                owner: budget.owner,
                calls,
            };
            Ok(DayTaken { used_up, counts: budgets.into_iter().zip(counts).map(count).collect() })
        })
    }
}

fn add(
    transaction: &Transaction<'_>,
    day: i64,
    (rule, owner): (&str, &str),
    calls: u32,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO budget_days (day, rule, owner, calls) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT (day, rule, owner) DO UPDATE SET calls = calls + excluded.calls";
    transaction.prepare_cached(sql)?.execute(params![day, rule, owner, calls])?;
    Ok(())
}

fn made(transaction: &Transaction<'_>, day: i64, (rule, owner): (&str, &str)) -> Result<u32, StoreError> {
    let sql = "SELECT calls FROM budget_days WHERE day = ?1 AND rule = ?2 AND owner = ?3";
    let mut query = transaction.prepare_cached(sql)?;
    let calls: Option<i64> = query.query_row(params![day, rule, owner], |row| row.get(0)).optional()?;
    Ok(u32::try_from(calls.unwrap_or_default()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(owner: &str, calls: u32) -> DayCount {
        DayCount { rule: "r".to_owned(), owner: owner.to_owned(), calls }
    }

    fn budget(owner: &str, calls_max: u32) -> DayBudget {
        DayBudget { rule: "r".to_owned(), owner: owner.to_owned(), calls_max }
    }

    #[tokio::test]
    async fn a_call_is_counted_where_there_is_room_against_all_budgets_or_none() {
        let store = Store::in_memory().unwrap();
        let take = async |budgets: &[DayBudget]| {
            let DayTaken { used_up, counts } =
                store.take_of_day(7, Vec::new(), budgets.to_vec()).await.unwrap();
            (used_up, counts.iter().map(|count| count.calls).collect::<Vec<_>>())
        };
        assert_eq!(take(&[budget("a", 2)]).await, (None, vec![1]));
        assert_eq!(take(&[budget("a", 2), budget("b", 5)]).await, (None, vec![2, 1]));
        assert_eq!(take(&[budget("b", 5), budget("a", 2)]).await, (Some(1), vec![1, 2]));
        assert_eq!(take(&[budget("b", 5)]).await, (None, vec![2]));
    }

    #[tokio::test]
    async fn what_was_not_written_counts_first_and_earlier_days_are_forgotten() {
        let store = Store::in_memory().unwrap();
        let take = async |day: u64, unsaved: Vec<DayCount>| {
            store.take_of_day(day, unsaved, vec![budget("a", 3)]).await.unwrap()
        };
        let found = take(7, vec![count("a", 2), count("b", 1)]).await;
        assert_eq!(found, DayTaken { used_up: None, counts: vec![count("a", 3)] });
        let found = take(7, vec![count("a", 1)]).await;
        assert_eq!(found, DayTaken { used_up: Some(0), counts: vec![count("a", 4)] });
        let found = take(8, Vec::new()).await;
        assert_eq!(found, DayTaken { used_up: None, counts: vec![count("a", 1)] });
        let found = take(7, Vec::new()).await;
        assert_eq!(found, DayTaken { used_up: None, counts: vec![count("a", 1)] });
    }
}
