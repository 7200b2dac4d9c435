samples = [
    None, True, False, 0, -1, 2**53, 3.5, -0.25, "", "naïve café", "日本語", "🦀🐍", "tab\tnewline\nquote\"",
    [], {}, [1, [2, [3, [4]]]], {"a": {"b": {"c": None}}}, {"empty": [], "": "empty key"},
]
answers = [(await callMCPTool("echo", {"value": v}))["value"] for v in samples]
mismatches = [(before, after) for before, after in zip(samples, answers) if before != after or type(before) is not type(after)]
{"checked": len(samples), "mismatches": mismatches, "answers": answers}
