# The tools are files: an index, a folder for each server, a stub for each tool.
print(read_file("/servers/index.md"))
print("weather:", ", ".join(name for name in list_directory("/servers/weather") if name.endswith(".py")))
stub = read_file("/servers/weather/list_cities.py")
print(next(line for line in stub.splitlines() if line.startswith("async def")))

# The tree cannot be changed.
try:
    write_file("/servers/weather/list_cities.py", "")
except OSError as error:
    print("refused:", type(error).__name__)
