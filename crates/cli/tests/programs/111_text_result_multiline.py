rows = [("Mon", 3), ("Tue", 5), ("Wed", 2)]
peak = max(n for _, n in rows)
chart = "\n".join(f"{day} {'█' * n}{'░' * (peak - n)} {n}" for day, n in rows)
chart
