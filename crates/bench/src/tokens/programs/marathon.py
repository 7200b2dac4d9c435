from servers.calculator import convert_units
result = await convert_units(value=26.2188, from_="mile", to="km")
