//! Example tools: a small shop and three helpers, computed from formulae, so that programs have
//! something real to call before any server is connected.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gristmill_domain::ToolAnswer;
use gristmill_domain::catalogue::{Lookup, Server, Tool};
use gristmill_domain::policy::Decision;
use gristmill_domain::validate::ArgumentCheck;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{
    BoxFuture, CallWatcher, DefinitionTokens, SkillOffer, ToolCall, ToolFailure, ToolSearch, Tools,
};
use gristmill_gateway::upstream::NoTools;
use serde_json::{Map, Value, json};

use gristmill_gateway::tokens;

const ORDERS: u64 = 1200;
const CUSTOMERS: u64 = 97;

/// Server, tool, description, input schema.
pub static DEFINITIONS: [(&str, &str, &str, &str); 5] = [
    (
        "shop",
        "list_orders",
        "Lists all orders of the shop, page by page: id, customer, amount, status, items, address.",
        r#"{"type":"object","properties":{"page":{"type":"integer","minimum":1,"default":1,"description":"Which page, from 1"},"page_size":{"type":"integer","minimum":1,"maximum":200,"default":100,"description":"Orders on a page"}}}"#,
    ),
    (
        "shop",
        "get_customer",
        "Gets one customer by id: name, email, tier, country.",
        r#"{"type":"object","properties":{"customer_id":{"type":"string","description":"Such as C012"}},"required":["customer_id"]}"#,
    ),
    (
        "test",
        "echo",
        "Gives back what it is given.",
        r#"{"type":"object","properties":{"value":{"description":"Any value"}},"required":["value"]}"#,
    ),
    (
        "test",
        "sleep",
        "Waits, then answers.",
        r#"{"type":"object","properties":{"ms":{"type":"integer","minimum":0,"maximum":60000,"description":"How long"}},"required":["ms"]}"#,
    ),
    (
        "test",
        "fail",
        "Fails with a message.",
        r#"{"type":"object","properties":{"message":{"type":"string","description":"What it says"}},"required":["message"]}"#,
    ),
];

pub struct ExampleTools {
    tree: PathBuf,
    /// Every answer, kept for counting afterwards.
    answers: Option<Mutex<Vec<String>>>,
}

impl ExampleTools {
    /// The tools, with their tree below `cache`.
    pub fn new(cache: &Path) -> std::io::Result<Self> {
        let tree = cache.join("trees").join(format!("examples-{}", env!("CARGO_PKG_VERSION")));
        write_tree(&tree)?;
        Ok(Self { tree, answers: None })
    }

    /// Keeps every answer from here on, so that its tokens can be counted.
    pub fn keep_answers(mut self) -> Self {
        self.answers = Some(Mutex::default());
        self
    }

    /// What the answers would have cost in a model's context.
    pub fn tokens_answered(&self) -> usize {
        let Some(answers) = &self.answers else { return 0 };
        let answers = answers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        answers.iter().map(|answer| tokens::count(answer)).sum()
    }

    /// The tools as an MCP client would show them to a model.
    pub fn definitions_text() -> String {
        let tools: Vec<Value> = DEFINITIONS
            .iter()
            .map(|(server, tool, description, schema)| {
                let schema: Value = serde_json::from_str(schema).unwrap_or_default();
                json!({"name": format!("mcp__{server}__{tool}"), "description": description, "input_schema": schema})
            })
            .collect();
        Value::from(tools).to_string()
    }
}

