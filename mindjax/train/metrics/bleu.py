"""The BLEU score of translations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.core.checks import of_type
from mindjax.core.errors import located
from mindjax.train.metrics.metric import Metric, MetricValue, rearrange_inputs


class BleuScore(Metric):
    """Share of n-grams that candidates have in common with references (Papineni et al. 2002).

    Args:
        n_gram: longest n-gram that counts, from 1 to 4.
        smooth: whether one is added to every count of an n-gram.

    Raises:
        TypeError: ``n_gram`` is not int or ``smooth`` is not bool.
        ValueError: ``n_gram`` is not from 1 to 4.

    MindSpore: ``mindspore.train.BleuScore``.
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False) -> None:
        super().__init__()
        self.n_gram = of_type("n_gram", n_gram, int, "BleuScore")
        if not 1 <= n_gram <= 4:
            raise located(
                ValueError,
                "For 'BleuScore', the argument 'n_gram' should range from 1 to 4, but got "
                f"{n_gram}.",
            )
        self.smooth = of_type("smooth", smooth, bool, "BleuScore")
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._matched = np.zeros(self.n_gram)
        self._counted = np.zeros(self.n_gram)
        self._candidate_words = 0
        self._reference_words = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in sentences.

        Args:
            *inputs: candidates, a list of lists of words, and for each candidate a list of
                references, which are lists of words.

        Raises:
            ValueError: the number of inputs is not 2, or the lists differ in length.
        """
        if len(inputs) != 2:
            raise located(
                ValueError,
                "For 'BleuScore.update', it needs 2 inputs (candidate_corpus, reference_corpus), "
                f"but got {len(inputs)}.",
            )
        candidates, references = inputs
        if len(candidates) != len(references):
            raise located(
                ValueError,
                "For 'BleuScore.update', 'translate_corpus' (inputs[0]) and 'reference_corpus' "
                f"(inputs[1]) should be equal in length, but got {len(candidates)}, "
                f"{len(references)}",
            )
        for candidate, translations in zip(candidates, references, strict=True):
            self._candidate_words += len(candidate)
            lengths = [len(sentence) for sentence in translations]
            self._reference_words += min(lengths, key=lambda n: abs(len(candidate) - n))
            counts = self._grams(candidate)
            known: Counter[tuple[Any, ...]] = Counter()
            for sentence in translations:
                known |= self._grams(sentence)
            for gram, count in (counts & known).items():
                self._matched[len(gram) - 1] += count
            for gram, count in counts.items():
                self._counted[len(gram) - 1] += count
        self._is_update = True

    def _grams(self, words: Sequence[Any]) -> Counter[tuple[Any, ...]]:
        return Counter(
            tuple(words[start : start + length])
            for length in range(1, self.n_gram + 1)
            for start in range(len(words) - length + 1)
        )

    def eval(self) -> MetricValue:
        """Compute the score.

        Returns:
            A number from 0 to 1.

        Raises:
            RuntimeError: there was no update.
        """
        if not self._is_update:
            raise self._not_updated()
        if self._matched.min() == 0:
            return MetricValue(0.0)
        more = 1.0 if self.smooth else 0.0
        precisions = (self._matched + more) / (self._counted + more)
        score = np.exp(np.log(precisions).mean())
        # Candidates that are shorter than their references are punished.
        if self._candidate_words <= self._reference_words:
            score *= np.exp(1 - self._reference_words / self._candidate_words)
        return MetricValue(score)
