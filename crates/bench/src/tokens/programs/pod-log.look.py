from servers.kubernetes import kubectl_logs
result = await kubectl_logs(resourceType="pod", name="checkout-7d9f8b6c5-x2x4q", namespace_="shop", tail=4)
