# ruff: noqa: E501  (one line of data a case)
"""Tiny text sets, written by code, and programs that read them."""

import json

FEW = {"train": 3, "test": 2, "valid": 2, "dev": 2}


def csv_part(part, columns, first=0):
    """Rows of a CSV part, as the public sets have them."""
    return "".join(
        ",".join(f'"{part} {row + first} ""{column}"" , c"' for column in range(columns)) + "\n"
        for row in range(FEW[part])
    )


def tagged(part, separator):
    """Sentences of one word a line with two tags, blank lines between them."""
    sentences = [
        "".join(
            f"{part}{row}w{word}{separator}T{word}{separator}C{row}\n" for word in range(row + 1)
        )
        for row in range(FEW[part])
    ]
    return "\n".join(sentences) + "\n"


def translated(part, language):
    """An XML part of IWSLT."""
    lines = "".join(f'<seg id="{n}"> {part} {language} {n} </seg>\n' for n in (1, 2))
    return f'<?xml version="1.0"?>\n<mteval>\n<srcset>\n<doc docid="7">\n<url>u</url>\n<title>t</title>\n{lines}</doc>\n</srcset>\n</mteval>\n'


CLUE = {
    "afqmc": (
        {"sentence1": "a", "sentence2": "b", "label": "0"},
        {"id": 0, "sentence1": "a", "sentence2": "b"},
    ),
    "tnews": (
        {"label": "102", "label_desc": "n", "sentence": "s", "keywords": "k"},
        {"id": 0, "sentence": "s", "keywords": "k"},
    ),
    "iflytek": ({"label": "11", "label_des": "d", "sentence": "s"}, {"id": 0, "sentence": "s"}),
    "cmnli": (
        {"sentence1": "a", "sentence2": "b", "label": "neutral"},
        {"id": 0, "sentence1": "a", "sentence2": "b"},
    ),
    "wsc": (
        {
            "target": {"span2_index": 37, "span1_index": 5, "span1_text": "x", "span2_text": "y"},
            "idx": 261,
            "label": "false",
            "text": "t",
        },
        {
            "target": {"span2_index": 37, "span1_index": 5, "span1_text": "x", "span2_text": "y"},
            "idx": 3,
            "text": "t",
            "id": 0,
        },
    ),
    "csl": (
        {"id": 1, "abst": "a", "keyword": ["k", "w"], "label": "0"},
        {"id": 0, "abst": "a", "keyword": ["k", "w", "z"]},
    ),
}


