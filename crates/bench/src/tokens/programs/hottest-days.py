import asyncio
from servers.weather import history

cities = ["Athens", "Berlin", "Lisbon", "Madrid", "Oslo", "Paris", "Rome", "Vienna"]
answers = await asyncio.gather(*(history(city=city, from_="2023-01-01", to="2026-06-15") for city in cities))
hottest = [(answer["city"], max(answer["rows"], key=lambda row: row["temp_max_c"])) for answer in answers]
result = {
    "days": sum(len(answer["rows"]) for answer in answers),
    "hottest": [[city, row["date"], row["temp_max_c"]] for city, row in hottest],
}
