import re
from collections import Counter
from servers.kubernetes import kubectl_logs

log = await kubectl_logs(resourceType="pod", name="checkout-7d9f8b6c5-x2x4q", namespace_="shop")
lines = log.splitlines()
levels = Counter(line.split()[1] for line in lines)
slowest = max(lines, key=lambda line: int(re.search(r"ms=(\d+)", line).group(1)))
result = {"lines": len(lines), "levels": dict(sorted(levels.items())), "slowest": slowest}
