"""What a build adds: the version as a file of the package, and a description without a picture."""

import re
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Description(MetadataHookInterface):
    """The README as the package's description: its picture lies in the repository alone."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = re.sub(r"^!\[[^]]*\]\(\.readme/[^)]*\)\n+", "", text, flags=re.MULTILINE)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class Version(BuildHookInterface):
    """Notes in a wheel which version it is; an editable one runs whatever lies in the sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        note = Path(self._folder.name) / "version.txt"
        note.write_text(self.metadata.version, encoding="utf-8")
        build_data["force_include"][str(note)] = "svc/version.txt"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()
