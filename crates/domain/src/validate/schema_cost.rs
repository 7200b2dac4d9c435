//! What a schema would cost, measured before anyone compiles it.
//!
//! A schema comes from outside. It may nest without end, refer to itself in circles, or double its
//! work with each of forty references. What is measured here decides whether it is compiled, and how
//! large the arguments may be that are checked against it. Nothing here recurses along references.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::references;

/// Far above any real schema; the largest of 1,237 real ones has 19 kB and nests 11 schemas.
const NODES_MAX: usize = 50_000;
const BYTES_MAX: usize = 1 << 20;
const DEPTH_MAX: usize = 48;
/// Schemas for the same value, one inside another. The validator recurses along them.
const CHAIN_MAX: usize = 48;
/// Places that refer to others. The compiler may recurse along all of them.
const REFERENCES_MAX: usize = 1_000;
/// Steps for one value.
const STEPS_MAX: u64 = 200_000;
/// Each pattern is a small program to build.
const PATTERNS_MAX: usize = 50;

/// Why a schema is not compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CostError {
    #[error("it nests deeper than {DEPTH_MAX} levels")]
    Depth,
    #[error("it has more than {NODES_MAX} parts or {BYTES_MAX} bytes")]
    Size,
    #[error("it has more than {REFERENCES_MAX} references")]
    References,
    #[error("it has more than {PATTERNS_MAX} patterns")]
    Patterns,
    #[error("it uses `{keyword}`")]
    Keyword { keyword: String },
    #[error("it contains schemas with their own `$id`")]
    NestedIds,
    #[error("it refers to itself endlessly")]
    Circle,
    /// It is shortened and harmless.
    #[error("it refers to `{reference}`, which it doesn't contain")]
    MissingReference { reference: String },
    #[error("{schemas} schemas for one value lie one inside another")]
    Chain { schemas: usize },
    #[error("a check could take more than {STEPS_MAX} steps for each value")]
    Steps,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SchemaCost {
    /// Steps for one value, at the most.
    pub steps: u64,
    /// The most schemas that look into one and the same value, counted as often as they do.
    pub forks: u64,
    /// The longest chain of schemas that apply to one and the same value.
    pub chain: usize,
    /// Whether it contains itself, so that the arguments decide how deep a check goes.
    pub recursive: bool,
    pub patterns: usize,
    pub name_patterns: usize,
}

/// The cost, or why the schema is not compiled.
pub(super) fn measure(root: &Value) -> Result<SchemaCost, CostError> {
    let mut size = Size::default();
    size.add(root, 0)?;
    if size.nested_ids > 0 && size.references > 0 {
        return Err(CostError::NestedIds);
    }
    let graph = Graph::of(root)?;
    let Some(order) = in_order(&graph.same_value) else {
        return Err(CostError::Circle);
    };
    let mut widths = graph.own_steps.clone();
    let mut chains = vec![1usize; widths.len()];
    let looks_inside = |part: usize| graph.below[part].len() > graph.same_value[part].len();
    let mut forks: Vec<u64> = (0..widths.len()).map(|part| u64::from(looks_inside(part))).collect();
    // What a schema needs comes before it.
    for &part in order.iter().rev() {
        for &inner in &graph.same_value[part] {
            widths[part] = widths[part].saturating_add(widths[inner]);
            forks[part] = forks[part].saturating_add(forks[inner]);
            chains[part] = chains[part].max(chains[inner] + 1);
        }
    }
    let steps = widths.iter().fold(0u64, |sum, width| sum.saturating_add(*width));
    let chain = chains.iter().copied().max().unwrap_or(1);
    if chain > CHAIN_MAX {
        return Err(CostError::Chain { schemas: chain });
    }
    if steps > STEPS_MAX {
        return Err(CostError::Steps);
    }
    let recursive = in_order(&graph.below).is_none();
    let forks = forks.into_iter().max().unwrap_or(0).max(1);
    let Size { patterns, name_patterns, .. } = size;
    Ok(SchemaCost { steps, forks, chain, recursive, patterns, name_patterns })
}

#[derive(Default)]
struct Size {
    nodes: usize,
    bytes: usize,
    references: usize,
    nested_ids: usize,
    patterns: usize,
    name_patterns: usize,
}

