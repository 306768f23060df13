"""Losses and decoders of unaligned sequences: CTC, RNN transducers, edit distance, n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.handle import current, is_traced, unwrap
from mindjax.core.primitive import Primitive
from mindjax.ops.masking import need_values

if TYPE_CHECKING:
    pass

Array = jax.Array

# Stands for the logarithm of 0: differences of it are still numbers.
_NEVER = -1e30


def _integers(name: str, x: Array, owner: str) -> None:
    if x.dtype not in (np.int32, np.int64):
        raise located(
            TypeError,
            f"For '{owner}', the dtype of '{name}' must be Int32 or Int64, but got "
            f"{from_np(x.dtype)}.",
        )


def _lengths(name: str, x: Array, batch: int, owner: str) -> None:
    _integers(name, x, owner)
    if x.shape != (batch,):
        raise located(
            ValueError,
            f"For primitive[{owner}], the shape of '{name}' must be ({batch},), but got {x.shape}.",
        )


def host_values(*inputs: Any) -> list[Any] | None:
    """Give inputs as numpy arrays, or None where a program is compiled."""
    if current.frame is not None:
        return None
    arrays = [unwrap(x) for x in inputs]
    return None if any(is_traced(a) for a in arrays) else [np.asarray(a) for a in arrays]


def ctc_forward(
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    blank: int,
    merge: bool = True,
) -> tuple[Array, Array]:
    """Sum over all alignments of sequences (Graves 2006).

    Args:
        log_probs: (T, N, C), logarithms of probabilities.
        targets: (N, S), integers.
        input_lengths: (N,), at most T.
        target_lengths: (N,), at most S.
        blank: class of no label.
        merge: equal labels in a row are one, unless a blank stands between them.

    Returns:
        Negative logarithms (N,), and those of all prefixes (T, N, 2 S + 1); `_NEVER` for never.
    """
    time, batch, classes = log_probs.shape
    width = targets.shape[1]
    blanks = jnp.full((batch, width + 1), blank, np.int32)
    labels = jnp.clip(targets.astype(np.int32), 0, classes - 1)
    states = jnp.stack([blanks[:, :-1], labels], 2).reshape(batch, 2 * width)
    states = jnp.concatenate([states, blanks[:, -1:]], 1)
    never = jnp.asarray(_NEVER, log_probs.dtype)
    taken = jnp.take_along_axis(log_probs, jnp.broadcast_to(states, (time, *states.shape)), 2)
    number = 2 * target_lengths.astype(np.int32) + 1
    place = jnp.arange(2 * width + 1)
    inside = place < number[:, None]
    before = jnp.pad(states, [(0, 0), (2, 0)], constant_values=-1)[:, : 2 * width + 1]
    skip = (states != blank) & (place > 1)
    skip = skip & (states != before) if merge else skip
    stay = jnp.ones_like(skip) if merge else states == blank

    def moved(alpha: Array, by: int) -> Array:
        return jnp.pad(alpha, [(0, 0), (by, 0)], constant_values=_NEVER)[:, : 2 * width + 1]

    def step(alpha: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
        here, t = row
        reached = jnp.logaddexp(jnp.where(stay, alpha, never), moved(alpha, 1))
        reached = jnp.logaddexp(reached, jnp.where(skip, moved(alpha, 2), never))
        fresh = jnp.where(inside, jnp.maximum(reached + here, never), never)
        alive = (t < input_lengths)[:, None]
        # What lies past a sequence's end is written as never, and carried on as it was.
        return jnp.where(alive, fresh, alpha), jnp.where(alive, fresh, never)

    first = jnp.where(inside & (place < 2), taken[0], never)
    first = jnp.where((input_lengths > 0)[:, None], first, jnp.where(place == 0, 0, never))
    last, rest = lax.scan(step, first, (taken[1:], jnp.arange(1, time)))
    ends = jnp.take_along_axis(last, jnp.maximum(number[:, None] - jnp.asarray([1, 2]), 0), 1)
    label = jnp.where(target_lengths > 0, ends[:, 1], never)
    return -jnp.logaddexp(ends[:, 0], label), jnp.concatenate([first[None], rest])


def _infinite(losses: Array) -> Array:
    return losses > -_NEVER / 2


class CTCLossV2(Primitive):
    """Loss of unaligned sequences (Graves 2006; MindSpore: ``ops.CTCLossV2``).

    Args:
        blank: class of no label.
        reduction: only ``"none"``.
        zero_infinity: 0 in place of an infinite loss, and of its gradient.
    """

    blank: int = 0
    reduction: str = "none"
    zero_infinity: bool = False

    def __post_init__(self) -> None:
        checks.of_type("blank", self.blank, int, "CTCLossV2")
        checks.of_type("reduction", self.reduction, str, "CTCLossV2")
        checks.one_of("reduction", self.reduction, ("none",), "CTCLossV2")
        checks.boolean("zero_infinity", self.zero_infinity, "CTCLossV2")

    def __call__(
        self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any
    ) -> Any:
        """Compare sequences; the lengths are Tensors or tuples of ints.

        Raises:
            RuntimeError: a length is out of range (in PYNATIVE).
        """
        checks.tensors("CTCLossV2", log_probs=log_probs, targets=targets)
        pair = [
            np.asarray(x, np.int64) if isinstance(x, tuple | list) else x
            for x in (input_lengths, target_lengths)
        ]
        host = host_values(*pair)
        if host is not None and len(log_probs.shape) == 3 and host[0].shape == host[1].shape:
            most = log_probs.shape[0]
            if (host[0] > most).any() or (host[1] > host[0]).any() or (host[1] < 0).any():
                raise located(
                    RuntimeError,
                    f"For 'CTCLossV2', 'input_lengths' must be at most {most} and 'target_lengths' "
                    f"at most 'input_lengths', but got {host[0].tolist()} and {host[1].tolist()}.",
                )
        return super().__call__(log_probs, targets, *pair)

    def compute(
        self, log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array
    ) -> tuple[Array, Array]:
        """Compare (T, N, C) with targets (N, S).

        Returns:
            Losses (N,), and logarithms of the probabilities of prefixes (N, T, 2 S + 1).
        """
        owner = "CTCLossV2"
        for name, x, rank in (("log_probs", log_probs, 3), ("targets", targets, 2)):
            if x.ndim != rank:
                raise located(
                    ValueError,
                    f"For primitive[{owner}], the dim of {name} must be equal to {rank} , but got "
                    f"{x.ndim}.",
                )
        checks.floating("log_probs", log_probs.dtype, owner)
        _integers("targets", targets, owner)
        _lengths("input_lengths", input_lengths, log_probs.shape[1], owner)
        _lengths("target_lengths", target_lengths, log_probs.shape[1], owner)
        if not 0 <= self.blank < log_probs.shape[2]:
            raise located(
                ValueError,
                f"For primitive[{owner}], the blank must be in [0,{log_probs.shape[2]}), but got "
                f"{self.blank}.",
            )
        # The gradient is that of normalised probabilities, as in the original and in torch.
        total = jax.nn.logsumexp(log_probs, 2, keepdims=True)
        log_probs = log_probs - (total - lax.stop_gradient(total))
        lengths = (input_lengths, target_lengths)
        losses, alpha = ctc_forward(log_probs, targets, *lengths, self.blank)
        endless = _infinite(losses)
        # An infinite loss has gradient 0.
        finite = jnp.where(endless, 0, losses)
        losses = finite if self.zero_infinity else jnp.where(endless, jnp.inf, finite)
        alpha = lax.stop_gradient(alpha)
        alpha = jnp.where(alpha > _NEVER / 2, alpha, -jnp.inf)
        return losses.astype(log_probs.dtype), jnp.swapaxes(alpha, 0, 1)


class _LengthMean(Primitive, register=False):
    """Mean of losses, each divided by its target's length."""

    def compute(self, losses: Array, lengths: Array) -> Array:
        return jnp.mean(losses / jnp.maximum(lengths, 1).astype(losses.dtype))