impl Tools for ExampleTools {
    fn call<'a>(
        &'a self,
        _caller: &'a Caller,
        call: ToolCall,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        Box::pin(async move {
            let answer = answer(&call).await?;
            if let Some(answers) = &self.answers {
                answers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(answer.to_string());
            }
            Ok(answer.into())
        })
    }

    fn read_resource<'a>(
        &'a self,
        caller: &'a Caller,
        uri: &'a str,
        watcher: CallWatcher,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        NoTools.read_resource(caller, uri, watcher)
    }

    fn search<'a>(
        &'a self,
        caller: &'a Caller,
        search: &'a ToolSearch,
        skills: &'a SkillOffer,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        NoTools.search(caller, search, skills)
    }

    fn lookup(&self) -> Option<&Lookup> {
        None
    }

    fn definition_tokens(&self, name: &str) -> Option<DefinitionTokens> {
        let &(server, tool, description, schema) = definition_of(name)?;
        let schema: Value = serde_json::from_str(schema).unwrap_or_default();
        let (tokens, estimated) = tokens::count_definition(tool, Some(description), &schema);
        Some(DefinitionTokens { tool: format!("{server}.{tool}"), tokens, estimated })
    }

    fn is_certainly_unknown(&self, server: Option<&str>, tool: Option<&str>) -> bool {
        NoTools.is_certainly_unknown(server, tool)
    }

    fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        NoTools.argument_check(server, tool)
    }

    fn decision_about(&self, _caller: &Caller, _server: &Server, _tool: &Tool) -> Decision {
        Decision::Allow
    }

    /// They pass no door.
    fn is_shown(&self, _server: &Server, _tool: &Tool) -> bool {
        true
    }

    fn holds_writes(&self) -> bool {
        false
    }

    fn tree(&self) -> Option<&Path> {
        Some(&self.tree)
    }
}

/// With its server's name or without.
fn definition_of(name: &str) -> Option<&'static (&'static str, &'static str, &'static str, &'static str)> {
    DEFINITIONS.iter().find(|(server, tool, ..)| {
        name == *tool || name.strip_prefix(server).and_then(|rest| rest.strip_prefix('.')) == Some(tool)
    })
}

async fn answer(call: &ToolCall) -> Result<Value, ToolFailure> {
    let Some((_, tool, _, schema)) = definition_of(&call.name) else {
        let nearest = DEFINITIONS.map(|(server, tool, ..)| format!("{server}.{tool}")).to_vec();
        return Err(ToolFailure::Unknown { name: call.name.clone(), nearest });
    };
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    if let Some(unknown) =
        call.arguments.keys().find(|name| schema["properties"].get(name.as_str()).is_none())
    {
        let known: Vec<&String> =
            schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
        return Err(ToolFailure::BadArguments(format!("{tool} takes no `{unknown}`; it takes {known:?}")));
    }
    let arguments = &call.arguments;
    match *tool {
        "list_orders" => {
            let page = number(arguments, "page", Some(1))?.max(1);
            let page_size = number(arguments, "page_size", Some(100))?.clamp(1, 200);
            Ok(list_orders(page, page_size))
        }
        "get_customer" => get_customer(text(arguments, "customer_id")?),
        "echo" => match arguments.get("value") {
            Some(value) => Ok(json!({ "value": value })),
            None => Err(missing("value", "any value")),
        },
        "sleep" => {
            let ms = number(arguments, "ms", None)?.min(60_000);
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok(json!({ "slept_ms": ms }))
        }
        _ => Err(ToolFailure::Said(text(arguments, "message")?.to_owned())),
    }
}

