"""Builds the plugin's library into the wheel; for a checkout it is built when first used."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent


class BuildWithLibrary(build_py):
    """Compiles the C++ sources beside the Python ones."""

    def run(self):
        """Copy the package, then compile into the copy."""
        super().run()
        if self.editable_mode:
            return
        sys.path.insert(0, str(HERE))
        from mindjax_ascend import library

        target = Path(self.build_lib) / "mindjax_ascend" / library.BUILT.name
        # Wheels are installed where they are built: the processor's own instructions may be used.
        library.build(library.plugin_units(), target, [*library.FLAGS, "-march=native"])


setup(cmdclass={"build_py": BuildWithLibrary}, has_ext_modules=lambda: True)
