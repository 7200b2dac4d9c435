"""The same jobs in Python and TypeScript, which come to the same: with every example server, and with npm's."""

from world import Installed, World


class Examples(World):
    def example(self, name, *arguments):
        self.add(name, [Installed.gristmill, "example-server", name, *map(str, arguments)])

    def test_numbers_are_computed(self):
        self.example("calculator")
        python = """
        from servers.calculator import evaluate, statistics, convert_units
        values = [(await evaluate(expression=f"{n} ^ 2 / 4"))["value"] for n in range(1, 6)]
        told = await statistics(numbers=values)
        km = await convert_units(value=3, **{"from": "mile", "to": "km"})
        try:
            await evaluate(expression="1 +")
        except ToolError as error:
            failed = [error.code, error.kind, error.tool]
        result = {"values": values, "mean": told["mean"], "median": told["median"], "km": round(km["value"], 3), "failed": failed}
        """
        typescript = """
        import { evaluate, statistics, convertUnits } from "./servers/calculator";
        const values: number[] = [];
        for (let n = 1; n <= 5; n++) values.push((await evaluate({ expression: `${n} ^ 2 / 4` })).value);
        const { mean, median } = await statistics({ numbers: values });
        const km = await convertUnits({ value: 3, from: "mile", to: "km" });
        let failed: unknown;
        try {
          await evaluate({ expression: "1 +" });
        } catch (error) {
          if (error instanceof ToolError) failed = [error.code, error.kind, error.tool];
        }
        export default { values, mean, median, km: Number(km.value.toFixed(3)), failed };
        """
        self.assertEqual(self.same_result(python, typescript)["mean"], 2.75)

    def test_records_are_paged_through_and_changed(self):
        self.example("crm")
        python = """
        from servers.crm import list_leads, update_record, get_record
        page, counts, last = 1, {}, None
        while page:
            answer = await list_leads(page=page, page_size=100)
            for lead in answer["records"]:
                counts[lead["status"]] = counts.get(lead["status"], 0) + 1
                last = lead["id"]
            page = answer["next_page"]
        await update_record(type="lead", id=last, fields={"status": "won"})
        result = [dict(sorted(counts.items())), last, (await get_record(type="lead", id=last))["status"]]
        """
        typescript = """
        import { listLeads, updateRecord, getRecord } from "servers/crm";
        const counts = new Map<string, number>();
        let last = "";
        for (let page: number | null = 1; page !== null; ) {
          const { records, next_page }: any = await listLeads({ page, page_size: 100 });
          for (const { status, id } of records) {
            counts.set(status, (counts.get(status) ?? 0) + 1);
            last = id;
          }
          page = next_page;
        }
        await updateRecord({ type: "lead", id: last, fields: { status: "won" } });
        return [Object.fromEntries([...counts].sort()), last, (await getRecord({ type: "lead", id: last })).status];
        """
        self.assertEqual(self.same_result(python, typescript)[2], "won")

    def test_tables_are_queried(self):
        self.example("database")
        python = """
        from servers.database import query, export_rows
        sql = "SELECT status, count(*) AS n FROM orders WHERE placed_on >= ? GROUP BY status ORDER BY status"
        counted = (await query(sql=sql, params=["2025-01-01"]))["rows"]
        exported = await export_rows(table="products", limit=5)
        result = {"counted": counted, "first": exported["rows"][0], "total": exported["total"]}
        """
        typescript = """
        import * as database from "@servers/database";
        const sql = "SELECT status, count(*) AS n FROM orders WHERE placed_on >= ? GROUP BY status ORDER BY status";
        const { rows: counted } = await database.query({ sql, params: ["2025-01-01"] });
        const exported = await database.exportRows({ table: "products", limit: 5 });
        result = { counted, first: exported.rows[0], total: exported.total };
        """
        self.assertGreater(len(self.same_result(python, typescript)["counted"]), 1)

    def test_documents_are_found_and_read_together(self):
        self.example("documents")
        python = """
        import asyncio
        from servers.documents import search_documents, get_document
        hits = (await search_documents(query="meeting", limit=8))["hits"]
        documents = await asyncio.gather(*(get_document(document_id=hit["document_id"]) for hit in hits))
        result = sorted([d["document_id"], d["words"], d["text"].lower().count("meeting")] for d in documents)
        """
        typescript = """
        interface Found { document_id: string; words: number; text: string }
        const { hits } = await tools.documents.search_documents({ query: "meeting", limit: 8 });
        const read = (hit: Found): Promise<Found> => tools.documents.getDocument({ document_id: hit.document_id });
        const documents = await Promise.all(hits.map(read));
        const rows = documents.map((d) => [d.document_id, d.words, d.text.toLowerCase().split("meeting").length - 1]);
        rows.sort(([a], [b]) => (a < b ? -1 : 1));
        rows
        """
        self.assertGreater(len(self.same_result(python, typescript)), 1)

    def test_files_are_written_searched_and_read(self):
        root = self.work / "root"
        root.mkdir()
        self.example("filesystem", "--root", root)
        python = """
        from servers.filesystem import make_directory, write_file, search_files, read_file
        await make_directory(path="notes/old")
        for name in ("b", "a"):
            await write_file(path=f"notes/{name}.md", text=f"{name}: zażółć 🦀\\n" * 2)
        found = [match["path"] for match in (await search_files(pattern="**/*.md"))["matches"]]
        texts = [(await read_file(path=path))["text"] for path in found]
        result = [found, texts, [len(text.encode()) for text in texts]]
        """
        typescript = """
        import { makeDirectory, writeFile as write, searchFiles, readFile as read } from "./servers/filesystem.ts";
        await makeDirectory({ path: "notes/old" });
        for (const name of ["b", "a"]) await write({ path: `notes/${name}.md`, text: `${name}: zażółć 🦀\\n`.repeat(2) });
        const found: string[] = (await searchFiles({ pattern: "**/*.md" })).matches.map(({ path }) => path);
        const texts = await Promise.all(found.map(async (path) => (await read({ path })).text as string));
        export default [found, texts, texts.map((text) => new TextEncoder().encode(text).length)];
        """
        self.assertEqual(self.same_result(python, typescript)[0], ["notes/a.md", "notes/b.md"])
        self.assertEqual((root / "notes" / "a.md").read_text(), "a: zażółć 🦀\n" * 2)

    def test_a_picture_comes_as_a_file(self):
        self.example("weather")
        python = """
        from servers.weather import chart, forecast
        days = (await forecast(city="Lisbon", days=5))["days"]
        await chart(city="Lisbon", days=5)
        import os
        [name] = os.listdir("/workspace/tool_files")
        picture = open("/workspace/tool_files/" + name, "rb").read()
        result = [max(day["temp_max_c"] for day in days), picture[:8].hex(), len(picture)]
        """
        typescript = """
        import { readFileSync, readdirSync } from "node:fs";
        import { chart, forecast } from "./servers/weather/index.js";
        const { days } = await forecast({ city: "Lisbon", days: 5 });
        await chart({ city: "Lisbon", days: 5 });
        const [name] = readdirSync("/workspace/tool_files");
        const picture = readFileSync(`/workspace/tool_files/${name}`);
        export default [Math.max(...days.map((day) => day.temp_max_c)), picture.subarray(0, 8).toString("hex"), picture.length];
        """
        self.assertEqual(self.same_result(python, typescript)[1], "89504e470d0a1a0a")


