"""Where Chromium is looked for, and how `make chromium` fetches one without root.

Looked for in `DPFDA_CHROMIUM`, on the path, then in the folder `chromium` of the Python environment. Run as a program,
this module fills that folder from an npm package that was made for machines on which nothing can be installed: a
Chromium without window, its libraries and one font, packed with brotli, which node unpacks. The flags which that
package recommends are not taken: they switch off the rules between sites, which the tests are about.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
#: The last version whose package is made for node 20; its digest is what npm calls the integrity.
PACKAGE = "@sparticuz/chromium@147.0.0"
DIGEST = "4ZKeAQQa8up2mt675qSitztLdbQrlf8BKdC5naeap+5Mv1OV1OlJdPoU+EJC/p5sQUJUQmN4r+q5+EhaaOUHpQ=="
NOT_FOUND = (
    "no Chromium in DPFDA_CHROMIUM, on the path or in .venv/chromium: install chromium, or run `make chromium` "
    "(which needs node and npm)"
)
UNPACK = "process.stdout.write(require('node:zlib').brotliDecompressSync(require('node:fs').readFileSync(0)))"
#: Libraries and fonts of its own, so that it starts where none are installed.
START = """#!/bin/sh
here="$(dirname "$(readlink -f "$0")")"
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/chromium-binary" "$@"
"""
FONTS = """<?xml version="1.0"?>
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="relative">font-cache</cachedir>
</fontconfig>
"""


def find_chromium(environment: Mapping[str, str] = os.environ, prefix: str = sys.prefix) -> Path | None:
    """The Chromium that tests drive, or None. A wrong `DPFDA_CHROMIUM` is never replaced by another one."""
    if named := environment.get("DPFDA_CHROMIUM"):
        found = shutil.which(named, path=environment.get("PATH", ""))
        return Path(found) if found else None
    for name in NAMES:
        if found := shutil.which(name, path=environment.get("PATH", "")):
            return Path(found)
    fetched = Path(prefix) / "chromium" / "chromium"
    return fetched if fetched.is_file() else None


def fetch(folder: Path) -> Path:
    """Fill a folder with Chromium from its npm package; what was there before is replaced once all is well."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise SystemExit(
            "The npm package holds a Chromium for Linux on x86_64 only: set DPFDA_CHROMIUM to another one."
        )
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            raise SystemExit(f"{tool} is needed to fetch Chromium, and is not there: install it, or chromium itself.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        fresh = Path(place) / "chromium"
        _unpack(_packed(Path(place)), fresh)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    return folder / "chromium"


def _packed(place: Path) -> tarfile.TarFile:
    """The package as npm has it, if it is the one known."""
    subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=place, check=True, stdout=subprocess.DEVNULL)
    (path,) = place.glob("*.tgz")
    content = path.read_bytes()
    if base64.b64encode(hashlib.sha512(content).digest()).decode() != DIGEST:
        raise SystemExit(f"{PACKAGE} is not the package that is known by this name: nothing of it is used.")
    return tarfile.open(fileobj=io.BytesIO(content))


def _unpack(package: tarfile.TarFile, folder: Path) -> None:
    def part(name: str) -> bytes:
        packed = package.extractfile(f"package/bin/{name}.br")
        assert packed is not None
        return subprocess.run(["node", "-e", UNPACK], input=packed.read(), check=True, capture_output=True).stdout

    folder.mkdir()
    for name in ("al2023", "fonts"):  # folders lib and fonts
        with tarfile.open(fileobj=io.BytesIO(part(f"{name}.tar"))) as inner:
            inner.extractall(folder, filter="data")
    (folder / "chromium-binary").write_bytes(part("chromium"))
    (folder / "fonts.conf").write_text(FONTS)
    (folder / "chromium").write_text(START)
    for name in ("chromium", "chromium-binary"):
        (folder / name).chmod(0o755)


if __name__ == "__main__":
    print(fetch(Path(sys.prefix) / "chromium"))
