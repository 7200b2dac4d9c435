//! What is in the database, computed from noise that is always the same.

use rusqlite::{Connection, Transaction, params};

use crate::{calendar, companies, noise};

/// Changes with the contents: a file with other contents has another name.
pub const VERSION: &str = "v1";

/// Every table, in the order in which they refer to each other.
pub const TABLES: [&str; 5] = ["customers", "products", "orders", "order_items", "tickets"];

const CUSTOMERS: u64 = 5_000;
const PRODUCTS: u64 = 400;
const ORDERS: u64 = 40_000;
const TICKETS: u64 = 10_000;

const SCHEMA: &str = "
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL,
    account_id TEXT NOT NULL, company TEXT NOT NULL, country TEXT NOT NULL, tier TEXT NOT NULL, since TEXT NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY, sku TEXT NOT NULL, name TEXT NOT NULL, category TEXT NOT NULL,
    price_cents INTEGER NOT NULL, stock INTEGER NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id),
    placed_on TEXT NOT NULL, status TEXT NOT NULL, total_cents INTEGER NOT NULL, currency TEXT NOT NULL);
CREATE TABLE order_items (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id),
    product_id INTEGER NOT NULL REFERENCES products(id), quantity INTEGER NOT NULL, unit_cents INTEGER NOT NULL);
CREATE TABLE tickets (id INTEGER PRIMARY KEY, number TEXT NOT NULL, customer_id INTEGER NOT NULL REFERENCES customers(id),
    account_id TEXT NOT NULL, product_id INTEGER NOT NULL REFERENCES products(id), priority TEXT NOT NULL,
    status TEXT NOT NULL, opened_on TEXT NOT NULL, subject TEXT NOT NULL, description TEXT NOT NULL);
";

/// Indexes come last: filling is quicker without them.
const INDEXES: &str = "
CREATE INDEX customers_account ON customers(account_id);
CREATE INDEX orders_customer ON orders(customer_id);
CREATE INDEX order_items_order ON order_items(order_id);
CREATE INDEX tickets_account ON tickets(account_id);
";

const COUNTRIES: [&str; 12] = ["AT", "BE", "DE", "DK", "ES", "FR", "GB", "IE", "IT", "NL", "NO", "PT"];
const STATUSES: [&str; 8] = ["paid", "paid", "paid", "shipped", "shipped", "pending", "refunded", "failed"];
const CATEGORIES: [&str; 8] = ["lamps", "chairs", "tables", "shelves", "rugs", "kitchen", "garden", "office"];
const STYLES: [&str; 10] =
    ["Oak", "Linen", "Slate", "Copper", "Willow", "Granite", "Cork", "Walnut", "Enamel", "Rattan"];
const THINGS: [&str; 8] =
    ["reading lamp", "armchair", "side table", "bookcase", "hall rug", "storage jar", "planter", "desk tray"];
const SUBJECTS: [&str; 10] = [
    "Delivery has not arrived",
    "Item arrived damaged",
    "Invoice shows a wrong amount",
    "Cannot sign in",
    "Stock level in the portal is wrong",
    "Refund has not been paid",
    "Wrong item in the parcel",
    "Export of orders fails",
    "Change of delivery address",
    "Discount was not applied",
];
const DETAILS: [&str; 8] = [
    "The customer has written twice and asks for an answer today.",
    "It began after the last update and happens every time.",
    "The warehouse says the parcel was handed over on time.",
    "Photos are attached; the packaging looks intact.",
    "It concerns one order only; the others are fine.",
    "The customer would accept a replacement or a credit note.",
    "A colleague at another branch sees the same thing.",
    "It is not urgent for them, but it should be settled before the quarter ends.",
];

/// What a table holds.
pub fn about(table: &str) -> &'static str {
    match table {
        "customers" => "People who order, each at one of 300 companies (accounts of the crm)",
        "products" => "What the shop sells",
        "orders" => "Orders of the last two years",
        "order_items" => "The lines of the orders",
        _ => "Support tickets of the last year",
    }
}

/// What a column means.
pub fn about_column(table: &str, column: &str) -> &'static str {
    match (table, column) {
        (_, "id") => "Names the row",
        (_, "customer_id") => "The customer",
        (_, "product_id") => "The product",
        (_, "order_id") => "The order",
        (_, "account_id") => "The company's account in the crm, such as ACC-0042",
        (_, "name") => "Its name",
        (_, "email") => "Made up, at example.com",
        (_, "phone") => "Made up, a 555 number",
        (_, "company") => "The company's name",
        (_, "country") => "Two letters",
        (_, "tier") => "bronze, silver or gold",
        (_, "since") => "Customer since this day",
        (_, "sku") => "Number on the shelf",
        (_, "category") => "Kind of product",
        (_, "price_cents") => "Price today, in cents",
        (_, "stock") => "Pieces in stock",
        (_, "placed_on") => "Day of the order",
        ("tickets", "status") => "open, pending, solved or closed",
        (_, "status") => "paid, shipped, pending, refunded or failed",
        (_, "total_cents") => "Sum of its lines, in cents",
        (_, "currency") => "EUR or GBP",
        (_, "quantity") => "Pieces",
        (_, "unit_cents") => "Price of one piece when it was ordered, in cents",
        (_, "number") => "What people call it, such as TCK-00042",
        (_, "priority") => "low, normal, high or urgent",
        (_, "opened_on") => "Day on which it was opened",
        (_, "subject") => "What it is about, in a line",
        (_, "description") => "What the customer said",
        _ => "",
    }
}

