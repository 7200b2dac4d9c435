import asyncio, re
from servers.kubernetes import kubectl_get, kubectl_logs

pods = re.findall(r"pod/([\w-]+)", str(await kubectl_get(resourceType="pods", namespace_="shop", output="name")))
logs = await asyncio.gather(*(kubectl_logs(resourceType="pod", name=pod, namespace_="shop", tail=20) for pod in pods))
counts = {pod: sum("error" in line.lower() for line in str(log).splitlines()) for pod, log in zip(pods, logs)}
top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
result = {"pods": len(pods), "errors": sum(counts.values()), "most": top}
