"""Sphinx's settings for the site of `make docs`, of what docs/site.py made (scripts/docs.sh)."""
import os
import re

project = "DiJoCo"
html_title = "DiJoCo"
with open(os.path.join(os.path.dirname(__file__), "..", "core", "include", "dijoco", "types.h"),
          encoding="utf-8") as f:
    version = release = ".".join(re.findall(r"(?m)^#define DJ_VERSION_[A-Z]* (\d+)", f.read()))
root_doc = "README"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4        # links name headings, as on a forge
html_theme = "furo"
html_copy_source = False
html_show_copyright = False
highlight_language = "none"     # of blocks that name no language
add_module_names = False
