//! What a tool takes and returns, as types that both languages can write down.

use serde_json::Value;

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    /// Anything, or more than we say.
    Any,
    Null,
    Bool,
    Int,
    Float,
    Str,
    Literal(Vec<Scalar>),
    List(Box<Type>),
    /// These in this order, then any number of the last.
    Tuple(Vec<Type>, Option<Box<Type>>),
    /// An object with any keys.
    Map(Box<Type>),
    /// See `Types::get`.
    Named(usize),
    /// At least two; none of them a union.
    Union(Vec<Type>),
}

/// A value that can stand in a literal type of both languages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scalar {
    Str(String),
    Int(i64),
    Bool(bool),
}

/// A type with a name of its own.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub name: String,
    /// On one line; may be empty.
    pub doc: String,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Object {
        /// Required ones first.
        fields: Vec<Field>,
        /// Whether the schema says that other keys may be there.
        is_open: bool,
    },
    Alias(Type),
}

/// A property of an object, or a parameter of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    /// As the schema spells it.
    pub name: String,
    pub value: Type,
    pub is_required: bool,
    /// On one line; may be empty.
    pub doc: String,
    /// Formats, ranges and the like.
    pub notes: Vec<String>,
    pub default: Option<Value>,
    /// A value to show, taken from the schema.
    pub sample: Option<Value>,
}

/// The named types of one stub.
#[derive(Debug, Default)]
pub(super) struct Types {
    pub entries: Vec<Entry>,
    /// Those that are written down: whatever one mentions comes before it, unless they mention each
    /// other.
    pub order: Vec<usize>,
}

#[derive(Debug)]
pub(super) enum Entry {
    /// Not read to its end, or not needed after all.
    Blank,
    Named(Named),
    /// Another name for the same type.
    Same(usize),
}

impl Types {
    /// The type under this number.
    pub fn get(&self, id: usize) -> Option<(usize, &Named)> {
        let mut id = id;
        // Never a circle, but a bound costs nothing.
        for _ in 0..=self.entries.len() {
            match self.entries.get(id)? {
                Entry::Named(named) => return Some((id, named)),
                Entry::Same(other) => id = *other,
                Entry::Blank => return None,
            }
        }
        None
    }

    /// All that are written down, in order.
    pub fn written(&self) -> impl Iterator<Item = (usize, &Named)> {
        self.order.iter().filter_map(|id| self.get(*id))
    }
}

impl Type {
    /// The union of all, flat and without repetition.
    pub fn union(members: impl IntoIterator<Item = Type>) -> Type {
        let mut flat: Vec<Type> = Vec::new();
        let mut literals: Vec<Scalar> = Vec::new();
        let mut literal_at = None;
        let mut is_any = false;
        let mut add = |member: Type| match member {
            Type::Any => is_any = true,
            Type::Literal(values) => {
                literal_at.get_or_insert(flat.len());
                for value in values {
                    if !literals.contains(&value) {
                        literals.push(value);
                    }
                }
            }
            other => {
                if !flat.contains(&other) {
                    flat.push(other);
                }
            }
        };
        for member in members {
            match member {
                Type::Union(inner) => inner.into_iter().for_each(&mut add),
                other => add(other),
            }
        }
        if is_any {
            return Type::Any;
        }
        if let Some(at) = literal_at {
            flat.insert(at, Type::Literal(literals));
        }
        if flat.contains(&Type::Float) {
            flat.retain(|member| *member != Type::Int);
        }
        if let Some(at) = flat.iter().position(|member| *member == Type::Null) {
            let null = flat.remove(at);
            flat.push(null);
        }
        match flat.len() {
            0 => Type::Any,
            1 => flat.swap_remove(0),
            _ => Type::Union(flat),
        }
    }

    /// Whether null is one of its values.
    pub fn takes_null(&self) -> bool {
        match self {
            Type::Any | Type::Null => true,
            Type::Union(members) => members.iter().any(Type::takes_null),
            Type::Bool
            | Type::Int
            | Type::Float
            | Type::Str
            | Type::Literal(_)
            | Type::List(_)
            | Type::Tuple(..)
            | Type::Map(_)
            | Type::Named(_) => false,
        }
    }

    /// How much there is to write.
    pub fn parts(&self) -> usize {
        match self {
            Type::Any | Type::Null | Type::Bool | Type::Int | Type::Float | Type::Str | Type::Named(_) => 1,
            Type::Literal(values) => values.len(),
            Type::List(item) | Type::Map(item) => 1 + item.parts(),
            Type::Tuple(items, rest) => {
                1 + items.iter().map(Type::parts).sum::<usize>()
                    + rest.as_ref().map_or(0, |rest| rest.parts())
            }
            Type::Union(members) => members.iter().map(Type::parts).sum(),
        }
    }

    /// Whether a named type for which `is_wanted` holds is mentioned.
    pub fn mentions(&self, is_wanted: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Type::Named(id) => is_wanted(*id),
            Type::List(item) | Type::Map(item) => item.mentions(is_wanted),
            Type::Tuple(items, rest) => {
                items.iter().any(|item| item.mentions(is_wanted))
                    || rest.as_ref().is_some_and(|rest| rest.mentions(is_wanted))
            }
            Type::Union(members) => members.iter().any(|member| member.mentions(is_wanted)),
            Type::Any | Type::Null | Type::Bool | Type::Int | Type::Float | Type::Str | Type::Literal(_) => {
                false
            }
        }
    }

    /// Whether a plain value is one of this type's, as far as that is easily said.
    pub fn takes(&self, value: &Value) -> bool {
        match (self, value) {
            (Type::Any, _) | (Type::Null, Value::Null) | (Type::Bool, Value::Bool(_)) => true,
            (Type::Str, Value::String(_)) => true,
            (Type::Int, Value::Number(number)) => number.as_i64().is_some(),
            (Type::Float, Value::Number(number)) => number.as_f64().is_some_and(f64::is_finite),
            (Type::Literal(allowed), value) => {
                Scalar::of(value).is_some_and(|scalar| allowed.contains(&scalar))
            }
            (Type::List(item), Value::Array(values)) => values.iter().all(|value| item.takes(value)),
            (Type::Union(members), value) => members.iter().any(|member| member.takes(value)),
            (Type::Map(item), Value::Object(members)) => members.values().all(|value| item.takes(value)),
            (
                Type::Null
                | Type::Bool
                | Type::Int
                | Type::Float
                | Type::Str
                | Type::List(_)
                | Type::Tuple(..)
                | Type::Map(_)
                | Type::Named(_),
                _,
            ) => false,
        }
    }
}

/// Integers that JavaScript's numbers hold exactly.
const INT_MAX: i64 = (1 << 53) - 1;

impl Scalar {
    /// None if no literal type of both languages can hold it.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Scalar::Str(text.clone())),
            Value::Bool(truth) => Some(Scalar::Bool(*truth)),
            Value::Number(number) => {
                number.as_i64().filter(|int| (-INT_MAX..=INT_MAX).contains(int)).map(Scalar::Int)
            }
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub fn chars(&self) -> usize {
        match self {
            Scalar::Str(text) => text.chars().count() + 2,
            Scalar::Int(_) | Scalar::Bool(_) => 5,
        }
    }
}
