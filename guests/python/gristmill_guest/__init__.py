"""The Python side of the sandbox: what turns a request into a program's outcome.

Reading order: `program` (one run, in stages), `source` (text to code), `namespace`
(what the program finds), `tools` and `loop` (calls and asyncio), `files`, `result`
(value to JSON), `tracebacks` and `errors` (failure to outcome). `stdlib`, `imports`,
`image` and `refusals` shape the interpreter at build time. Nothing here trusts the
program: modules are loaded with private builtins and keep their own references.
"""