class _Total(Primitive, register=False):
    """Sum of losses."""

    def compute(self, losses: Array) -> Array:
        return jnp.sum(losses)


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Compare unaligned sequences (Graves 2006; MindSpore: ``ops.ctc_loss``).

    Args:
        log_probs: (T, N, C), float, logarithms of probabilities.
        targets: (N, S), Int32 or Int64.
        input_lengths: (N,), a Tensor or tuple of ints.
        target_lengths: (N,), a Tensor or tuple of ints.
        blank: class of no label.
        reduction: ``"mean"`` of the losses divided by their targets' lengths, ``"sum"`` or
            ``"none"``.
        zero_infinity: 0 in place of an infinite loss, and of its gradient.

    Returns:
        The loss, 0-d or (N,), and logarithms of the probabilities of prefixes (N, T, 2 S + 1).

    Raises:
        TypeError: a dtype or argument is of a wrong type.
        ValueError: the shapes, ``blank`` or the reduction do not fit.
        RuntimeError: a length is out of range (in PYNATIVE).
    """
    checks.of_type("reduction", reduction, str, "ctc_loss")
    checks.one_of("reduction", reduction, ("none", "mean", "sum"), "ctc_loss")
    record = CTCLossV2(blank, "none", zero_infinity)
    losses, alpha = record(log_probs, targets, input_lengths, target_lengths)
    if reduction == "mean":
        if isinstance(target_lengths, tuple | list):
            target_lengths = np.asarray(target_lengths, np.int64)
        return _LengthMean()(losses, target_lengths), alpha
    return (_Total()(losses) if reduction == "sum" else losses), alpha


class CTCLoss(Primitive):
    """Loss of unaligned sequences, and its gradient (Graves 2006; MindSpore: ``ops.CTCLoss``).

    Args:
        preprocess_collapse_repeated: equal labels in a row become one before.
        ctc_merge_repeated: equal outputs in a row are one label, unless a blank stands between.
        ignore_longer_outputs_than_inputs: let labels be longer than inputs.
    """

    preprocess_collapse_repeated: bool = False
    ctc_merge_repeated: bool = True
    ignore_longer_outputs_than_inputs: bool = False

    def __post_init__(self) -> None:
        for name in type(self)._fields:
            checks.boolean(name, getattr(self, name), "CTCLoss")

    def __call__(
        self, x: Any, labels_indices: Any, labels_values: Any, sequence_length: Any
    ) -> Any:
        """Compare logits (T, N, C), whose last class is the blank, with sparse labels.

        Args:
            x: (T, N, C), float.
            labels_indices: (number, 2), Int64: batch and place of every label.
            labels_values: (number,), Int32.
            sequence_length: (N,), Int32, at most T.

        Returns:
            Losses (N,), and the gradient of their sum (T, N, C).

        Raises:
            RuntimeError: a length is out of range (in PYNATIVE).
        """
        checks.tensors("CTCLoss", x=x, labels_indices=labels_indices)
        checks.tensors("CTCLoss", labels_values=labels_values, sequence_length=sequence_length)
        host = host_values(labels_indices, sequence_length)
        if host is not None and host[0].ndim == 2 and host[1].ndim == 1 and len(x.shape) == 3:
            if (host[1] > x.shape[0]).any():
                raise located(
                    RuntimeError,
                    f"For 'CTCLoss', 'sequence_length' must be at most {x.shape[0]}, but got "
                    f"{host[1].tolist()}.",
                )
            counts = np.bincount(host[0][:, 0], minlength=host[1].shape[0])[: host[1].shape[0]]
            if not self.ignore_longer_outputs_than_inputs and (counts > host[1]).any():
                raise located(
                    RuntimeError,
                    "For 'CTCLoss', the labels must not be longer than the inputs, but got lengths "
                    f"{counts.tolist()} and {host[1].tolist()}.",
                )
        return super().__call__(x, labels_indices, labels_values, sequence_length)

    def compute(self, x: Array, indices: Array, values: Array, lengths: Array) -> Any:
        """Sum over alignments, and differentiate."""
        owner = "CTCLoss"
        checks.floating("x", x.dtype, owner)
        if x.ndim != 3 or indices.ndim != 2 or indices.shape[1] != 2:
            raise located(
                ValueError,
                f"For '{owner}', 'x' must be (T, N, C) and 'labels_indices' (number, 2), but got "
                f"shapes {x.shape} and {indices.shape}.",
            )
        if values.shape != indices.shape[:1]:
            raise located(
                ValueError,
                f"For '{owner}', the length of 'labels_values' must be {indices.shape[0]}, but got "
                f"shape {values.shape}.",
            )
        for name, array in (("labels_indices", indices), ("labels_values", values)):
            _integers(name, array, owner)
        time, batch, classes = x.shape
        _lengths("sequence_length", lengths, batch, owner)
        width = max(min(values.shape[0], time), 1)
        dense = jnp.full((batch, width), -1, np.int32)
        dense = dense.at[indices[:, 0], indices[:, 1]].set(values.astype(np.int32), mode="drop")
        counts = jnp.zeros(batch, np.int32).at[indices[:, 0]].add(1, mode="drop")
        if self.preprocess_collapse_repeated:
            fresh = (dense >= 0) & jnp.pad(
                dense[:, 1:] != dense[:, :-1], [(0, 0), (1, 0)], constant_values=True
            )
            order = jnp.argsort(~fresh, axis=1, stable=True)
            dense, counts = jnp.take_along_axis(dense, order, 1), fresh.sum(1).astype(np.int32)
        wide = jnp.promote_types(x.dtype, np.float32)

        def losses(logits: Array) -> Array:
            probs = jax.nn.log_softmax(logits, 2)
            merge = self.ctc_merge_repeated
            found = ctc_forward(probs, dense, lengths, counts, classes - 1, merge)[0]
            endless = _infinite(found) | (counts > lengths)
            return jnp.where(endless, jnp.inf, jnp.where(endless, 0, found))

        logits = x.astype(wide)
        loss, back = jax.vjp(losses, logits)
        gradient = lax.stop_gradient(back(jnp.ones_like(loss))[0])
        return loss.astype(x.dtype), gradient.astype(x.dtype)


class CTCGreedyDecoder(Primitive):
    """The best class of every step, joined (Graves 2006; MindSpore: ``ops.CTCGreedyDecoder``).

    The number of labels depends on values, so that it cannot be compiled.

    Args:
        merge_repeated: equal classes in a row are one, unless a blank stands between.
    """

    merge_repeated: bool = True
    concrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.boolean("merge_repeated", self.merge_repeated, "CTCGreedyDecoder")

    def compute(self, x: Array, lengths: Array) -> tuple[Any, ...]:
        """Decode (T, N, C), whose last class is the blank, on the host.

        Returns:
            Indices (number, 2), labels (number,) and shape (2,) of a sparse matrix, Int64, and the
            negative sum of the best logits (N, 1).
        """
        owner = "CTCGreedyDecoder"
        need_values(owner, "take the argmax", x, lengths)
        checks.floating("inputs", x.dtype, owner)
        if x.ndim != 3:
            raise located(
                ValueError, f"For '{owner}', the rank of 'inputs' must be 3, but got {x.ndim}."
            )
        _lengths("sequence_length", lengths, x.shape[1], owner)
        logits, ends = np.asarray(x), np.asarray(lengths)
        if (ends > x.shape[0]).any():
            raise located(
                RuntimeError,
                f"For '{owner}', 'sequence_length' must be at most {x.shape[0]}, but got "
                f"{ends.tolist()}.",
            )
        best, blank = logits.argmax(2), x.shape[2] - 1
        indices, values, longest = [], [], 0
        for b, end in enumerate(ends):
            row = best[:end, b]
            keep = row != blank
            if self.merge_repeated and end:
                keep[1:] &= row[1:] != row[:-1]
            labels = row[keep]
            indices += [(b, i) for i in range(len(labels))]
            values += labels.tolist()
            longest = max(longest, len(labels))
        steps = np.arange(x.shape[0])[:, None] < ends
        scores = -np.where(steps, logits.max(2), 0).sum(0, dtype=logits.dtype)[:, None]
        return (
            jnp.asarray(np.asarray(indices, np.int64).reshape(-1, 2)),
            jnp.asarray(np.asarray(values, np.int64)),
            jnp.asarray(np.asarray([x.shape[1], longest], np.int64)),
            jnp.asarray(scores),
        )


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> Any:
    """Join the best class of every step (MindSpore: ``ops.ctc_greedy_decoder``).

    Args:
        inputs: (T, N, C), float; the last class is the blank.
        sequence_length: (N,), Int32, at most T.
        merge_repeated: equal classes in a row are one, unless a blank stands between.

    Returns:
        Indices (number, 2), labels (number,) and shape (2,) of a sparse matrix, Int64, and the
        negative sum of the best logits (N, 1).

    Raises:
        TypeError: ``merge_repeated`` is no bool.
        ValueError: a shape does not fit.
        RuntimeError: a length is above T.
    """
    return CTCGreedyDecoder(merge_repeated)(inputs, sequence_length)


class RNNTLoss(Primitive):
    """Loss of a transducer, and its gradient (Graves 2012; MindSpore: ``ops.RNNTLoss``).

    Args:
        blank_label: class of no label.
    """

    blank_label: int = 0

    def __post_init__(self) -> None:
        checks.of_type("blank_label", self.blank_label, int, "RNNTLoss")

    def compute(
        self, acts: Array, labels: Array, input_lengths: Array, label_lengths: Array
    ) -> tuple[Array, Array]:
        """Compare logits (B, T, U, V) with labels (B, U - 1).

        Args:
            acts: (B, T, U, V), float; normalised over V here.
            labels: (B, U - 1), Int32.
            input_lengths: (B,), Int32, at most T.
            label_lengths: (B,), Int32, at most U - 1.

        Returns:
            Losses (B,), and the gradient of their sum (B, T, U, V).
        """
        owner = "RNNTLoss"
        checks.floating("acts", acts.dtype, owner)
        if acts.ndim != 4 or labels.shape != (acts.shape[0], acts.shape[2] - 1):
            raise located(
                ValueError,
                f"For '{owner}', 'acts' must be (B, T, U, V) and 'labels' (B, U - 1), but got "
                f"shapes {acts.shape} and {labels.shape}.",
            )
        for name, x in (("labels", labels),):
            _integers(name, x, owner)
        _lengths("input_lengths", input_lengths, acts.shape[0], owner)
        _lengths("label_lengths", label_lengths, acts.shape[0], owner)
        if not 0 <= self.blank_label < acts.shape[3]:
            raise located(
                ValueError,
                f"For '{owner}', the 'blank_label' must be in [0, {acts.shape[3]}), but got "
                f"{self.blank_label}.",
            )
        wide = jnp.promote_types(acts.dtype, np.float32)

        def losses(logits: Array) -> Array:
            return jax.vmap(self._one)(logits, labels, input_lengths, label_lengths)

        cost, back = jax.vjp(losses, acts.astype(wide))
        gradient = lax.stop_gradient(back(jnp.ones_like(cost))[0])
        return cost.astype(acts.dtype), gradient.astype(acts.dtype)

    def _one(self, logits: Array, labels: Array, time: Array, count: Array) -> Array:
        """Sum over the alignments of one sequence, (T, U, V)."""
        probs = jax.nn.log_softmax(logits, 2)
        silent = probs[..., self.blank_label]
        spoken = jnp.take_along_axis(probs[:, :-1], labels.astype(np.int32)[None, :, None], 2)
        spoken = spoken[..., 0]
        never = jnp.asarray(_NEVER, probs.dtype)

        def along(start: Array, emit: Array) -> Array:
            """Let labels follow each other within one step of time."""

            def step(left: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
                from_below, label = row
                here = jnp.logaddexp(from_below, left + label)
                return here, here

            _, rest = lax.scan(step, start[0], (start[1:], emit))
            return jnp.concatenate([start[:1], rest])

        begin = jnp.full(silent.shape[1], never).at[0].set(0)
        first = along(begin, spoken[0])

        def advance(alpha: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
            quiet, emit = row
            fresh = along(alpha + quiet, emit)
            return fresh, fresh

        _, later = lax.scan(advance, first, (silent[:-1], spoken[1:]))
        alphas = jnp.concatenate([first[None], later])
        return -(alphas[time - 1, count] + silent[time - 1, count])


class EditDistance(Primitive):
    """Levenshtein distance of sequences in sparse form (MindSpore: ``ops.EditDistance``).

    The lengths depend on values, so that it cannot be compiled.

    Args:
        normalize: divide by the length of the truth.
    """

    normalize: bool = True
    concrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.boolean("normalize", self.normalize, "EditDistance")

    def compute(
        self,
        hypothesis_indices: Array,
        hypothesis_values: Array,
        hypothesis_shape: Array,
        truth_indices: Array,
        truth_values: Array,
        truth_shape: Array,
    ) -> Array:
        """Compare (n, R) indices, (n,) values and (R,) shape with those of the truth, on the host.

        Returns:
            Float32 array of the larger shape without its last axis.
        """
        owner = "EditDistance"
        given = (hypothesis_indices, hypothesis_values, hypothesis_shape)
        wanted = (truth_indices, truth_values, truth_shape)
        need_values(owner, "compare dense sequences", *given, *wanted)
        pairs = (
            ("hypothesis", hypothesis_indices, hypothesis_values, hypothesis_shape),
            ("truth", truth_indices, truth_values, truth_shape),
        )
        for name, indices, values, shape in pairs:
            fits = indices.ndim == 2 and values.shape == indices.shape[:1] and shape.ndim == 1
            if not fits or shape.shape[0] != indices.shape[1] or shape.shape[0] < 2:
                raise located(
                    ValueError,
                    f"For '{owner}', the {name} must be indices (n, R), values (n,) and a shape "
                    f"(R,), but got shapes {indices.shape}, {values.shape} and {shape.shape}.",
                )
        if hypothesis_shape.shape != truth_shape.shape:
            raise located(
                ValueError,
                f"For '{owner}', the ranks of hypothesis and truth must be equal, but got "
                f"{hypothesis_shape.shape[0]} and {truth_shape.shape[0]}.",
            )
        sizes = np.maximum(np.asarray(hypothesis_shape), np.asarray(truth_shape))[:-1]
        guesses, truths = (
            _sequences(np.asarray(indices), np.asarray(values)) for _, indices, values, _ in pairs
        )
        out = np.zeros(tuple(int(n) for n in sizes), np.float32)
        for place in {*guesses, *truths}:
            guess, truth = guesses.get(place, []), truths.get(place, [])
            distance = float(_levenshtein(guess, truth))
            if self.normalize:
                distance = distance / len(truth) if truth else np.inf
            out[place] = distance
        return jnp.asarray(out)


def _sequences(indices: Any, values: Any) -> dict[tuple[int, ...], list[Any]]:
    found: dict[tuple[int, ...], list[Any]] = {}
    for index, value in zip(indices, values.tolist(), strict=True):
        found.setdefault(tuple(int(i) for i in index[:-1]), []).append(value)
    return found


def _levenshtein(a: list[Any], b: list[Any]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]


class NoRepeatNGram(Primitive):
    """Logarithms of probabilities without words that repeat an n-gram.

    MindSpore: ``ops.NoRepeatNGram``.

    Args:
        ngram_size: n.
    """

    ngram_size: int = 1

    def __post_init__(self) -> None:
        value = checks.of_type("ngram_size", self.ngram_size, int, "NoRepeatNGram")
        if value < 1:
            raise located(
                ValueError,
                f"For 'NoRepeatNGram', the 'ngram_size' must be int and must >= 1, but got "
                f"{value}.",
            )

    def compute(self, state_seq: Array, log_probs: Array) -> Array:
        """Bar words of (batch, beams, vocabulary) after sequences (batch, beams, length).

        Returns:
            ``log_probs`` with the lowest number of its dtype for barred words.
        """
        owner = "NoRepeatNGram"
        _integers("state_seq", state_seq, owner)
        checks.floating("log_probs", log_probs.dtype, owner)
        if state_seq.ndim != 3 or log_probs.ndim != 3 or state_seq.shape[:2] != log_probs.shape[:2]:
            raise located(
                ValueError,
                f"For '{owner}', 'state_seq' must be (batch, beams, length) and 'log_probs' "
                f"(batch, beams, vocabulary), but got shapes {state_seq.shape} and "
                f"{log_probs.shape}.",
            )
        n, length = self.ngram_size, state_seq.shape[2]
        if n > length:
            raise located(
                ValueError,
                f"For primitive[{owner}], the ngram_size must be less than or equal to state_seq "
                f"shape[2] + 1 which is {length}, but got {n}.",
            )
        count = length - n + 1
        matches = jnp.ones((*state_seq.shape[:2], count), np.bool_)
        for i in range(n - 1):
            tail = state_seq[..., length - n + 1 + i]
            matches = matches & (state_seq[..., i : i + count] == tail[..., None])
        words = state_seq[..., n - 1 :]
        vocabulary = log_probs.shape[2]
        hot = words[..., None] == jnp.arange(vocabulary, dtype=words.dtype)
        barred = (hot & matches[..., None]).any(2)
        least = np.asarray(jnp.finfo(log_probs.dtype).min, log_probs.dtype)
        return jnp.where(barred, least, log_probs)
