"""Which packages a uv.lock comes to for this interpreter: JSON, each with the hashes of its wheels; or a problem.

Run by the interpreter that gets the packages, whose answers to markers count. Nothing is loaded or run of what it names.
"""

import json
import sys
import tomllib

from pip._vendor.packaging.markers import InvalidMarker, Marker, UndefinedEnvironmentName

# The only format there is.
VERSION = 1


class Problem(Exception):
    """The lock can't be used; why."""


def main(path):
    try:
        with open(path, "rb") as file:
            lock = tomllib.load(file)
        found = {"packages": chosen(lock)}
    except Problem as problem:
        found = {"problem": str(problem)}
    except (tomllib.TOMLDecodeError, InvalidMarker, UndefinedEnvironmentName, TypeError, KeyError, AttributeError) as error:
        found = {"problem": f"it is damaged ({error})"}
    json.dump(found, sys.stdout)


def chosen(lock):
    if "version" not in lock:
        raise Problem("it isn't a uv.lock: it has no version")
    if lock.get("version") != VERSION:
        raise Problem(f"its version is {lock.get('version')}, and only {VERSION} is known")
    packages = lock.get("package", [])
    projects = [package for package in packages if is_project(package)]
    if not projects:
        raise Problem("it has no project in it, so nothing says which packages are wanted")
    wanted, waiting = {}, [edge for project in projects for edge in project.get("dependencies", [])]
    seen = set()
    while waiting:
        edge = waiting.pop()
        if "marker" in edge and not Marker(edge["marker"]).evaluate({"extra": ""}):
            continue
        package = behind(packages, edge)
        key = (package["name"], package.get("version"), *edge.get("extra", []))
        if key in seen:
            continue
        seen.add(key)
        waiting += package.get("dependencies", [])
        for extra in edge.get("extra", []):
            waiting += package.get("optional-dependencies", {}).get(extra, [])
        if not is_project(package):
            wanted[package["name"]] = entry(package)
    return [wanted[name] for name in sorted(wanted)]


def is_project(package):
    """The project that is locked, or a member of its workspace: its own code is not in an index."""
    return bool({"virtual", "editable"} & {*package.get("source", {})})


def behind(packages, edge):
    named = [package for package in packages if package["name"] == edge["name"]]
    named = [package for package in named if edge.get("version") in (None, package.get("version"))]
    if len(named) != 1:
        raise Problem(f"it has {len(named)} packages that `{edge['name']}` may mean")
    return named[0]


def entry(package):
    name, version = package["name"], package.get("version")
    source = package.get("source", {})
    if "registry" not in source:
        kind = next(iter(source), "nowhere")
        raise Problem(f"`{name}` comes from {kind}; only packages of an index are taken")
    wheels = package.get("wheels", [])
    if not wheels:
        raise Problem(f"`{name}` {version} has no wheel, only its source; packages are never built here")
    hashes = [wheel.get("hash", "") for wheel in wheels]
    if not all(one.startswith("sha256:") for one in hashes):
        raise Problem(f"`{name}` {version} has a wheel without a sha256 hash")
    return {"name": name, "version": version, "sha256": [one.removeprefix("sha256:") for one in hashes]}


main(sys.argv[1])
