from servers.kubernetes import kubectl_get
pods = await kubectl_get(resourceType="pods", namespace_="shop")
first = await kubectl_get(resourceType="pods", name=pods["items"][0]["name"], namespace_="shop")
print(str(pods)[:150], first["status"], sep="\n")