class Everything(World):
    def setUp(self):
        super().setUp()
        self.add("everything", self.everything())

    def test_names_with_hyphens_are_called_by_every_spelling(self):
        typescript = """
        import { getSum, get_sum } from "./servers/everything";
        import getSumOfFile from "./servers/everything/get-sum.ts";
        const args = { a: 1, b: 2 };
        const answers: string[] = [];
        for (const name of ["get-sum", "everything.get-sum", "everything.getSum", "get_sum"]) answers.push(await callMCPTool(name, args));
        answers.push(await getSum(args), await get_sum(args), await tools.everything["get-sum"](args), await getSumOfFile(args));
        export default answers;
        """
        self.assertEqual(self.result(typescript, ending="ts"), ["The sum of 1 and 2 is 3."] * 8)

    def test_many_calls_and_large_texts_arrive_whole(self):
        typescript = """
        import { echo } from "./servers/everything";
        const numbers = Array.from({ length: 200 }, (_, number) => number);
        const answers: string[] = await Promise.all(numbers.map((number) => echo({ message: `number ${number}` })));
        const text = "zażółć gęślą jaźń \\n\\t\\"\\\\ 🦀 ".repeat(50_000);
        export default [answers.every((answer, number) => answer === `Echo: number ${number}`), (await echo({ message: text })) === "Echo: " + text];
        """
        self.assertEqual(self.result(typescript, ending="ts"), [True, True])

    def test_content_of_every_kind_is_the_same_in_both_languages(self):
        python = """
        from servers.everything import get_tiny_image, get_resource_links, get_structured_content
        before, image, after = await get_tiny_image()
        links = [link["uri"] for link in (await get_resource_links(count=2))[1:]]
        weather = await get_structured_content(location="Chicago")
        result = [before, image["type"], image["mime"], len(open(image["path"], "rb").read()), after, links, weather]
        """
        typescript = """
        import fs from "node:fs/promises";
        import { getTinyImage, getResourceLinks, getStructuredContent } from "./servers/everything";
        const [before, image, after] = await getTinyImage();
        const links = (await getResourceLinks({ count: 2 })).slice(1).map((link: { uri: string }) => link.uri);
        const weather = await getStructuredContent({ location: "Chicago" });
        export default [before, image.type, image.mime, (await fs.readFile(image.path)).length, after, links, weather];
        """
        self.assertEqual(self.same_result(python, typescript)[1], "image")

    def test_what_goes_wrong_is_told_alike(self):
        python = """
        from servers.everything import get_sum, get_structured_content, get_resource_reference
        said = []
        for call in (
            lambda: get_sum(a="x", b=2),
            lambda: get_sum(a=1, bb=2),
            lambda: get_structured_content(location="Paris"),
            lambda: callMCPTool("get-summ", {}),
            lambda: get_resource_reference(resourceType="Blob", resourceId=-1),
        ):
            try:
                said.append(await call())
            except ToolError as error:
                said.append([error.code, error.kind, error.retry_safe])
        result = said
        """
        typescript = """
        import { getSum, getStructuredContent, getResourceReference } from "./servers/everything";
        const loose: any = { a: "x", bb: 2 };
        const said: unknown[] = [];
        for (const call of [
          () => getSum({ a: loose.a, b: 2 }),
          () => getSum({ a: 1, ...{ bb: 2 } }),
          () => getStructuredContent({ location: "Paris" }),
          () => callMCPTool("get-summ", {}),
          () => getResourceReference({ resourceType: "Blob", resourceId: -1 }),
        ]) {
          try {
            said.push(await call());
          } catch (error) {
            if (!(error instanceof ToolError)) throw error;
            said.push([error.code, error.kind, error.retrySafe ?? null]);
          }
        }
        export default said;
        """
        codes = [code for code, _, _ in self.same_result(python, typescript)]
        self.assertEqual(codes, ["GM-1402", "GM-1402", "GM-1402", "GM-1401", "GM-1104"])

    def test_a_mistake_is_told_before_anything_is_sent(self):
        # Now it cannot be started any more, and whoever tries fails with GM-3001.
        self.ok("tools", "list")
        (self.folder / "npm").unlink()
        code = 'import { getSum } from "./servers/everything";\nconst sum: number = await getSum({ a: 1, b: "2" });\n'
        error = self.program(code, ending="ts")["error"]
        self.assertEqual((error["code"], error["line"]), ("GM-1402", 2), error)
        error = self.program("const x: number = 1;\nconst y = (2;\n", ending="ts")["error"]
        self.assertEqual((error["code"], error["line"]), ("GM-1101", 2), error)


