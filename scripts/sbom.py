#!/usr/bin/env python3
"""The software bill of materials of a release, in SPDX 2.3 (JSON): what it is made of, links, fetches
and is tested with, each with its version and licence; and the checks that it is whole.

    scripts/sbom.py OUT.json [ARCHIVE]    writes it; ARCHIVE: the source archive, named with its hash
    scripts/sbom.py --check LIBRARY ...   whether all that the libraries and the build ask for is named

Versions of system libraries are those of this machine's packages, "NOASSERTION" where there are none.
"""
import hashlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import fetch  # noqa: E402

# Of system libraries: (Debian's package, licence, the file that is linked or None: a tool, why).
SYSTEM = {
    "OpenBLAS": ("libopenblas-serial-dev", "BSD-3-Clause", "libopenblas", "linked"),
    "LAPACKE": ("liblapacke-dev", "BSD-3-Clause", "liblapacke", "linked"),
    "SuiteSparse AMD and KLU": ("libsuitesparse-dev", "BSD-3-Clause AND LGPL-2.1-or-later",
                                "libamd libklu", "linked"),
    "cJSON": ("libcjson-dev", "MIT", "libcjson", "linked"),
    "Qhull": ("libqhull-dev", "Qhull", "libqhull_r", "linked"),
    "L-BFGS-B": ("liblbfgsb-dev", "BSD-3-Clause", "liblbfgsb", "linked into the library"),
    "GNU C library": ("libc6-dev", "LGPL-2.1-or-later", "libc libm ld-linux", "linked"),
    "GNU Fortran run time": ("libgfortran5", "GPL-3.0-or-later WITH GCC-exception-3.1",
                             "libgfortran libgcc_s", "linked"),
    "CMake": ("cmake", "BSD-3-Clause", None, "builds"),
    "cmocka": ("libcmocka-dev", "Apache-2.0", None, "tests"),
}
# Of what scripts/fetch.py takes from PyPI.
LICENCES = {"mujoco": ("Apache-2.0", "linked"), "coacd": ("MIT", "decomposes, where asked for"),
            "gymnasium": ("MIT", "tests"), "dm_control": ("Apache-2.0", "tests"),
            "robosuite": ("MIT", "tests"), "metaworld": ("MIT", "tests")}


def version():
    with open(os.path.join(ROOT, "core/include/dijoco/types.h"), encoding="utf-8") as file:
        return ".".join(re.findall(r"#define DJ_VERSION_[A-Z]+ (\d+)", file.read()))


def installed(package):
    try:
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return "NOASSERTION"
    return done.stdout.strip() or "NOASSERTION"


def entry(name, number, licence, **more):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9]+", "-", name), "name": name,
            "versionInfo": number, "licenseDeclared": licence, "licenseConcluded": licence,
            "copyrightText": "NOASSERTION", "filesAnalyzed": False,
            "downloadLocation": "NOASSERTION", **more}


def purl(text):
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
             "referenceLocator": text}]


def document(archive):
    own = entry("dijoco", version(), "Apache-2.0")
    if archive:
        with open(archive, "rb") as file:
            own["checksums"] = [{"algorithm": "SHA256",
                                 "checksumValue": hashlib.sha256(file.read()).hexdigest()}]
        own["packageFileName"] = os.path.basename(archive)
    packages, relations = [own], []

    def add(item, why):
        kind = {"tests": "TEST_DEPENDENCY_OF", "builds": "BUILD_TOOL_OF"}.get(why, "DEPENDENCY_OF")
        packages.append(dict(item, comment=why))
        relations.append({"spdxElementId": item["SPDXID"], "relationshipType": kind,
                          "relatedSpdxElement": own["SPDXID"]})

    for name, (package, licence, _, why) in SYSTEM.items():
        reference = "pkg:deb/debian/%s" % package
        if licence == "Qhull":
            licence = "LicenseRef-Qhull"
        add(entry(name, installed(package), licence, externalRefs=purl(reference)), why)
    for name, (package, number, checksum, _, _) in fetch.PACKAGES.items():
        licence, why = LICENCES[name]
        item = entry(package, number, licence,
                     externalRefs=purl("pkg:pypi/%s@%s" % (package, number)))
        if checksum:
            item["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksum}]
        add(item, why)
    relations.append({"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                      "relatedSpdxElement": own["SPDXID"]})
    date = subprocess.run(["git", "log", "-1", "--format=%cd", "--date=format:%Y-%m-%dT%H:%M:%SZ"],
                          cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout.strip() or "1970-01-01T00:00:00Z"
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": "dijoco-" + version(),
            "documentNamespace": "https://spdx.org/spdxdocs/dijoco-" + version(),
            "creationInfo": {"created": date, "creators": ["Tool: scripts/sbom.py"]},
            "hasExtractedLicensingInfos": [{
                "licenseId": "LicenseRef-Qhull", "name": "Qhull",
                "extractedText": "Qhull, Copyright (c) 1993-2020 C.B. Barber and The Geometry "
                                 "Center: free software, see COPYING.txt of Qhull."}],
            "packages": packages, "relationships": relations}


def needed(library):
    text = subprocess.run(["readelf", "-d", library], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return re.findall(r"\(NEEDED\).*\[([^\]]+)\]", text)


def missing(libraries):
    """What is asked for and not named."""
    files = " ".join(item[2] or "" for item in SYSTEM.values()).split() + ["libmujoco", "libdijoco"]
    alternatives = ["libblas", "liblapack"]   # of which OpenBLAS and LAPACK are one
    found = []
    for library in libraries:
        for name in needed(library):
            stem = re.sub(r"(-linux.*)?\.so.*$", "", name)
            if stem == "ld":
                stem = "ld-linux"
            if stem not in files + alternatives:
                found.append("%s needs %s" % (os.path.basename(library), name))
    with open(os.path.join(ROOT, "cmake/Dependencies.cmake"), encoding="utf-8") as file:
        required = re.findall(r"^dj_require\(\S+ (\S+) (\S+)", file.read(), re.M)
    packages = [item[0] for item in SYSTEM.values()]
    found += ["cmake/Dependencies.cmake asks for " + package for _, package in required
              if package not in packages]
    found += ["scripts/fetch.py fetches " + name for name in fetch.PACKAGES if name not in LICENCES]
    return found


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--check":
        found = missing(sys.argv[2:])
        for text in found:
            print("sbom: not named: " + text)
        return 1 if found else 0
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(document(sys.argv[2] if len(sys.argv) > 2 else None), file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
