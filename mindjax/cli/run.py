"""``mindjax run``: a script as Python itself would run it, with `import mindspore` answered."""

from __future__ import annotations

import io
import os
import runpy
import sys
from collections.abc import Sequence
from types import ModuleType, TracebackType

from mindjax.alias import install
from mindjax.core import failure, world
from mindjax.core.compile_cache import enable_for_run

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LAUNCHERS = (__file__, runpy.__file__, "<frozen runpy>", _OURS + "__main__.py")


def run(
    script: str, args: Sequence[str], as_module: bool = False, devices: int | None = None
) -> int:
    """Run a script or module as the main program of this process.

    Its exceptions, ``sys.exit`` and KeyboardInterrupt pass through, so that the process ends as
    under ``python script.py``; tracebacks begin in the script. The variable ``MS_PROFILER_OPTIONS``
    starts a profiler first. Compiled programs are kept on disk for the next run, unless jax or
    ``MINDJAX_COMPILE_CACHE`` says otherwise.

    Args:
        script: path of a Python file, or the name of a module.
        args: what the program finds in ``sys.argv[1:]``.
        as_module: ``script`` is the name of a module, as in ``python -m``.
        devices: how many devices the program uses; None leaves that to jax. A CPU becomes as many
            virtual ones.

    Returns:
        0, or 2 when the file cannot be read or the devices cannot be had.
    """
    if devices is not None:
        try:
            world.use_devices(devices)
        except ValueError as error:
            print(f"mindjax: {error}", file=sys.stderr)
            return 2
    install()
    enable_for_run()
    if os.environ.get("MS_PROFILER_OPTIONS"):
        from mindjax.profiler import EnvProfiler

        EnvProfiler.init_profiler()
    sys.argv = [script, *args]
    if as_module:
        _set_first_path(os.getcwd())
        try:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        except BaseException as error:
            _fail(error)
            raise
        return 0
    path = os.path.join(os.getcwd(), script)
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        print(f"mindjax: can't open file {script!r}: {error.strerror}", file=sys.stderr)
        return 2
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    main = ModuleType("__main__")
    main.__dict__.update(__file__=path, __cached__=None, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    try:
        exec(compile(source, path, "exec", dont_inherit=True), main.__dict__)
    except BaseException as error:
        _fail(error)
        raise
    return 0


def _set_first_path(folder: str) -> None:
    if sys.flags.safe_path:
        return
    if sys.path:
        sys.path[0] = folder
    else:
        sys.path.append(folder)


def _fail(error: BaseException) -> None:
    """Prepare the end of the process by an exception, which the other ranks need not wait for."""
    _hide_launcher()
    if not isinstance(error, SystemExit):
        world.transport.failed = 1
    elif error.code not in (None, 0):
        world.transport.failed = error.code if isinstance(error.code, int) else 1
        failure.note(f"SystemExit: {error.code}")


def _hide_launcher() -> None:
    """Let the traceback about to be printed begin in the user's program."""
    show = sys.excepthook

    def show_program(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        inner = trace
        while inner is not None and inner.tb_frame.f_code.co_filename in _LAUNCHERS:
            inner = inner.tb_next
        failure.note_exception(kind, error, inner)
        # A file that does not compile has no frame of its own: its error shows file and line.
        show(kind, error.with_traceback(inner), inner)

    sys.excepthook = show_program
