#!/usr/bin/env python3
"""The bill of materials of a release names all that the built libraries link, CMake asks for and
scripts/fetch.py downloads, with what SPDX demands of each; and what is left out of it is found. The
table of speed has this version's row."""
import glob
import hashlib
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.environ["DIJOCO_SOURCE"]
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import fetch  # noqa: E402
import sbom  # noqa: E402

REQUIRED = ("SPDXID", "name", "versionInfo", "licenseDeclared", "downloadLocation")


def libraries():
    build = os.environ["DIJOCO_BUILD"]
    return glob.glob(os.path.join(build, "lib", "libdijoco*.so")) + \
        glob.glob(os.path.join(build, "bin", "dijoco"))


def check_document(folder):
    archive, out = os.path.join(folder, "a.tar.gz"), os.path.join(folder, "a.spdx.json")
    with open(archive, "wb") as file:
        file.write(b"archive")
    subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "sbom.py"), out, archive], check=True)
    with open(out, encoding="utf-8") as file:
        made = json.load(file)
    assert made["spdxVersion"] == "SPDX-2.3" and made["creationInfo"]["created"]
    packages = {p["name"]: p for p in made["packages"]}
    ids = [p["SPDXID"] for p in made["packages"]]
    assert len(set(ids)) == len(ids)
    for package in made["packages"]:
        for key in REQUIRED:
            assert package[key], (package["name"], key)
    own = packages["dijoco"]
    assert own["versionInfo"] == sbom.version()
    assert own["checksums"][0]["checksumValue"] == hashlib.sha256(b"archive").hexdigest()
    for name, number, checksum, _, _ in fetch.PACKAGES.values():
        assert packages[name]["versionInfo"] == number
        assert not checksum or packages[name]["checksums"][0]["checksumValue"] == checksum
    for relation in made["relationships"]:
        assert relation["relatedSpdxElement"] == own["SPDXID"]
        assert relation["spdxElementId"] in ids + ["SPDXRef-DOCUMENT"]


def check_missing():
    found = sbom.missing(libraries())
    assert not found, found
    for table, key, text in ((sbom.SYSTEM, "cJSON", "libcjson"), (sbom.LICENCES, "coacd", "coacd"),
                             (sbom.SYSTEM, "L-BFGS-B", None)):
        kept = table.pop(key)
        found = sbom.missing(libraries())
        table[key] = kept
        assert text is None or any(text in line for line in found), (key, found)


if os.environ.get("DIJOCO_FLAVOUR") != "release":
    sys.exit(77)
check_document(os.environ["TMPDIR"])
check_missing()
subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "performance.py"), "--check"], check=True)
