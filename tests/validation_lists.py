#!/usr/bin/env python3
"""Validation programs, validation/claims.txt and validation/ctest.txt name the same programs."""
import importlib.util
import os
import sys

sys.dont_write_bytecode = True
path = os.path.join(os.environ["DIJOCO_SOURCE"], "scripts", "validate.py")
spec = importlib.util.spec_from_file_location("validate", path)
validate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(validate)

found = validate.disagreements()
if len(validate.record.claims(os.environ["DIJOCO_SOURCE"])) < 2:
    found.append("validation/claims.txt: no claims")
print("\n".join(found) or "they agree")
sys.exit(1 if found else 0)
