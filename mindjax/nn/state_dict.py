"""A Cell's Parameters and buffers as a mapping, and back, with hooks and state of one's own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mindjax.core.errors import located
from mindjax.nn.hooks import HookHandle, HookMixin
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor

if TYPE_CHECKING:
    pass

_EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` found in one of both only.

    Attributes:
        missing_keys: names that the mapping lacks.
        unexpected_keys: names that the Cell lacks.
    """

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class StateDictMixin(HookMixin):
    """Saving to and loading from mappings, each Cell by itself and then those within."""

    T_destination = TypeVar("T_destination", bound=dict[str, Any])

    _params: OrderedDict[str, Parameter]
    _cells: OrderedDict[str, Any]
    _buffers: OrderedDict[str, Any]

    def get_extra_state(self) -> Any:
        """Give state beside Parameters and buffers; subclasses that have some define it.

        Raises:
            RuntimeError: the subclass does not.
        """
        raise located(
            RuntimeError,
            f"For '{self.cls_name}', 'get_extra_state' is not defined: a class with state of its "
            "own defines it and 'set_extra_state'.",
        )

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave; subclasses that have some define it.

        Args:
            state: the state.

        Raises:
            RuntimeError: the subclass does not.
        """
        raise located(
            RuntimeError,
            f"For '{self.cls_name}', 'set_extra_state' is not defined: a class with state of its "
            "own defines it and 'get_extra_state'.",
        )

    def _has_extra(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(StateDictMixin, method)

    # -- hooks; a program does not depend on them, so that they are kept apart from the others --

    def _state_hooks(self, kind: str) -> OrderedDict[int, Callable[..., Any]]:
        return self.__dict__.setdefault("_state_dict_hooks", {}).setdefault(kind, OrderedDict())

    def _add_state_hook(self, kind: str, hook: Callable[..., Any]) -> HookHandle:
        if not callable(hook):
            raise located(
                TypeError,
                f"For 'register_{kind}_hook', the 'hook' must be a function, but got "
                f"{type(hook).__name__}.",
            )
        table = self._state_hooks(kind)
        number = max(table, default=0) + 1
        table[number] = hook
        return HookHandle(table, number)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Run a function before `state_dict`.

        Args:
            hook: ``hook(cell, prefix, keep_vars)``.

        Returns:
            A handle to remove it with.
        """
        return self._add_state_hook("state_dict_pre", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Run a function after `state_dict`; it may change the mapping.

        Args:
            hook: ``hook(cell, state_dict, prefix, local_metadata)``, which gives None.

        Returns:
            A handle to remove it with.
        """
        return self._add_state_hook("state_dict_post", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Run a function before a Cell takes its part in `load_state_dict`.

        Args:
            hook: ``hook(cell, state_dict, prefix, local_metadata, strict, missing_keys,
                unexpected_keys, error_msgs)``; it may change them.

        Returns:
            A handle to remove it with.
        """
        return self._add_state_hook("load_state_dict_pre", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Run a function after a Cell has taken its part in `load_state_dict`.

        Args:
            hook: ``hook(cell, incompatible_keys)``, which gives None and may change the lists.

        Returns:
            A handle to remove it with.
        """
        return self._add_state_hook("load_state_dict_post", hook)

    # -- saving --

    def _persistent(self) -> Iterator[tuple[str, Any]]:
        """Walk over the Parameters and persistent buffers of this Cell alone."""
        for name, parameter in self._params.items():
            if parameter is not None:
                yield name, parameter
        transient = self.__dict__.get("_transient_buffers", ())
        for name in self._buffers:
            tensor = self.__dict__.get(name)
            if name not in transient and tensor is not None:
                yield name, tensor

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, value in self._persistent():
            destination[prefix + name] = value
        if self._has_extra("get_extra_state"):
            destination[prefix + _EXTRA] = self.get_extra_state()

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Give Parameters and persistent buffers by dotted attribute name.

        Args:
            *args: ``destination``, ``prefix`` and ``keep_vars`` by position.
            destination: mapping to fill; a new one by default.
            prefix: put before the names.
            keep_vars: handed to hooks; the mapping holds the Parameters themselves either way.

        Returns:
            The mapping.

        Raises:
            TypeError: an argument is of a wrong type.
            RuntimeError: a hook after it gives something.
        """
        named = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
        destination = named.get("destination", destination)
        prefix, keep_vars = named.get("prefix", prefix), named.get("keep_vars", keep_vars)
        for name, value, kind, said in (
            ("destination", destination, dict, "OrderedDict"),
            ("prefix", prefix, str, "string"),
            ("keep_vars", keep_vars, bool, "bool"),
        ):
            if not isinstance(value, kind) and not (name == "destination" and value is None):
                raise located(
                    TypeError, f"The type of {name} must be {said}, but got {type(value)}"
                )
        if destination is None:
            destination = OrderedDict()
            # A note for each Cell, as hooks get it.
            destination.__dict__["_metadata"] = OrderedDict()
        local: dict[str, Any] = {}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        for hook in list(self._state_hooks("state_dict_pre").values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, cell in self._cells.items():
            if cell is not None:
                cell.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in list(self._state_hooks("state_dict_post").values()):
            if hook(self, destination, prefix, local) is not None:
                raise located(RuntimeError, "state_dict post-hook must return None")
        return destination

    # -- loading --

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take this Cell's own part; subclasses may do it in another way."""
        noted = (missing_keys, unexpected_keys, error_msgs)
        for hook in list(self._state_hooks("load_state_dict_pre").values()):
            hook(self, state_dict, prefix, local_metadata, strict, *noted)
        own = dict(self._persistent())
        for name, target in own.items():
            key = prefix + name
            if key in state_dict:
                problem = _take(key, target, state_dict[key])
                if problem:
                    error_msgs.append(problem)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        if self._has_extra("set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        for key in state_dict if strict else ():
            if key.startswith(prefix) and key != extra:
                head, dot, _ = key[len(prefix) :].partition(".")
                if head not in (self._cells if dot else own):
                    unexpected_keys.append(key)

    def _load_all(
        self, state_dict: Any, prefix: str, metadata: Any, noted: tuple[list[str], ...]
    ) -> None:
        local = metadata.get(prefix[:-1], {}) if metadata is not None else {}
        self._load_from_state_dict(state_dict, prefix, local, True, *noted)
        for name, cell in self._cells.items():
            if cell is not None:
                head = f"{prefix}{name}."
                part = OrderedDict((k, v) for k, v in state_dict.items() if k.startswith(head))
                cell._load_all(part, head, metadata, noted)
        found = IncompatibleKeys(noted[0], noted[1])
        for hook in list(self._state_hooks("load_state_dict_post").values()):
            if hook(self, found) is not None:
                raise located(
                    RuntimeError,
                    "Hooks registered with 'register_load_state_dict_post_hook' must return None: "
                    "change the lists of 'incompatible_keys' in place.",
                )

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Any:
        """Set Parameters and buffers from a mapping by dotted attribute name.

        Args:
            state_dict: Tensors by name.
            strict: whether missing and unknown names are errors.

        Returns:
            The lists ``missing_keys`` and ``unexpected_keys``.

        Raises:
            TypeError: ``state_dict`` is not a mapping.
            RuntimeError: names or shapes do not fit.
        """
        if not isinstance(state_dict, Mapping):
            raise located(
                TypeError, f"Expected state_dict to be dict-like, got {type(state_dict)}."
            )
        noted: tuple[list[str], ...] = ([], [], [])
        missing, unexpected, problems = noted
        self._load_all(OrderedDict(state_dict), "", getattr(state_dict, "_metadata", None), noted)
        if strict and unexpected:
            problems.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}.")
        if strict and missing:
            problems.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}.")
        if problems:
            raise located(
                RuntimeError,
                f"Error(s) in loading state_dict for {self.cls_name}: {' '.join(problems)}",
            )
        return IncompatibleKeys(missing, unexpected)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{n}"' for n in names)


def _take(key: str, target: Any, value: Any) -> str:
    """Set a Parameter or buffer; gives what is wrong, an empty string if nothing is."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected Tensor or Tensor-like object '
            f"from checkpoint but received {type(value)}."
        )
    if value.shape != target.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {target.shape}."
        )
    if isinstance(target, Parameter):
        target.set_data(value.copy())
    else:
        target.assign_value(value.astype(target.dtype).copy())
    return ""