def files():
    """Path to text of all files."""
    made = {}
    for name, columns in (
        ("AGNews", 3),
        ("AmazonReview", 3),
        ("DBpedia", 3),
        ("SogouNews", 3),
        ("YahooAnswers", 4),
        ("YelpReview", 2),
    ):
        for part in ("train", "test"):
            made[f"{name}/{part}.csv"] = csv_part(part, columns)
    for part in ("train", "test"):
        made[f"CoNLL2000/{part}.txt"] = tagged(part, " ")
        for label in ("pos", "neg"):
            for number in range(2):
                made[f"IMDB/{part}/{label}/{number}_{number + 7}.txt"] = (
                    f"{part} {label} {number} more"
                )
    for part, short in (("train", "train"), ("test", "test"), ("valid", "dev")):
        made[f"UDPOS/en-ud-tag.v2.{short}.txt"] = tagged(part, "\t")
    for part in ("train", "test", "valid"):
        made[f"PennTreebank/ptb.{part}.txt"] = f" {part} one \n {part} two \n\n"
        made[f"WikiText/wiki.{part}.tokens"] = f" \n = {part} = \n \n one \n"
    made["EnWik9/enwik9"] = "<a>\n  two\n\nthree\n"
    for folder, part in (
        ("training/train", "train"),
        ("validation/val", "valid"),
        ("mmt16_task1_test/test", "test"),
    ):
        for language in ("en", "de"):
            made[f"Multi30k/{folder}.{language}"] = f"{part} {language} 1\n{part} {language} 2\n"
    for part in ("train", "dev"):
        questions = [
            {
                "question": f"{part} q0",
                "id": "0",
                "answers": [{"text": "a", "answer_start": 3}, {"text": "bb", "answer_start": 4}],
            },
            {"question": f"{part} q1", "id": "1", "answers": [], "is_impossible": True},
        ]
        made[f"SQuAD/{part}-v1.1.json"] = json.dumps(
            {
                "version": "1.1",
                "data": [
                    {"title": "t", "paragraphs": [{"context": f"{part} c", "qas": questions}]}
                ],
            }
        )
        made[f"SST2/{part}.tsv"] = f"sentence\tlabel\n{part} one \t0\n{part} two\t1\n"
    made["SST2/test.tsv"] = "index\tsentence\n0\ttest one\n1\ttest two \n"
    place = "IWSLT2016/texts/de/en/de-en/"
    for language in ("de", "en"):
        lines = f"<url>u</url>\n<title>t</title>\ntrain {language} 1\n train {language} 2 \n"
        made[f"{place}train.tags.de-en.{language}"] = lines
        for year in ("tst2013", "tst2014", "dev2010"):
            made[f"{place}IWSLT16.TED.{year}.de-en.{language}.xml"] = translated(year, language)
        other = "IWSLT2017/texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo/"
        made[f"{other}train.tags.de-en.{language}"] = lines
        for year in ("dev2010", "tst2010"):
            made[f"{other}IWSLT17.TED.{year}.de-en.{language}.xml"] = translated(year, language)
    for task, (known, asked) in CLUE.items():
        for part, row in (("train", known), ("eval", known), ("test", asked)):
            made[f"CLUE/{task}_{part}.json"] = "".join(
                json.dumps({**row, "text": f"t{n}"} if task == "wsc" else row, ensure_ascii=False)
                + "\n"
                for n in range(2)
            )
    made["bad/train.csv"] = '"a","b","c"\n"d","e"\n'
    made["bad/train.txt"] = "one two\n"
    made["bad/train-v1.1.json"] = made["bad/dev-v1.1.json"] = "{ nope"
    made["bad/clue.json"] = '{"sentence1": "a"}\n'
    return made


def write(folder):
    """Write the files of all sets."""
    (folder / "sentences.txt").write_text("\n".join(SENTENCES))
    for name, text in files().items():
        path = folder / "sets" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


HELPERS = """
def text_set(name, *args, shuffle=False, workers=1, **more):
    made = getattr(ds, name + "Dataset")
    return made(folder + "/sets/" + name, *args, shuffle=shuffle, num_parallel_workers=workers, **more)
def clue(task, usage, name=None):
    path = folder + "/sets/" + (name or "CLUE/%s_%s.json" % (task.lower(), usage))
    return ds.CLUEDataset(path, task, usage, shuffle=False, num_parallel_workers=1)
def pieces(kind, size, source):
    X, path = ds.text, folder + "/sentences.txt"
    rest = size, 0.9995, X.SentencePieceModel[kind], {}
    if source == "file":
        vocab = X.SentencePieceVocab.from_file([path], *rest)
        return X.SentencePieceTokenizer(vocab, X.SPieceTokenizerOutType.STRING)
    vocab = X.SentencePieceVocab.from_dataset(ds.TextFileDataset(path, shuffle=False), ["text"], *rest)
    X.SentencePieceVocab.save_model(vocab, folder, "pieces.model")
    return X.SentencePieceTokenizer(folder + "/pieces.model", X.SPieceTokenizerOutType.INT)
"""

# Expressions that need the package sentencepiece.
SENTENCES = [
    f"the cat {word} sat on the mat number {n} with low lower lowest"
    for n in range(30)
    for word in ("big", "small", "old")
]
PIECES = [
    f"pieces({kind!r}, {size}, {source!r})('the lower cat zzz mat 7').tolist()"
    for kind, size in (("BPE", 45), ("CHAR", 30), ("WORD", 40))
    for source in ("file", "data")
]

PARTS = {
    **dict.fromkeys(
        (
            "AGNews",
            "AmazonReview",
            "CoNLL2000",
            "DBpedia",
            "IMDB",
            "SogouNews",
            "YahooAnswers",
            "YelpReview",
        ),
        ("train", "test"),
    ),
    **dict.fromkeys(
        ("IWSLT2016", "IWSLT2017", "Multi30k", "PennTreebank", "UDPOS", "WikiText"),
        ("train", "valid", "test"),
    ),
    "SQuAD": ("train", "dev"),
}

