import re
from collections import Counter, defaultdict

LOG = """\
203.0.113.9 - - [02/Mar/2026:10:15:01 +0000] "GET /api/orders HTTP/1.1" 200 5120 "-" "curl/8.5"
203.0.113.9 - - [02/Mar/2026:10:15:02 +0000] "GET /api/orders?page=2 HTTP/1.1" 200 4811 "-" "curl/8.5"
198.51.100.7 - alice [02/Mar/2026:10:15:04 +0000] "POST /login HTTP/1.1" 401 87 "-" "Mozilla/5.0"
198.51.100.7 - alice [02/Mar/2026:10:15:09 +0000] "POST /login HTTP/1.1" 302 0 "-" "Mozilla/5.0"
192.0.2.44 - - [02/Mar/2026:10:16:00 +0000] "GET /healthz HTTP/2.0" 500 12 "-" "kube-probe/1.29"
this line is not a log line
192.0.2.44 - - [02/Mar/2026:10:16:10 +0000] "GET /healthz HTTP/2.0" 503 12 "-" "kube-probe/1.29"
"""
LINE = re.compile(
    r'(?P<ip>\S+) \S+ (?P<user>\S+) \[(?P<when>[^\]]+)\] '
    r'"(?P<method>[A-Z]+) (?P<path>[^ ?"]+)(?:\?(?P<query>\S*))? HTTP/[\d.]+" (?P<status>\d{3}) (?P<size>\d+)'
)
statuses = Counter()
sizes = defaultdict(int)
skipped = 0
for line in LOG.splitlines():
    if not (match := LINE.match(line)):
        skipped += 1
        continue
    statuses[match["status"][0] + "xx"] += 1
    sizes[match["path"]] += int(match["size"])

result = {"statuses": dict(statuses), "bytes_by_path": dict(sizes), "skipped": skipped}
