//! A long table as the result of a program of the native engine: kept as Parquet, which analyses read as it is.
//! Loudly skipped where the machine has no interpreter for it.

use std::path::Path;

use gristmill_testkit::native_python;
use serde_json::{Value, json};

use crate::cases;
use crate::client::modern;
use crate::gateways::{Place, Served};

cases![
    a_long_table_is_kept_as_parquet_and_analyzed_as_it_is,
    a_table_that_is_no_parquet_stays_rows_and_a_note_says_why,
];

/// A library of tables as small as can be, with a real Parquet file as the text of one. It is called as a library that
/// writes Parquet by itself.
const LIBRARY: &str = "
class DataFrame:
    columns, dtypes = ['id', 'name'], ['int64', 'str']

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return self.rows

    def head(self, rows):
        return DataFrame(min(rows, self.rows))

    def to_dicts(self):
        return [{'id': n, 'name': f'row {n}'} for n in range(self.rows)]

    def write_parquet(self, file, compression):
        if self.rows == 3000:
            raise TypeError('a mixture')
        with open('@@PARQUET@@', 'rb') as parquet:
            file.write(parquet.read())
";

/// A gateway whose native engine has it, or nothing where this machine has no such engine.
fn serve(name: &str) -> Option<Served> {
    let native = native_python()?;
    let place = Place::new(name);
    let modules = place.home().path().join("modules");
    std::fs::create_dir(&modules).expect("made");
    let parquet = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/fixtures/types.parquet");
    std::fs::copy(parquet, modules.join("types.parquet")).expect("copied");
    let library = LIBRARY.replace("@@PARQUET@@", "/python/packages/types.parquet");
    std::fs::write(modules.join("polars.py"), library).expect("written");
    let engine = json!({
        "enabled": true, "without_namespaces": true, "python": native.start.python, "path": [modules],
    });
    Some(place.setting("engines", json!({ "native": engine })).serve(modern(), &[]))
}

fn run(served: &Served, engine: &str, code: &str) -> Value {
    let answer = served.structured("execute_code", json!({"code": code, "engine": engine}));
    assert_eq!(answer["status"], "ok", "{answer:#}");
    answer
}

fn a_long_table_is_kept_as_parquet_and_analyzed_as_it_is() {
    let Some(served) = serve("native-parquet") else { return };
    let answer = run(&served, "native", "import polars\nresult = polars.DataFrame(2000)");
    let result = &answer["result"];
    assert_eq!((&result["rows"], &result["columns"]), (&json!(2000), &json!({"id": "int64", "name": "str"})));
    assert_eq!(result["first_rows"][4], json!({"id": 4, "name": "row 4"}));
    assert_eq!(result["table"]["media_type"], "application/vnd.apache.parquet", "{answer:#}");
    let file = result["table"]["file"].as_str().expect("where it is");
    let handle = file.strip_prefix("/results/").and_then(|name| name.strip_suffix(".parquet")).expect(file);
    // What the file has, and not what the library says.
    let steps = json!([{"limit": 1}]);
    let rows =
        served.structured("execute_analysis", json!({"handle": handle, "steps": steps}))["rows"].take();
    assert_eq!(rows, 1, "{answer:#}");
    for engine in ["wasm", "native"] {
        let code = format!("result = len(await analyze(handle={handle:?}, steps=[{{'limit': 1}}]))");
        assert_eq!(run(&served, engine, &code)["result"], 1, "{engine}");
    }
}

fn a_table_that_is_no_parquet_stays_rows_and_a_note_says_why() {
    let Some(served) = serve("native-rows") else { return };
    let run = |code: &str| run(&served, "native", &format!("import polars\n{code}"));
    let mixed = run("result = polars.DataFrame(3000)");
    let why = "the 3,000 rows of the table are JSON and not Parquet, as Parquet can't hold it (TypeError)";
    assert!(mixed["notes"].as_array().is_some_and(|notes| notes.contains(&json!(why))), "{mixed:#}");
    let short = run("result = polars.DataFrame(2)");
    assert_eq!(short["result"], json!([{"id": 0, "name": "row 0"}, {"id": 1, "name": "row 1"}]));
    let inside = run("result = {'n': len(polars.DataFrame(1500).to_dicts()), 'table': polars.DataFrame(3)}");
    assert_eq!((&inside["result"]["n"], &inside["result"]["table"][2]["id"]), (&json!(1500), &json!(2)));
}
