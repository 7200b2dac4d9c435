import asyncio
from servers.kubernetes import kubectl_get

pods = (await kubectl_get(resourceType="pods", namespace_="shop"))["items"]
whole = await asyncio.gather(*(kubectl_get(resourceType="pods", name=pod["name"], namespace_="shop") for pod in pods))
counts = {pod["metadata"]["name"]: pod["status"]["containerStatuses"][0]["restartCount"] for pod in whole}
restarted = sorted((item for item in counts.items() if item[1]), key=lambda item: (-item[1], item[0]))
result = {"pods": len(counts), "restarted": len(restarted), "most": [list(one) for one in restarted[:3]]}
