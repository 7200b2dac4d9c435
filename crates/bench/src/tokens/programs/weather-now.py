from servers.weather import current
result = await current(city="Oslo")