/// Makes all tables in an empty database.
pub fn fill(connection: &mut Connection) -> rusqlite::Result<()> {
    // A crash leaves a file that nobody opens, so nothing is kept safe on the way.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    fill_customers(&transaction)?;
    fill_products(&transaction)?;
    fill_orders(&transaction)?;
    fill_tickets(&transaction)?;
    transaction.execute_batch(INDEXES)?;
    transaction.commit()
}

fn fill_customers(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for id in 1..=CUSTOMERS {
        let name = companies::person(71, id);
        let company = company_of(id);
        let tier = noise::pick(["bronze", "bronze", "bronze", "silver", "silver", "gold"], 71, id, 6);
        let since = calendar::date_of(calendar::today() - noise::below(71, id, 7, 3_000).cast_signed());
        insert.execute(params![
            id.cast_signed(),
            name,
            companies::email(&name, id),
            companies::phone(71, id),
            companies::account_id(company),
            companies::company_name(company),
            noise::pick(COUNTRIES, 71, id, 5),
            tier,
            since,
        ])?;
    }
    Ok(())
}

fn fill_products(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO products VALUES (?, ?, ?, ?, ?, ?)")?;
    for id in 1..=PRODUCTS {
        let kind = (id % 8) as usize;
        let style = STYLES[(id / 8 % 10) as usize];
        let name = format!("{style} {} No. {}", THINGS[kind], 1 + id / 80);
        let stock = noise::below(73, id, 2, 900).cast_signed();
        insert.execute(params![
            id.cast_signed(),
            format!("SKU-{id:03}"),
            name,
            CATEGORIES[kind],
            price_cents(id).cast_signed(),
            stock,
        ])?;
    }
    Ok(())
}

fn fill_orders(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut insert_order = transaction.prepare("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)")?;
    let mut insert_item = transaction.prepare("INSERT INTO order_items VALUES (?, ?, ?, ?, ?)")?;
    let mut item = 0i64;
    for id in 1..=ORDERS {
        let lines: Vec<[u64; 3]> = (0..1 + noise::below(79, id, 0, 4))
            .map(|line| {
                let product = 1 + noise::below(79, id, 10 + line, PRODUCTS);
                let quantity = 1 + noise::below(79, id, 20 + line, 6);
                // Prices were a little lower then.
                let unit = price_cents(product) * (85 + noise::below(79, id, 30 + line, 16)) / 100;
                [product, quantity, unit]
            })
            .collect();
        let total: u64 = lines.iter().map(|[_, quantity, unit]| quantity * unit).sum();
        let customer = 1 + noise::below(79, id, 1, CUSTOMERS);
        let placed = calendar::date_of(calendar::today() - 729 + (id * 730 / (ORDERS + 1)).cast_signed());
        let status = noise::pick(STATUSES, 79, id, 2);
        let currency = if noise::below(79, id, 3, 4) == 0 { "GBP" } else { "EUR" };
        let (id, customer, total) = (id.cast_signed(), customer.cast_signed(), total.cast_signed());
        insert_order.execute(params![id, customer, placed, status, total, currency])?;
        for [product, quantity, unit] in lines.into_iter().map(|line| line.map(u64::cast_signed)) {
            item += 1;
            insert_item.execute([item, id, product, quantity, unit])?;
        }
    }
    Ok(())
}

fn fill_tickets(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO tickets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for id in 1..=TICKETS {
        let customer = 1 + noise::below(83, id, 0, CUSTOMERS);
        let priority = noise::pick(
            ["low", "low", "normal", "normal", "normal", "normal", "high", "high", "urgent"],
            83,
            id,
            1,
        );
        let status = noise::pick(
            ["open", "pending", "solved", "solved", "closed", "closed", "closed", "closed"],
            83,
            id,
            2,
        );
        let opened = calendar::date_of(calendar::today() - 364 + (id * 365 / (TICKETS + 1)).cast_signed());
        let description = format!("{} {}", noise::pick(DETAILS, 83, id, 4), noise::pick(DETAILS, 83, id, 5));
        insert.execute(params![
            id.cast_signed(),
            format!("TCK-{id:05}"),
            customer.cast_signed(),
            companies::account_id(company_of(customer)),
            (1 + noise::below(83, id, 6, PRODUCTS)).cast_signed(),
            priority,
            status,
            opened,
            noise::pick(SUBJECTS, 83, id, 3),
            description,
        ])?;
    }
    Ok(())
}

fn company_of(customer: u64) -> u64 {
    1 + noise::below(71, customer, 8, companies::COMPANIES)
}

fn price_cents(product: u64) -> u64 {
    495 + 100 * noise::below(73, product, 1, 280)
}
