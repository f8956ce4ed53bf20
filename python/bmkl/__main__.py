"""python -m bmkl runs the command mkl."""

import subprocess
import sys

from ._binary import find_mkl

if __name__ == "__main__":
    sys.exit(subprocess.run([find_mkl(), *sys.argv[1:]]).returncode)