fn number(arguments: &Map<String, Value>, name: &str, default: Option<u64>) -> Result<u64, ToolFailure> {
    match (arguments.get(name), default) {
        (None | Some(Value::Null), Some(default)) => Ok(default),
        (None, None) => Err(missing(name, "a whole number")),
        (Some(value), _) => value.as_u64().ok_or_else(|| missing(name, "a whole number")),
    }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, ToolFailure> {
    arguments.get(name).and_then(Value::as_str).ok_or_else(|| missing(name, "a text"))
}

fn missing(name: &str, kind: &str) -> ToolFailure {
    ToolFailure::BadArguments(format!("`{name}` must be {kind}"))
}

fn list_orders(page: u64, page_size: u64) -> Value {
    let first = (page - 1).saturating_mul(page_size).saturating_add(1);
    let last = first.saturating_add(page_size - 1).min(ORDERS);
    let orders: Vec<Value> = (first..=last).map(order).collect();
    let next_page = (last < ORDERS && first <= ORDERS).then_some(page + 1);
    json!({ "orders": orders, "page": page, "next_page": next_page, "total": ORDERS })
}

fn order(n: u64) -> Value {
    const STATUS: [&str; 5] = ["paid", "paid", "failed", "refunded", "pending"];
    const CITY: [&str; 7] = ["Lyon", "Porto", "Ghent", "Turin", "Graz", "Leeds", "Bergen"];
    let items: Vec<Value> = (0..n % 3 + 1)
        .map(|k| {
            json!({
                "sku": format!("SKU-{:03}", (n * 13 + k * 17) % 211),
                "quantity": (n + k) % 4 + 1,
                "unit_cents": (n * 37 + k * 101) % 9000 + 100,
            })
        })
        .collect();
    json!({
        "id": format!("ORD-{n:05}"),
        "customer_id": format!("C{:03}", (n * 7919) % CUSTOMERS),
        "amount_cents": (n * 104_729) % 50_000 + 500,
        "currency": if n.is_multiple_of(3) { "USD" } else { "EUR" },
        "status": STATUS[((n * 31 + n / 7) % 5) as usize],
        "created_at": format!("{}T{:02}:{:02}:00Z", day_of_2026(n % 300), n % 24, n % 60),
        "items": items,
        "shipping_address": {
            "street": format!("{} Mill Lane", n % 180 + 1),
            "city": CITY[(n % 7) as usize],
            "postcode": format!("{}", 10_000 + (n * 71) % 89_999),
        },
        "notes": if n.is_multiple_of(11) { "customer asked for a call before delivery" } else { "" },
    })
}

/// The date that many days after the first of January 2026.
fn day_of_2026(mut days: u64) -> String {
    const MONTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (index, length) in MONTHS.into_iter().enumerate() {
        if days < length {
            return format!("2026-{:02}-{:02}", index + 1, days + 1);
        }
        days -= length;
    }
    "2027-01-01".to_owned()
}

fn get_customer(id: &str) -> Result<Value, ToolFailure> {
    let number = id.strip_prefix('C').filter(|digits| digits.len() == 3);
    let number = number.and_then(|digits| digits.parse::<u64>().ok()).filter(|k| *k < CUSTOMERS);
    let Some(k) = number else {
        return Err(ToolFailure::Said(format!("no customer '{id}'")));
    };
    const TIER: [&str; 3] = ["bronze", "silver", "gold"];
    const COUNTRY: [&str; 7] = ["FR", "PT", "BE", "IT", "AT", "GB", "NO"];
    Ok(json!({
        "id": id,
        "name": format!("Customer {k}"),
        "email": format!("customer{k}@example.com"),
        "tier": TIER[(k % 3) as usize],
        "country": COUNTRY[(k % 7) as usize],
    }))
}

/// A tool as a Python signature with its documentation.
fn stub(tool: &str, description: &str, schema: &str) -> String {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut parameters = Vec::new();
    let mut documented = String::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let kind = match property["type"].as_str() {
            Some("integer") => "int",
            Some("string") => "str",
            Some(_) | None => "object",
        };
        let default = match required.contains(&name.as_str()) {
            true => String::new(),
            false => format!(" = {}", property["default"]),
        };
        parameters.push(format!("{name}: {kind}{default}"));
        documented
            .push_str(&format!("    {name}: {}\n", property["description"].as_str().unwrap_or_default()));
    }
    let parameters = parameters.join(", ");
    format!(
        "async def {tool}(*, {parameters}) -> object:\n    \"\"\"{description}\n\n{documented}    \"\"\"\n    ...\n"
    )
}

/// What programs see as `/servers`.
fn write_tree(tree: &Path) -> std::io::Result<()> {
    let mut index = String::from("# Servers\n");
    for (server, about) in
        [("shop", "orders and customers of an example shop"), ("test", "echo, sleep and fail")]
    {
        let tools: Vec<_> = DEFINITIONS.iter().filter(|definition| definition.0 == server).collect();
        index.push_str(&format!("- {server}: {about} ({} tools)\n", tools.len()));
        let folder = tree.join(server);
        std::fs::create_dir_all(&folder)?;
        let described: Vec<Value> = tools
            .iter()
            .map(|(_, tool, description, schema)| {
                let schema: Value = serde_json::from_str(schema).unwrap_or_default();
                json!({ "name": tool, "description": description, "inputSchema": schema })
            })
            .collect();
        let server_json = json!({
            "name": server,
            "version": env!("CARGO_PKG_VERSION"),
            "description": about,
            "tool_count": tools.len(),
            "tools": described,
        });
        std::fs::write(folder.join(".server.json"), format!("{server_json:#}\n"))?;
        for (_, tool, description, schema) in tools {
            std::fs::write(folder.join(format!("{tool}.py")), stub(tool, description, schema))?;
        }
    }
    std::fs::write(tree.join("index.md"), index)
}
