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


def main(requirements: pathlib.Path, folder: pathlib.Path) -> None:
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    fetched = folder / "fetched"
    if fetched.exists() and fetched.read_text() == wanted:
        return
    with tempfile.TemporaryDirectory() as downloads:
        print(f"fetching the wheels of {requirements.name} from PyPI", file=sys.stderr)
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                               "--only-binary=:all:", "--require-hashes", "-d", downloads, "-r", requirements],
                              stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"wheels.py: pip could not fetch what {requirements} names")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for wheel in sorted(pathlib.Path(downloads).glob("*.whl")):
            unpack(wheel, folder)
    fetched.write_text(wanted)


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