impl Size {
    fn add(&mut self, value: &Value, depth: usize) -> Result<(), CostError> {
        if depth > DEPTH_MAX {
            return Err(CostError::Depth);
        }
        self.nodes += 1;
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.bytes += name.len();
                    self.note(name, member, depth)?;
                    self.add(member, depth + 1)?;
                }
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.add(item, depth + 1))?,
            Value::String(text) => self.bytes += text.len(),
            Value::Number(number) => self.bytes += number.as_str().len(),
            Value::Null | Value::Bool(_) => {}
        }
        if self.nodes > NODES_MAX || self.bytes > BYTES_MAX {
            return Err(CostError::Size);
        }
        Ok(())
    }

    fn note(&mut self, name: &str, member: &Value, depth: usize) -> Result<(), CostError> {
        match name {
            "$ref" => self.references += usize::from(member.is_string()),
            "$id" => self.nested_ids += usize::from(member.is_string() && depth > 0),
            "pattern" => self.patterns += usize::from(member.is_string()),
            "patternProperties" => self.name_patterns += member.as_object().map_or(0, Map::len),
            "$dynamicRef" | "$recursiveRef" if member.is_string() => {
                return Err(CostError::Keyword { keyword: name.to_owned() });
            }
            _ => {}
        }
        if self.references > REFERENCES_MAX {
            return Err(CostError::References);
        }
        if self.patterns + self.name_patterns > PATTERNS_MAX {
            return Err(CostError::Patterns);
        }
        Ok(())
    }
}

/// The schemas that can be reached, and how they lie in one another.
#[derive(Default)]
struct Graph {
    own_steps: Vec<u64>,
    /// Schemas that apply to the same value.
    same_value: Vec<Vec<usize>>,
    /// The same, and those that apply to what is inside the value.
    below: Vec<Vec<usize>>,
}

impl Graph {
    fn of(root: &Value) -> Result<Self, CostError> {
        let mut graph = Self::default();
        // By address: the schema outlives the walk.
        let mut known: HashMap<*const Value, usize> = HashMap::new();
        let mut found = vec![root];
        known.insert(std::ptr::from_ref(root), 0);
        let mut next = 0;
        while let Some(&schema) = found.get(next) {
            next += 1;
            let mut number = |part| {
                *known.entry(std::ptr::from_ref(part)).or_insert_with(|| {
                    found.push(part);
                    found.len() - 1
                })
            };
            let mut same_value = Vec::new();
            let mut below = Vec::new();
            if let Value::Object(keywords) = schema {
                same_value.extend(for_the_same_value(keywords).into_iter().map(&mut number));
                if let Some(Value::String(reference)) = keywords.get("$ref") {
                    let missing = || CostError::MissingReference { reference: references::shown(reference) };
                    same_value.push(number(references::resolve(root, reference).ok_or_else(missing)?));
                }
                below.extend(for_inner_values(keywords).into_iter().map(&mut number));
            }
            below.extend(&same_value);
            graph.own_steps.push(own_steps(schema));
            graph.same_value.push(same_value);
            graph.below.push(below);
        }
        Ok(graph)
    }
}

fn own_steps(schema: &Value) -> u64 {
    let length = |keyword: &str| match schema.get(keyword) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(members)) => members.len(),
        _ => 0,
    };
    let counted = ["enum", "const", "required", "properties", "patternProperties"];
    1 + counted.into_iter().map(|keyword| length(keyword) as u64).sum::<u64>()
}

fn for_the_same_value(keywords: &Map<String, Value>) -> Vec<&Value> {
    let single = ["not", "if", "then", "else"].into_iter().filter_map(|name| keywords.get(name));
    let lists = ["allOf", "anyOf", "oneOf"].into_iter();
    let lists = lists.filter_map(|name| keywords.get(name)?.as_array()).flatten();
    let maps = ["dependentSchemas", "dependencies"].into_iter();
    let maps = maps.filter_map(|name| keywords.get(name)?.as_object()).flat_map(Map::values);
    single.chain(lists).chain(maps).filter(|part| part.is_object()).collect()
}

