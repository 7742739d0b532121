"""The one thing pyproject.toml cannot say: the compiled kernels, which are optional.

Without a C compiler the package installs all the same, and computes with PyTorch alone.
"""

import sys
from pathlib import Path

from setuptools import Extension, setup

KERNELS = Path("src/regard/kernels")

# -O3 without -ffast-math: that would let NaN pass unseen, and with older compilers it changes
# how the whole process rounds. -Wno-psabi: vectors never cross between compiled files.
FLAGS = ["-std=gnu11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi"]

native = Extension(
    "regard.kernels._native",
    sources=sorted(path.as_posix() for path in KERNELS.glob("*/*.c")),
    depends=sorted(path.as_posix() for path in KERNELS.glob("*/*.h")),
    extra_compile_args=FLAGS,
    libraries=["m"],
    optional=True,
)

# The library is opened with ctypes and has no Python module in it, which Windows insists on.
setup(ext_modules=[] if sys.platform == "win32" else [native])
