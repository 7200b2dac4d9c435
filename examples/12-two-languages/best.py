best = max(state["totals"], key=state["totals"].get)
result = f"after {' and '.join(state['programs'])}: {best} sells the most"
