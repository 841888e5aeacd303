"""Print pip constraints that hold each dependency at its lowest version.

Every ``name>=version`` of pyproject.toml, also of the extras, becomes
``name==version.*``.
"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
groups = [project["dependencies"], *project["optional-dependencies"].values()]
entries = {entry for group in groups for entry in group}
for entry in sorted(entries):
    if bound := re.fullmatch(r"([\w-]+)>=([\d.]+)", entry):
        print("{}=={}.*".format(*bound.groups()))
