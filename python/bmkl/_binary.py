"""Finds and runs the command mkl."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig

ENVIRONMENT = "BMKL_MKL"  # a path of the command that goes before all others


class CommandError(ValueError):
    """The command refused the data or a setting, or the fit failed; the text is the command's own."""


def _installed():
    """Yields the places where pip puts the command of this package."""
    name = "mkl" + (sysconfig.get_config_var("EXE") or "")
    yield os.path.join(sysconfig.get_path("scripts"), name)
    for scheme in sysconfig.get_scheme_names():
        if scheme.endswith("_user"):
            yield os.path.join(sysconfig.get_path("scripts", scheme=scheme), name)
    # pip install --target puts bin beside the package.
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", name)
    yield os.path.join(sys.prefix, "bin", name)


def find_mkl():
    """Returns the path of the command mkl.

    The environment variable BMKL_MKL goes first, then the command that was installed with this package, then the PATH.
    Raises FileNotFoundError if none is there.
    """
    own = os.environ.get(ENVIRONMENT)
    if own:
        if not os.path.isfile(own):
            raise FileNotFoundError(f"{ENVIRONMENT} is {own}, and there is no such file")
        return os.path.abspath(own)  # run changes the folder
    for path in _installed():
        if os.path.isfile(path):
            return path
    path = shutil.which("mkl")
    if path:
        return os.path.abspath(path)
    raise FileNotFoundError(f"the command mkl is not there: install the wheel for this platform, or set {ENVIRONMENT} to its path")


def run(arguments, folder):
    """Runs the command in a folder, and returns standard output and the lines of standard error.

    Raises CommandError with the command's message if it ends with an error. An interrupt ends the command too.
    """
    done = subprocess.run([find_mkl(), *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8")
    lines = done.stderr.splitlines()
    if done.returncode != 0:
        said = lines[-1] if lines else f"exit status {done.returncode}"
        if said.startswith("{"):  # with -json
            said = json.loads(said)["error"]
        raise CommandError(re.sub(r"^(mkl: )?((data\.(csv|npz)|model\.mkl): )?", "", said))
    return done.stdout, lines
