"""A compiled function: traced once, with the state it reads and writes; donated buffers."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax.core import eval_jaxpr

from mindjax.core import (
    allocator,
    host_memory,
    jax_private,
    simulation,
    solver_order,
    world,
)
from mindjax.core.caches import count_compilation
from mindjax.core.errors import drop_jax_notes, located, raised
from mindjax.core.fused import calls_back
from mindjax.core.handle import Handle, arrays_of, current, state_lock, store_all, wrap
from mindjax.core.interrupts import Shield
from mindjax.core.jaxprs import every
from mindjax.core.partition import partitioner
from mindjax.core.primitive import Primitive
from mindjax.core.state import (
    AttributeState,
    StateFrame,
    fresh_value,
    in_user_x64,
    token_owner,
    version_of,
)
from mindjax.core.translate import apart
from mindjax.core.values import ArraysAlone, ValuesNeeded
from mindjax.graph import saved_graphs
from mindjax.graph.control.blocks import Raised
from mindjax.graph.control.changes import Changes, noted
from mindjax.graph.control.raising import take_back
from mindjax.graph.direct_call import DirectCall, direct_call
from mindjax.graph.joined import Joined, join, joined
from mindjax.graph.journal import Compilation
from mindjax.graph.sharing import Families
from mindjax.graph.signature import Result, Signature, dicts_among, rebuild
from mindjax.tensor.parameter import Parameter, epoch

# What getrefcount says of an array that nothing but its handle's slot holds.
_ONE_OWNER = 2
# jax traces an inner jit again under another value of this.
_retrace = jax.make_user_context()
_numbers = itertools.count(1)


class Program:
    """One function for one signature.

    Args:
        function: the user's function on Tensors.
        args: positional arguments of the first call.
        kwargs: keyword arguments of the first call.
        signature: the arguments taken apart.
        families: executables of the same function's other programs.
        entry: the journal's; None for one that it does not keep.
        may_leave: whether the caller runs the function op by op where a trace needs values.
        arrays: whether the caller runs the function itself where it computes with numpy arrays
            alone.
        joins: whether it may run as a part of what the deferred engine has recorded.

    Raises:
        ValuesNeeded: it does; Python's objects are as they were.
        ArraysAlone: the same.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        signature: Signature,
        families: Families,
        entry: Compilation | None = None,
        may_leave: bool = False,
        arrays: bool = False,
        joins: bool = False,
    ) -> None:
        self._joins = joins
        entry = Compilation(function, 1, "") if entry is None else entry
        world.join()
        allocator.prepare()
        self._families, self.entry = families, entry
        self._partitioner = partitioner()
        self._numbers: list[Any] = []
        self._reported = False
        # Places of the state that waits on the host, of a program on one device.
        self._on_host: list[int] = []
        self.name = getattr(function, "__qualname__", type(function).__name__)
        frame = StateFrame(root=True)
        frame.may_leave = may_leave
        enter = tuple(families.writers)
        with noted() as changes, _giving_up(changes, arrays), entry.phase("trace"):
            closed, self.result, self.reached = _trace(
                function, args, kwargs, signature, frame, simulation.blanks(), enter
            )
        hidden = _hidden(closed, frame)
        if arrays and not (changes.library or frame.captured):
            frame.close()
            changes.undo()
            raise ArraysAlone
        if hidden:
            # A user's own jax.jit inside the function holds state as constants of its own: trace
            # again with that state as inputs, past what jax kept of the inner function.
            frame.close()
            changes.undo()
            frame = StateFrame(root=True)
            frame.may_leave = may_leave
            with _retrace(next(_numbers)), entry.phase("trace"):
                closed, self.result, self.reached = _trace(
                    function, args, kwargs, signature, frame, (*hidden, *simulation.blanks()), enter
                )
        self._epoch, self._refused = epoch(), -1
        self._guards = [(cell, cell.guard()) for cell in frame.guards]
        self.jaxpr = closed.jaxpr
        self._effects = self.jaxpr.effects - jax_private.named_effects(self.jaxpr)
        self._spreads = world.transport.spreads(self.jaxpr)
        self._generation = world.generation()
        owners = {id(token): handle for handle, token in frame.captured.items()}
        self._take_apart(closed.consts, owners, frame)
        self._flags = [(h, h.requires_grad) for h in frame.captured if isinstance(h, Parameter)]
        self._concrete = list(frame.concrete.items())
        self._attributes = [(s.owner, s.name, v) for s, v in frame.constants]
        for owner, name in frame.unexpected:
            note_written = getattr(owner, "note_written", None)
            if note_written is not None:
                note_written(name)
                families.writers[owner] = None
        self._errors = frame.errors[0] if frame.errors else None
        self.record = GraphCall(self)
        self._compiled: Any = None
        self._direct: DirectCall | None = None
        self._joined: Joined | None = None
        frame.close()
        if self._errors is not None:
            self._errors.marks.clear()

    def _take_apart(self, consts: Sequence[Any], owners: dict[int, Handle], frame: Any) -> None:
        """Sort the captured arrays: state that is written, state that is read, constants."""
        written = list(frame.written)
        kinds: list[Handle | None] = [owners.get(id(c)) for c in consts]
        donate = not self._effects and not calls_back(self.jaxpr)
        self.donated: list[Handle] = []
        self.read: list[Handle] = []
        self.constants: list[Any] = []
        self._order: list[tuple[int, int]] = []
        if donate:
            # jax gives a donated buffer to the first result of its shape and dtype: in the order of
            # the results each Parameter gets its own, and XLA need not copy them around.
            captured = {h for h in kinds if h is not None}
            for handle in written:
                if handle in captured and not isinstance(handle, AttributeState):
                    self.donated.append(handle)
        places = {handle: i for i, handle in enumerate(self.donated)}
        for const, handle in zip(consts, kinds, strict=True):
            if handle is None:
                self._order.append((2, len(self.constants)))
                self.constants.append(const)
            elif handle in places:
                self._order.append((0, places[handle]))
            else:
                self._order.append((1, len(self.read)))
                self.read.append(handle)
        self.written = written
        avals = {h: jax.typeof(c) for c, h in zip(consts, kinds, strict=True) if h is not None}
        self._avals = [avals[h] for h in [*self.donated, *self.read]]

    def valid(self) -> bool:
        """Tell whether everything that was a constant while tracing is still the same."""
        if self._concrete and any(version_of(h) != version for h, version in self._concrete):
            return False
        if self._spreads and self._generation != world.generation():
            return False
        now = epoch()
        if now == self._epoch:
            return True
        if now == self._refused:
            return False
        # Whatever else may have changed would have made another epoch.
        if any(cell.guard() != snapshot for cell, snapshot in self._guards) or any(
            p.requires_grad != flag for p, flag in self._flags
        ):
            self._refused = now
            return False
        self._epoch = now
        return True

    def evaluate(
        self, jaxpr: Any, flat: Sequence[Any], run: Callable[..., Any] = eval_jaxpr
    ) -> Any:
        """Evaluate the traced function.

        Args:
            jaxpr: the function, perhaps with further inputs.
            flat: arrays: donated state, read state, constants, arguments, further inputs.
            run: what evaluates a jaxpr, as jax's own ``eval_jaxpr`` does.

        Returns:
            The outputs, then the written state.
        """
        second = len(self.donated)
        third = second + len(self.read)
        fourth = third + len(self.constants)
        groups = flat[:second], flat[second:third], flat[third:fourth]
        consts = [groups[g][i] for g, i in self._order]
        return run(jaxpr, consts, *flat[fourth:])

    def _function(self, jaxpr: Any) -> Callable[..., Any]:
        """Give what is compiled: a function of flat arrays."""
        several = self._partitioner is not None or bool(self._spreads)
        evaluate, run = self.evaluate, solver_order.evaluation(jaxpr, several)

        def program(*flat: Any) -> Any:
            return evaluate(jaxpr, flat, run)

        program.__name__ = program.__qualname__ = "ms_" + self.name.replace(".", "_")
        return program

    def _lower(self, flat: list[Any], count: int, jaxpr: Any) -> Any:
        """Lower a traced function; ``count`` of the inputs are no numbers."""
        program, donated = self._function(jaxpr), tuple(range(len(self.donated)))
        if self._partitioner is not None:
            return self._spread(program, flat, donated, count)
        self._on_host = host_memory.waiting([*self.donated, *self.read])
        if self._on_host:
            given = self._on_host, len(flat), self._ties(), len(jaxpr.outvars)
            options = {"donate_argnums": donated, "keep_unused": True}
            structs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in flat]
            return host_memory.on_one_device(program, *given, **options).lower(*structs)
        return jax.jit(program, donate_argnums=donated, keep_unused=True).lower(*flat)

    def _compile(self, jaxpr: Any, arrays: list[Any], numbers: list[Any]) -> Any:
        flat = [*arrays, *(np.asarray(n) for n in numbers)]
        count_compilation("graph")
        old = jax_private.swap_x64(True)
        try:
            if self._spreads:
                donated = tuple(range(len(self.donated)))
                with self.entry.phase("compile"):
                    program = self._function(jaxpr)
                    compiled = world.transport.compile(program, flat, donated)
                saved_graphs.save(self.name, jaxpr, compiled.lowered, compiled)
                return compiled
            with self.entry.phase("lower"):
                lowered = self._lower(flat, len(arrays), jaxpr)
            with self.entry.phase("compile"):
                compiled = lowered.compile()
            saved_graphs.save(self.name, jaxpr, lowered, compiled)
            return compiled
        finally:
            jax_private.set_x64(old)

    def _spread(
        self, program: Callable[..., Any], flat: list[Any], donated: tuple[int, ...], count: int
    ) -> Any:
        """Lower for several devices; ``count`` inputs are no numbers."""
        state = [*self.donated, *self.read]
        arguments = range(len(state) + len(self.constants), count)
        cells = [cell for cell, _ in self._guards]
        assert self._partitioner is not None
        return self._partitioner.lower(
            program, flat, state, arguments, donated, self._ties(), cells
        )

    def _ties(self) -> dict[int, int]:
        """Give for each output that is state the input of the same state."""
        first = len(self.jaxpr.outvars) - len(self.written) - len(self.reached)
        places = {handle: i for i, handle in enumerate([*self.donated, *self.read])}
        return {first + i: places[h] for i, h in enumerate(self.written) if h in places}

    def matches(self) -> bool:
        """Tell whether the state still has the dtypes and shapes that were traced."""
        avals = self._avals
        state = [*self.donated, *self.read]
        return all(
            tuple(v.shape) == a.shape and v.dtype == a.dtype
            for v, a in zip((h.array for h in state), avals, strict=True)
        )

    def __call__(self, handles: Sequence[Any], dicts: Sequence[Any] = ()) -> Any:
        """Run the program on the Tensors of a call with this signature."""
        if current.tape is not None:
            return self._run_on_tape(handles, dicts)
        with state_lock:
            return self._run(handles, dicts)

    def prepare(self, handles: Sequence[Any]) -> None:
        """Compile for the state as it is now and Tensors of this signature."""
        donated = [h.array for h in self.donated]
        read = [h.array for h in self.read]
        arguments = [h.array for h in handles]
        arrays = [*donated, *read, *self.constants, *arguments]
        layout = (
            tuple(self._order),
            len(donated),
            None if self._partitioner is None else self._partitioner.key,
            tuple((tuple(a.shape), a.dtype) for a in arrays),
            tuple(getattr(a, "sharding", None) for a in arrays),
        )
        self._compiled, numbers = self._families.executable(
            self.jaxpr, layout, lambda jaxpr, extra: self._compile(jaxpr, arrays, extra)
        )
        self._numbers = [np.asarray(n) for n in numbers]
        self._direct = self._prepare_direct(arguments)
        if self._joins and self._direct is not None and not self.reached:
            state = [*self.donated, *self.read]
            places = {handle: i for i, handle in enumerate(state)}
            if all(h in places for h in self.written):
                groups = 0, len(donated), len(state)
                order = [groups[group] + place for group, place in self._order]
                ties = [places[h] for h in self.written]
                self._joined = joined(self.jaxpr, order, arrays[: len(order)], ties)
        if (self._partitioner is not None and not self._packed) or self._on_host:
            # State goes to its devices once; what a program writes stays there.
            state = [*self.donated, *self.read]
            moved = self._move([*donated, *read])
            for handle, array in zip(state, moved, strict=True):
                if isinstance(handle, Parameter):
                    handle.store(array)

    def _prepare_direct(self, arguments: list[Any]) -> DirectCall | None:
        """Prepare calls without a look at the state; None where something else must be done."""
        if (
            self._partitioner is not None
            or self._spreads
            or self._on_host
            or self._effects
            or self._errors is not None
        ):
            return None
        state = [*self.donated, *self.read]
        old = jax_private.swap_x64(True)
        try:
            return direct_call(
                self._compiled,
                _copy,
                state,
                len(self.donated),
                self.written,
                len(self.reached),
                (self.constants, arguments, self._numbers),
            )
        finally:
            jax_private.set_x64(old)

    @property
    def _packed(self) -> bool:
        """Whether the executable keeps the state of pipeline stages itself."""
        return hasattr(self._compiled, "pack")

    def _lies_elsewhere(self, inputs: list[Any]) -> bool:
        """Tell whether values were put on another device since the program was compiled."""
        if self._partitioner is not None or self._on_host:
            return False
        required = self._compiled.input_shardings[0]
        given = [getattr(a, "sharding", None) for a in inputs]
        return any(
            there is not None and there.device_set != here.device_set
            for here, there in zip(required, given, strict=True)
        )

    def _run_there(self, handles: Sequence[Any], inputs: list[Any]) -> Any:
        """Compile for the devices that the inputs lie on now, and run; nothing was taken over yet.

        Raises:
            ValueError: they lie on different devices.
        """
        try:
            self.prepare(handles)
            inputs[len(inputs) - len(self._numbers) :] = self._numbers
            return self._executable(*inputs)
        except ValueError as error:
            said = apart(inputs)
            if not said:
                raise
            raise located(ValueError, f"For '{self.name}', {said}.") from error

    def _move(self, arrays: list[Any]) -> list[Any]:
        """Put the first inputs where the executable takes them."""
        move = host_memory.move if self._partitioner is None else self._partitioner.move
        return move(arrays, self._compiled.input_shardings[0])

    def captures(self) -> list[Any]:
        """Give what the constants of the jaxpr are: Handles of state, and arrays."""
        groups = self.donated, self.read, self.constants
        return [groups[group][place] for group, place in self._order]

    @property
    def hlo(self) -> str:
        """The optimised HLO of the compiled program."""
        return self._compiled.as_text()

    @property
    def constant_names(self) -> list[str]:
        """The names of the state that the program captured, in the order of its constants."""
        names: list[str] = []
        for group, place in self._order:
            handle = (self.donated, self.read, [])[group][place] if group < 2 else None
            name = getattr(handle, "name", None) or "value"
            names.append(f"parameters/{name}" if handle is not None else f"constants/{place}")
        return names

    @property
    def cost(self) -> dict[str, float]:
        """What XLA says that one run costs: ``flops``, ``bytes accessed`` and others."""
        found = None if self._compiled is None else self._compiled.cost_analysis()
        return dict(found or {})

    @property
    def temporary_bytes(self) -> int:
        """Bytes of temporary buffers that one run needs."""
        return int(self._compiled.memory_analysis().temp_size_in_bytes)

    @property
    def peak_bytes(self) -> int:
        """Bytes of inputs, results and temporary buffers; a donated input is its result."""
        sizes = self._compiled.memory_analysis()
        kept = sizes.output_size_in_bytes - sizes.alias_size_in_bytes
        return int(sizes.argument_size_in_bytes + kept + sizes.temp_size_in_bytes)

    def _simulate(self, handles: Sequence[Any], dicts: Sequence[Any]) -> Any:
        """Lower the program for a report, and give results without values."""
        if not self._reported:
            self._reported = True
            state = [*self.donated, *self.read]
            arrays = [*(h.array for h in state), *self.constants, *(h.array for h in handles)]
            structs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
            old = jax_private.swap_x64(True)
            try:
                simulation.report(
                    name=self.name,
                    function=self._function(self.jaxpr),
                    lowered=self._lower(structs, len(arrays), self.jaxpr),
                    arrays=structs,
                    state=state,
                    ties=self._ties(),
                    partitioner=self._partitioner,
                )
            finally:
                jax_private.set_x64(old)
        outputs = [v.aval for v in self.jaxpr.outvars]
        outputs = [simulation.blank(a.shape, a.dtype) for a in outputs]
        count = len(outputs) - len(self.written) - len(self.reached)
        for handle, value in zip(self.written, outputs[count:], strict=False):
            if isinstance(handle, Parameter) and simulation.is_large(value.shape):
                handle.store(value)
        for i, value in zip(self.reached, outputs[count + len(self.written) :], strict=True):
            handles[i].assign_value(value)
        tensors = [wrap(a) for a in outputs[:count]]
        self.result.write_back(dicts, tensors)
        return self.result.build(tensors)

    def _run(self, handles: Sequence[Any], dicts: Sequence[Any]) -> Any:
        if simulation.active():
            return self._simulate(handles, dicts)
        if self._compiled is None:
            self.prepare(handles)
        if self._joined is not None:
            state = [*self.donated, *self.read]
            run = self._outputs
            found = join(self._joined, state, self.written, handles, self.constants, run)
            if found is not None:
                return self._finish(handles, dicts, [*found, *self.written])
        arguments = [h.array for h in handles]
        if self._packed:
            state = [*self.donated, *self.read, *self.constants, *arguments, *self._numbers]
            assert self._partitioner is not None and self._compiled is not None
            with Shield():
                outputs = self._compiled.run(state, self._partitioner.move)
                count = len(outputs) - len(self.written) - len(self.reached)
                for handle, value in zip(self.written, outputs[count:], strict=False):
                    if value is not None:
                        handle.store(value)
            return self._finish(handles, dicts, outputs)
        return self._finish(handles, dicts, self._outputs(arguments))

    def _outputs(self, arguments: list[Any]) -> list[Any]:
        """Run on the state as it is, and write it back; give all outputs."""
        checked = jax_private.nans_debugged()
        if self._direct is not None and not checked:
            with Shield():
                outputs = self._direct(arguments)
            if outputs is not None:
                return outputs
        read = arrays_of(self.read)
        with Shield():
            donated = []
            for value in arrays_of(self.donated):
                # Two references more: the list and the local name.
                if sys.getrefcount(value) > _ONE_OWNER + 2 or checked:
                    value = _copy(value)
                donated.append(value)
            value = None
            inputs = [*donated, *read, *self.constants, *arguments, *self._numbers]
            if self._partitioner is not None or self._on_host:
                inputs = self._move(inputs)
            try:
                outputs = self._executable(*inputs)
            except jax.errors.JaxRuntimeError:
                if raised:
                    # A Python function that the program called: its own error, not the program's.
                    raise raised.pop() from None
                raise
            except ValueError:
                if not self._lies_elsewhere(inputs):
                    raise
                outputs = self._run_there([wrap(a) for a in arguments], inputs)
            count = len(outputs) - len(self.written) - len(self.reached)
            store_all(self.written, outputs[count:])
        if self._direct is not None:
            self._direct.trust([*donated, *read])
        return outputs

    def _finish(self, handles: Sequence[Any], dicts: Sequence[Any], outputs: Any) -> Any:
        """Write what a run reached, and give its results."""
        count = len(outputs) - len(self.written) - len(self.reached)
        for i, array in zip(self.reached, outputs[count + len(self.written) :], strict=True):
            handles[i].assign_value(array)
        self._write_attributes()
        self._finish_effects()
        results = outputs[:count]
        if self._partitioner is not None:
            results = self._partitioner.leave(results)
        tensors = [wrap(a) for a in results]
        self.result.write_back(dicts, tensors)
        return self.result.build(tensors)

    def _finish_effects(self) -> None:
        """Wait for what the program prints, and raise what it raised."""
        if self._effects:
            jax.effects_barrier()
        if self._errors is not None:
            self._errors.raise_first()

    def _executable(self, *arrays: Any) -> Any:
        """Call the executable; what a transformation traced runs under `jax.disable_jit` too."""
        try:
            if jax_private.jit_disabled():
                with jax.disable_jit(False):
                    return self._compiled(*arrays)
            return self._compiled(*arrays)
        except jax_private.NanFound as error:
            raise located(
                FloatingPointError,
                f"The program of '{self.name}' gives a value that is {error.args[-1]} "
                "(jax.debug_nans): run it in PYNATIVE_MODE to see which op.",
            ) from None

    def _write_attributes(self) -> None:
        """Write the attributes that the function set to Python values."""
        for owner, name, value in self._attributes:
            setattr(owner, name, value)

    def _run_on_tape(self, handles: Sequence[Any], dicts: Sequence[Any]) -> Any:
        """Run as one op, so that gradients flow through arguments and state alike."""
        inputs = (*self.donated, *self.read, *self.constants, *handles)
        outputs = self.record(*inputs)
        count = len(outputs) - len(self.written) - len(self.reached)
        written = [*self.written, *(handles[i] for i in self.reached)]
        for handle, tensor in zip(written, outputs[count:], strict=True):
            handle.assign_value(tensor._value, tensor._node)
        self._write_attributes()
        self._finish_effects()
        self.result.write_back(dicts, outputs[:count])
        return self.result.build(outputs[:count])


