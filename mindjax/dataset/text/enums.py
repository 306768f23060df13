"""Enumerations of the transforms of text (MindSpore: ``dataset.text.utils``)."""

from enum import IntEnum


class JiebaMode(IntEnum):
    """Algorithms of a Jieba tokenizer."""

    MIX = 0
    MP = 1
    HMM = 2


class NormalizeForm(IntEnum):
    """Normal forms of Unicode."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class SentencePieceModel(IntEnum):
    """Models of SentencePiece."""

    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerLoadType(IntEnum):
    """Where a SentencePiece model is loaded from."""

    FILE = 0
    MODEL = 1


class SPieceTokenizerOutType(IntEnum):
    """What a SentencePiece tokenizer gives."""

    STRING = 0
    INT = 1
