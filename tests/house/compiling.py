"""How much work XLA:CPU puts into the programs of a test.

Tables of values hold thousands of small programs that run once: two thirds of their time is the
optimisation of code. What a table proves, the lowering of an op to StableHLO and its numbers, does
not depend on it.
"""

import os

# Folders whose tests are tables of small programs; the others compile as a user's program does.
TABLES = {"ops", "tensor", "mint", "numpy", "scipy", "nn", "mindir", "onnx"}
# Plain code for a fusion in place of MLIR's passes, and none of LLVM's passes over it.
QUICK = {"xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": 0}
# Set to any value, every test compiles as a user's program does.
FULL = "MINDJAX_TESTS_OPTIMIZED"


class Compiling:
    """The options that jax gives to XLA with each program of this process."""

    def __init__(self):
        self.options = None
        self._installed = False

    def choose(self, folder, marks=()):
        """Compile what follows quickly if it is a row of a table.

        Args:
            folder: name of the folder under tests/.
            marks: names of the test's marks; `table` and `optimized` go before the folder.
        """
        quick = (folder in TABLES or "table" in marks) and "optimized" not in marks
        quick = quick and FULL not in os.environ
        if quick and not self._installed:
            self._install()
        self.options = QUICK if quick else None

    def _install(self):
        import jax
        from jax._src import compiler

        self._installed = True
        plain = compiler.get_compile_options

        def get_compile_options(*args, env_options_overrides=None, **keywords):
            own = {**(self.options or {}), **(env_options_overrides or {})}
            return plain(*args, env_options_overrides=own or None, **keywords)

        # Another XLA may know other options: then its programs are compiled as a user's are.
        try:
            jax.jit(lambda x: x + 1, compiler_options=QUICK).lower(1.0).compile()
        except jax.errors.JaxRuntimeError:
            return
        compiler.get_compile_options = get_compile_options