class GraphCall(Primitive, register=False):
    """A whole program as one op on the tape."""

    keep_residuals = True
    own_executable = True

    program: Any

    def compute(self, *arrays: Any) -> Any:
        """Run the program on its state and arguments."""
        return tuple(self.program.evaluate(self.program.jaxpr, arrays))


@contextmanager
def _giving_up(changes: Changes, arrays: bool) -> Iterator[None]:
    """Undo what a trace did to Python's objects where it is given up."""
    try:
        yield
    except ValuesNeeded:
        changes.undo()
        if arrays and not changes.library:
            raise ArraysAlone from None
        raise
    except Exception:
        if arrays and not changes.library:
            # Arrays can do what Tensors cannot.
            changes.undo()
            raise ArraysAlone from None
        raise


def _trace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    signature: Signature,
    frame: StateFrame,
    explicit: Sequence[Handle],
    writers: Sequence[Any],
) -> tuple[Any, Result, list[int]]:
    kept: list[Result] = []
    # Arguments that in-place methods wrote.
    reached: list[int] = []

    def body(explicit_values: list[Any], *arrays: Any) -> list[Any]:
        frame.values.update(zip(explicit, explicit_values, strict=True))
        with frame:
            given = [wrap(a) for a in arrays]
            positional, named = rebuild(args, kwargs, given)
            dicts = dicts_among(positional, named)
            before = [dict(d) for d in dicts]
            for cell in writers:
                cell._enter_graph(frame)
            # A method of a Cell depends on its attributes even if it is not run by a call.
            enter = getattr(getattr(function, "__self__", None), "_enter_graph", None)
            if enter is not None:
                enter(frame)
            try:
                value = in_user_x64(function, *positional, **named)
            except Raised:
                # Every path raises when the program runs.
                value = None
            result = Result(value)
            result.keep_written(before, dicts)
            kept.append(result)
            frame.settle_attributes()
            take_back(frame)
            reached.extend(i for i, h in enumerate(given) if h in frame.in_place)
            changed = [given[i].array for i in reached]
            return result.arrays + [frame.values[h] for h in frame.written] + changed

    shapes = [jax.typeof(h.array) for h in signature.handles]
    user_x64, current.user_x64 = current.user_x64, jax_private.x64_enabled()
    old = jax_private.swap_x64(True)
    try:
        tokens = [fresh_value(h) for h in explicit]
        closed = jax.make_jaxpr(body, axis_env=world.transport.axes)(
            [jax.typeof(t) for t in tokens], *shapes
        )
    except BaseException as error:
        drop_jax_notes(error)
        raise
    finally:
        jax_private.set_x64(old)
        current.user_x64 = user_x64
        frame.restore_attributes()
    kept[0].forget()
    if explicit:
        jaxpr = closed.jaxpr
        if simulation.active():
            # Of all networks' Parameters without values: those of this program.
            jaxpr, kept_places = simulation.prune(jaxpr, len(explicit))
            explicit, tokens = [explicit[i] for i in kept_places], [tokens[i] for i in kept_places]
        count = len(explicit)
        jaxpr = jaxpr.replace(
            constvars=[*jaxpr.constvars, *jaxpr.invars[:count]],
            invars=jaxpr.invars[count:],
            debug_info=jaxpr.debug_info._replace(arg_names=None),
        )
        closed = closed.replace(jaxpr=jaxpr, consts=[*closed.consts, *tokens])
        frame.captured.update(zip(explicit, tokens, strict=True))
    return closed, kept[0], reached


def _hidden(closed: Any, frame: StateFrame) -> list[Handle]:
    """List state that stands among the constants of inner functions, also of earlier traces."""
    own = {id(token) for token in frame.captured.values()}
    inner = {id(c): c for c in closed.consts if id(c) not in own}
    for jaxpr in every(closed.jaxpr):
        inner.update((id(c), c) for c in getattr(jaxpr, "consts", ()))
    found = [h for h, token in frame.captured.items() if id(token) in inner]
    kept = (token_owner(c) for key, c in inner.items() if key not in own)
    return list(dict.fromkeys([*found, *(h for h in kept if h is not None)]))


_copy_array = jax.jit(lambda x: x.copy())


def _copy(array: Any) -> Any:
    old = jax_private.swap_x64(True)
    try:
        return _copy_array(array)
    finally:
        jax_private.set_x64(old)


def is_tracing_outside() -> bool:
    """Tell whether a jax trace that MindJAX did not start is running."""
    return current.frame is None and jax_private.tracing()
