import configparser
import tomllib

toml = tomllib.loads(
    """
    title = "mill"
    [server]
    ports = [8000, 8001]
    started = 2026-05-27T07:32:00Z
    [[worker]]
    name = "a"
    [[worker]]
    name = "b"
    weight = 0.5
    """
)
ini = configparser.ConfigParser()
ini.read_string("[DEFAULT]\nretries = 3\n[db]\nhost = localhost\nurl = %(host)s:5432\n[cache]\nretries = 5\nenabled = yes\n")
result = {
    "toml": toml,
    "db": dict(ini["db"]),
    "retries": [ini.getint(s, "retries") for s in ini.sections()],
    "enabled": ini.getboolean("cache", "enabled"),
}
