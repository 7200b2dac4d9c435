"""CPython of the machine as an engine: the sandbox's guest around a program, without WebAssembly.

`bootstrap` is run by the worker as text and makes everything else importable. `image` shapes the interpreter as
the build shapes that of the WebAssembly engine, `host` and `streams` lead to the worker, `entry` is what the worker
calls, `missing` says which command brings a package, `values` turns tables, arrays and figures into results.
"""
