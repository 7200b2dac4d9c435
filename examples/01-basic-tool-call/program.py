from servers.weather import current

now = await current(city="Lisbon")
result = f"{now['city']} at {now['observed_at']}: {now['temp_c']} °C, {now['condition']}"