fn for_inner_values(keywords: &Map<String, Value>) -> Vec<&Value> {
    const SINGLE: [&str; 7] = [
        "items",
        "additionalItems",
        "additionalProperties",
        "contains",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    ];
    let single = SINGLE.into_iter().filter_map(|name| keywords.get(name));
    let lists = ["items", "prefixItems"].into_iter();
    let lists = lists.filter_map(|name| keywords.get(name)?.as_array()).flatten();
    let maps = ["properties", "patternProperties"].into_iter();
    let maps = maps.filter_map(|name| keywords.get(name)?.as_object()).flat_map(Map::values);
    single.chain(lists).chain(maps).filter(|part| part.is_object()).collect()
}

/// Every part before those that it points to, or nothing if some lie in a circle.
fn in_order(arrows: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut incoming = vec![0usize; arrows.len()];
    arrows.iter().flatten().for_each(|&to| incoming[to] += 1);
    let mut order: Vec<usize> = (0..arrows.len()).filter(|&part| incoming[part] == 0).collect();
    let mut next = 0;
    while let Some(&part) = order.get(next) {
        next += 1;
        for &to in &arrows[part] {
            incoming[to] -= 1;
            if incoming[to] == 0 {
                order.push(to);
            }
        }
    }
    (order.len() == arrows.len()).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(schema: &Value) -> String {
        measure(schema).expect_err("a schema to refuse").to_string()
    }

    #[test]
    fn a_plain_schema_costs_little() {
        let schema = json!({"properties": {"a": {"type": "string"}, "b": {"enum": [1, 2, 3]}}});
        assert_eq!(
            measure(&schema),
            Ok(SchemaCost { steps: 8, forks: 1, chain: 1, recursive: false, patterns: 0, name_patterns: 0 })
        );
    }

    #[test]
    fn a_schema_may_contain_itself_inside_its_values_only() {
        let tree = json!({"properties": {"children": {"items": {"$ref": "#"}}}});
        assert_eq!(
            measure(&tree),
            Ok(SchemaCost { steps: 6, forks: 1, chain: 2, recursive: true, patterns: 0, name_patterns: 0 })
        );
        let circle = json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}},
            "properties": {"x": {"$ref": "#/$defs/a"}}});
        assert_eq!(refused(&circle), "it refers to itself endlessly");
    }

    #[test]
    fn references_that_double_are_refused() {
        let mut defs = Map::new();
        for level in 0..40 {
            let next = format!("#/$defs/d{}", level + 1);
            defs.insert(format!("d{level}"), json!({"allOf": [{"$ref": next}, {"$ref": next}]}));
        }
        defs.insert("d40".to_owned(), json!({"type": "string"}));
        let mut schema = json!({"properties": {"x": {"$ref": "#/$defs/d20"}}});
        schema["$defs"] = Value::Object(defs);
        assert_eq!(refused(&schema), "a check could take more than 200000 steps for each value");
        schema["properties"]["x"]["$ref"] = json!("#/$defs/d0");
        assert_eq!(refused(&schema), "82 schemas for one value lie one inside another");
    }

    #[test]
    fn deep_large_and_foreign_schemas_are_refused() {
        let mut deep = json!({});
        (0..100).for_each(|_| deep = json!({"items": deep.take()}));
        assert_eq!(refused(&deep), "it nests deeper than 48 levels");
        let values: Vec<usize> = (0..60_000).collect();
        assert_eq!(refused(&json!({"enum": values})), "it has more than 50000 parts or 1048576 bytes");
        let remote = json!({"$ref": "https://example.com/schema.json"});
        assert_eq!(
            refused(&remote),
            "it refers to `https://example.com/schema.json`, which it doesn't contain"
        );
        assert_eq!(refused(&json!({"items": {"$dynamicRef": "#x"}})), "it uses `$dynamicRef`");
        let nested = json!({"items": {"$id": "a", "$ref": "#"}});
        assert_eq!(refused(&nested), "it contains schemas with their own `$id`");
        let patterns: Vec<Value> = (0..300).map(|n| json!({"pattern": n.to_string()})).collect();
        assert_eq!(refused(&json!({"allOf": patterns})), "it has more than 50 patterns");
    }
}