PIPELINES = [
    *[
        f"text_set({name!r}, {part!r})"
        for name, parts in PARTS.items()
        for part in (*parts, "all", None)
    ],
    *[f"text_set('SST2', {part!r})" for part in ("train", "dev", "test", None)],
    "text_set('EnWik9')",
    *[f"clue({task.upper()!r}, {part!r})" for task in CLUE for part in ("train", "eval", "test")],
    *[
        f"text_set({name!r}, 'all', workers=2)"
        for name in ("AGNews", "CoNLL2000", "IWSLT2016", "Multi30k", "SQuAD")
    ],
    *[
        f"text_set({name!r}, 'all', num_shards=2, shard_id={shard})"
        for name in ("IWSLT2017", "Multi30k", "IMDB", "SQuAD")
        for shard in (0, 1)
    ],
    *[
        f"text_set({name!r}, 'all', num_samples=3)"
        for name in ("AGNews", "UDPOS", "IMDB", "Multi30k", "SQuAD")
    ],
    "text_set('IWSLT2016', 'all', ('de', 'en'), 'dev2010', 'tst2013')",
    "text_set('Multi30k', 'train', ['de', 'en'])",
    "text_set('IMDB', 'train', num_samples=2)",
]
VALUES = []
ERRORS = {
    "ds.text.SentencePieceTokenizer(3, ds.text.SPieceTokenizerOutType.INT)": "Argument mode",
    "ds.text.SentencePieceTokenizer('x', 3)": "Argument out_type",
    "ds.text.SentencePieceTokenizer(folder + '/none', ds.text.SPieceTokenizerOutType.INT)('a')": "",
    **{f"text_set({name!r}, 'zz')": "is not within the valid set of" for name in (*PARTS, "SST2")},
    "clue('ZZ', 'train', 'CLUE/afqmc_train.json')": "task should be 'AFQMC'",
    "clue('AFQMC', 'zz', 'CLUE/afqmc_train.json')": "usage should be",
    "ds.AGNewsDataset(folder + '/none')": "does not exist or is not a directory or permission denied!",
    "ds.EnWik9Dataset(folder + '/none')": "does not exist or is not a directory or permission denied!",
    "ds.IMDBDataset(folder + '/none')": "does not exist or is not a directory or permission denied!",
    "ds.AGNewsDataset(folder + '/sets/CoNLL2000', 'train')": "",
    "ds.WikiTextDataset(folder + '/sets/CoNLL2000', 'train')": "",
    "ds.SQuADDataset(folder + '/sets/CoNLL2000', 'train')": "",
    "ds.IMDBDataset(folder + '/sets/CoNLL2000', 'train')": "",
    "ds.Multi30kDataset(folder + '/sets/CoNLL2000', 'train')": "",
    "ds.IWSLT2016Dataset(folder + '/sets/CoNLL2000', 'train')": "",
    "ds.AGNewsDataset(folder + '/sets/bad', 'train')": "train.csv",
    "clue('AFQMC', 'train', 'bad/clue.json')": "",
    "clue('AFQMC', 'train', 'none.json')": "did not match any files",
    "text_set('AGNews', 'train', shuffle='x')": "shuffle must be of boolean or enum of 'Shuffle' values",
    "text_set('AGNews', 'train', num_shards=2, shard_id=2)": "Input shard_id is not within the required interval of [0, 1]",
    "text_set('AGNews', 'train', num_shards=2)": "num_shards is specified and currently requires shard_id as well.",
    "text_set('AGNews', 'train', num_samples=-1)": "num_samples exceeds the boundary",
    "text_set('IWSLT2016', 'train', ('de', 'fr'))": "",
    "text_set('IWSLT2016', 'valid', ('de', 'en'), 'zz')": "is not within the valid set of",
    "text_set('IWSLT2017', 'train', ('de', 'fr'))": "",
    "text_set('Multi30k', 'train', ['de', 'fr'])": "",
    "text_set('Multi30k', 'train', 'de')": "",
}
