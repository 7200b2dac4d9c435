"""The Python side of the sandbox: what turns a request into a program's outcome.

Reading order: `program` (one run, in stages), `environment` (fresh state), `source`
(text to code), `namespace` (what the program finds), `tools` and `loop` (calls and
asyncio), `tool_files` (answers with files), `read_resource`, `analyze`, `search`, `describe` and `signature`,
`files`, `catalogue`, `names`, `trees` and `tool_imports` (what lies in /servers, imports from it), `gateway_names`, `guide` (help()),
`loose_ends`, `exit_handlers` and `timers` (the end of a run), `result`, `result_files` and `foreign` (value to JSON),
`tracebacks`, `errors` and `hints` (failure to outcome), `warm`.
`stdlib`, `imports`, `resources`, `missing`, `refusals`, `threads_in_place`, `processes_in_place`, `everyday`,
`tree_paths`, `word_size`, `key_derivation` and `image` shape the interpreter at build time. Nothing here
trusts the program: modules are loaded with private builtins and keep their own references.
"""
