//! Other spellings of settings that people and models write. They are understood where only one thing can be
//! meant, and never advertised: errors and documents name one spelling.

/// A spelling, and the settings that it may stand for: the first that a step has is meant.
const SPELLINGS: [(&str, &[&str]); 74] = [
    ("column", &["field", "fields"]),
    ("column_name", &["field", "fields"]),
    ("field_name", &["field", "fields"]),
    ("columns", &["fields", "field"]),
    ("field", &["fields"]),
    ("fields", &["field"]),
    ("aggregate_field", &["field"]),
    ("aggregation_field", &["field"]),
    ("agg_field", &["field"]),
    ("target_field", &["field"]),
    ("value_field", &["field"]),
    ("value_column", &["field"]),
    ("numeric_field", &["field"]),
    ("target", &["field"]),
    ("variables", &["fields"]),
    ("array_field", &["field"]),
    ("list_field", &["field"]),
    ("group_by", &["group"]),
    ("group", &["group_by"]),
    ("groupby", &["group_by", "group"]),
    ("by", &["group_by", "group"]),
    ("group_field", &["group", "group_by"]),
    ("group_fields", &["group_by"]),
    ("group_column", &["group", "group_by"]),
    ("group_by_field", &["group_by", "group"]),
    ("group_by_fields", &["group_by"]),
    ("group_by_columns", &["group_by"]),
    ("factor", &["group"]),
    ("agg", &["aggregations", "function"]),
    ("aggs", &["aggregations"]),
    ("aggregate", &["aggregations", "function"]),
    ("aggregates", &["aggregations"]),
    ("aggregation", &["function", "aggregations"]),
    ("metrics", &["aggregations"]),
    ("measures", &["aggregations"]),
    ("functions", &["function"]),
    ("func", &["function"]),
    ("aggfunc", &["function"]),
    ("agg_func", &["function"]),
    ("agg_function", &["function"]),
    ("aggregate_function", &["function"]),
    ("aggregation_function", &["function"]),
    ("aggregation_type", &["function"]),
    ("operation", &["function"]),
    ("op", &["operator", "function"]),
    ("comparison", &["operator"]),
    ("comparator", &["operator"]),
    ("val", &["value"]),
    ("alias", &["as"]),
    ("output_field", &["as"]),
    ("new_field", &["as"]),
    ("percentile", &["percentiles"]),
    ("quantile", &["quantiles"]),
    ("time_column", &["time"]),
    ("date_column", &["time"]),
    ("timestamp_field", &["time"]),
    ("date", &["time"]),
    ("freq", &["every"]),
    ("period", &["every"]),
    ("window_size", &["window"]),
    ("join_type", &["how"]),
    ("table", &["with"]),
    ("other", &["with"]),
    ("right_table", &["with"]),
    ("key", &["on"]),
    ("keys", &["on"]),
    ("using", &["on"]),
    ("left_key", &["left_on"]),
    ("left_field", &["left_on"]),
    ("right_key", &["right_on"]),
    ("right_field", &["right_on"]),
    ("test_type", &["test"]),
    ("test_name", &["test"]),
    ("correlation_method", &["method"]),
];

/// The setting that is meant by a name as it was written, among those that a step has.
pub(crate) fn setting(written: &str, is_known: &dyn Fn(&str) -> bool) -> Option<String> {
    if is_known(written) {
        return Some(written.to_owned());
    }
    let plain = plain(written);
    if is_known(&plain) {
        return Some(plain);
    }
    let (_, meant) = SPELLINGS.iter().find(|(spelling, _)| *spelling == plain)?;
    meant.iter().find(|name| is_known(name)).map(|name| (*name).to_owned())
}

/// Small letters with `_` between words: `groupBy`, `Group-By` and `group by` are `group_by`.
pub(crate) fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut was_small = false;
    for c in name.trim().chars() {
        if c.is_uppercase() && was_small {
            plain.push('_');
        }
        was_small = c.is_lowercase() || c.is_ascii_digit();
        let letter = if c == '-' || c == ' ' { '_' } else { c };
        plain.extend(letter.to_lowercase());
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_leads_to_the_setting_that_the_step_has() {
        let check = |written: &str, known: &[&str], expected: Option<&str>| {
            assert_eq!(setting(written, &|name| known.contains(&name)).as_deref(), expected, "{written}");
        };
        check("groupBy", &["group_by"], Some("group_by"));
        check("Group-By", &["group_by"], Some("group_by"));
        check("column", &["fields"], Some("fields"));
        check("column", &["field", "fields"], Some("field"));
        check("group_by", &["group"], Some("group"));
        check("aggregate_field", &["field"], Some("field"));
        check("colour", &["field"], None);
        check("column", &["rules"], None);
    }
}