class Memory(World):
    def test_a_graph_made_in_one_language_is_read_in_the_other(self):
        self.add("memory", self.npm("memory"), env=[f"MEMORY_FILE_PATH={self.work}/memory.jsonl"])
        ada = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}
        typescript = f"""
        import {{ createEntities, createRelations }} from "./servers/memory";
        const ada = {{ name: "Ada", entityType: "person", observations: ["wrote the first program"] }};
        await createEntities({{ entities: [ada, {{ ...ada, name: "Grace" }}] }});
        await createRelations({{ relations: [{{ from: "Ada", to: "Grace", relationType: "precedes" }}] }});
        """
        self.assertTrue(self.program(typescript, ending="ts")["success"])
        python = "from servers.memory import read_graph\nresult = await read_graph()"
        graph = self.same_result(python, 'export default await tools.memory.readGraph({});')
        relation = {"from": "Ada", "to": "Grace", "relationType": "precedes"}
        self.assertEqual(graph, {"entities": [ada, {**ada, "name": "Grace"}], "relations": [relation]})


class Files(World):
    def test_files_are_read_and_written_below_the_root_only(self):
        root = self.work / "root"
        root.mkdir()
        (self.work / "outside.txt").write_text("not for you")
        (root / "link.txt").symlink_to(self.work / "outside.txt")
        self.add("files", self.npm("filesystem", root))
        typescript = f"""
        import {{ readTextFile, writeFile as write }} from "./servers/files";
        await write({{ path: "{root}/new.txt", content: "one\\ntwo\\n" }});
        const said: string[] = [(await readTextFile({{ path: "{root}/new.txt", head: 1 }})).content];
        for (const path of ["{root}/../outside.txt", "{root}/link.txt", "/etc/hostname"]) {{
          said.push(await readTextFile({{ path }}).catch((error: Error) => error.message.slice(0, 13)));
        }}
        export default said;
        """
        self.assertEqual(self.result(typescript, ending="ts"), ["one", *["Access denied"] * 3])
        self.assertEqual((root / "new.txt").read_text(), "one\ntwo\n")


class Sessions(World):
    def test_both_languages_share_a_session_in_one_home(self):
        self.add("calculator", [Installed.gristmill, "example-server", "calculator"])
        python = "from servers.calculator import evaluate\nwrite_file('n.json', json.dumps(await evaluate(expression='6 * 7')))\nstate['by'] = ['python']"
        self.assertTrue(self.program(python, "--session", "both")["success"])
        typescript = 'state.by = [...state.by, "typescript"];\nexport default JSON.parse(readFile("n.json")).value + 1;'
        self.assertEqual(self.result(typescript, "--session", "both", ending="ts"), 43)
        self.assertEqual(self.result("result = state['by']", "--session", "both"), ["python", "typescript"])
