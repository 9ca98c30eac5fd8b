"""What an installed package holds and says, looked at from inside its environment."""

import sys
from importlib.metadata import distribution, files
from pathlib import Path

from svc.sandbox.checkout.languages import LANGUAGES
from svc.sandbox.fidelity import ROWS

package = distribution("svc-cli")
names = {str(name) for name in files("svc-cli") or ()}
assert "svc/version.txt" in names, names
assert "svc/py.typed" not in names, "svc has no public Python API"
assert not any("Typing ::" in name for name in package.metadata.get_all("Classifier") or ())
description = package.metadata.get_payload()
assert "# svc" in description, "the README is the description"
assert "](.readme/" not in description, "a picture that only the repository has"
assert {"svc.bash", "_svc", "svc.fish", "svc.ps1"} <= {name.rpartition("/")[2] for name in names}
pages = Path(sys.prefix) / "share" / "man" / "man1"
assert {"svc.1", "svc-orders.1"} <= {page.name for page in pages.iterdir()}, "for man"
assert ROWS, "the fidelity table, which is a text of the package"
assert all(language.texts for language in LANGUAGES), "the checkout's texts, a file a language"
