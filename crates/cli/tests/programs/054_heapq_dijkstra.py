import heapq

roads = {
    "Lyon": {"Turin": 310, "Ghent": 740},
    "Turin": {"Graz": 720, "Lyon": 310},
    "Ghent": {"Leeds": 600, "Lyon": 740},
    "Graz": {"Turin": 720},
    "Leeds": {"Ghent": 600},
}


def shortest(start):
    best = {start: (0, [start])}
    queue = [(0, start)]
    while queue:
        distance, here = heapq.heappop(queue)
        if distance > best[here][0]:
            continue
        for there, length in roads[here].items():
            total = distance + length
            if there not in best or total < best[there][0]:
                best[there] = (total, best[here][1] + [there])
                heapq.heappush(queue, (total, there))
    return best


result = {city: {"km": km, "via": path} for city, (km, path) in sorted(shortest("Graz").items())}
