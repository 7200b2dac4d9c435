"""What is in the binary, as CycloneDX 1.5: crates with the hashes of their archives, and the engines' parts."""

import json
import re
import time
import uuid

SPEC_VERSION = "1.5"
# Serial numbers come from what the list says, so that the same list has the same one.
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "gristmill/sbom")

# Of the format; the parts that we use.
COMPONENT_TYPES = {"application", "library", "data", "machine-learning-model", "file"}
SCOPES = {"required", "optional", "excluded"}
HASH_LENGTHS = {"SHA-256": 64, "SHA-512": 128, "BLAKE3": 64}


def build(product, crates, parts):
    [root] = [crate for crate in crates if crate.name == "gristmill-cli"]
    others = [crate for crate in crates if crate is not root]
    references = {crate.id: reference(crate) for crate in crates}
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(product.epoch)),
            "component": {
                "type": "application",
                "bom-ref": references[root.id],
                "name": "gristmill",
                "version": product.version,
                "licenses": [{"expression": root.license}],
                "purl": reference(root),
                "externalReferences": [{"type": "vcs", "url": product.repository}],
            },
        },
        "components": [*map(crate_component, others), *map(part_component, parts)],
        "dependencies": [
            {
                "ref": references[crate.id],
                "dependsOn": sorted(
                    [references[id] for id in crate.needs] + ([part.purl for part in parts] if crate is root else [])
                ),
            }
            for crate in crates
        ]
        + [{"ref": part.purl, "dependsOn": []} for part in parts],
    }
    serial = uuid.uuid5(NAMESPACE, json.dumps(bom, sort_keys=True))
    return (json.dumps({**bom, "serialNumber": f"urn:uuid:{serial}"}, indent=1) + "\n").encode()


def reference(crate):
    return f"pkg:cargo/{crate.name}@{crate.version}"


def crate_component(crate):
    component = {
        "type": "library",
        "bom-ref": reference(crate),
        "name": crate.name,
        "version": crate.version,
        # What only runs in the build is listed, too: it decides what the binary is.
        "scope": "required" if crate.is_inside else "excluded",
        "licenses": [{"expression": crate.license}],
        "purl": reference(crate),
    }
    if crate.checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": crate.checksum}]
    return component


def part_component(part):
    component = {
        "type": "data" if "weights" in part.what else "library",
        "bom-ref": part.purl,
        "name": part.name,
        "version": part.version,
        "description": part.what,
        "scope": "required",
        "licenses": [{"expression": part.license}],
        "purl": part.purl,
    }
    if part.hashes:
        component["hashes"] = [{"alg": algorithm, "content": content} for algorithm, content in part.hashes]
    return component


def faults(bom):
    """What of the format's rules a list breaks; those rules that concern what we write."""
    if bom.get("bomFormat") != "CycloneDX" or bom.get("specVersion") != SPEC_VERSION:
        yield "not CycloneDX of this version"
    if not re.fullmatch(
        r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", bom.get("serialNumber", "")
    ):
        yield "the serial number isn't a UUID"
    if not isinstance(bom.get("version"), int) or bom["version"] < 1:
        yield "the version isn't a number from 1"
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bom["metadata"]["timestamp"]):
        yield "the time isn't one of RFC 3339"
    components = [bom["metadata"]["component"], *bom["components"]]
    for component in components:
        yield from _component_faults(component)
    references = [component["bom-ref"] for component in components]
    if len(references) != len(set(references)):
        yield "two components have one reference"
    described = [dependency["ref"] for dependency in bom["dependencies"]]
    if sorted(described) != sorted(references):
        yield "dependencies aren't given once for each component"
    for dependency in bom["dependencies"]:
        needed = dependency["dependsOn"]
        if len(needed) != len(set(needed)) or not set(needed) <= set(references):
            yield f"{dependency['ref']} depends on something unknown, or twice on one thing"


def _component_faults(component):
    name = component.get("name")
    if not name or component.get("type") not in COMPONENT_TYPES:
        yield f"{name} has no name, or a type that isn't known"
    if component.get("scope", "required") not in SCOPES:
        yield f"{name} has an unknown scope"
    if not re.fullmatch(r"pkg:(cargo|npm|pypi)/[\w.@/%+-]+", component.get("purl", "")):
        yield f"{name} has no package URL"
    for hash in component.get("hashes", ()):
        if not re.fullmatch(r"[0-9a-f]+", hash["content"]) or HASH_LENGTHS.get(hash["alg"]) != len(hash["content"]):
            yield f"{name} has a wrong hash"
    licenses = component.get("licenses", ())
    # An expression stands alone.
    if len(licenses) != 1 or set(licenses[0]) != {"expression"} or not licenses[0]["expression"]:
        yield f"{name} has no license expression"
