# ruff: noqa: E501, RUF001  (one line of data a case)
"""Calls of the transforms of text that run alike under MindSpore and under MindJAX.

Each is an expression over ``X`` (dataset.text), ``ds``, ``ms`` (dtypes), ``np`` and ``HELPERS``.
"""

HELPERS = """
vocab = X.Vocab.from_list(["book", "cholera", "era", "favor", "##ite", "my", "is", "love", "dur", "##ing", "the", "[UNK]", "床", "前"])
small = X.Vocab.from_list(["w1", "w2", "w3"], special_tokens=["<unk>"], special_first=True)
def words(*rows): return ds.GeneratorDataset([np.array(row) for row in rows], "text", shuffle=False)
def file(name, text):
    with open(folder + "/" + name, "w", encoding="utf-8") as out: out.write(text)
    return folder + "/" + name
vectors = X.Vectors.from_file(file("vectors.txt", "ok 0.418 0.24968 -0.41242\\n! 0.013441 0.23682 -0.16899\\nok 1 2 3\\nthis 0.15164 0.30177 -0.16763\\n"))
def lines(d): return list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))
"""

TABLE = [
    *[
        f"X.AddToken('T'{b})({x})"
        for b in ("", ", False")
        for x in ("['a', 'bb']", "[['a'], ['b']]")
    ],
    "X.Lookup(vocab)(['my', 'book'])",
    "X.Lookup(vocab, '[UNK]', ms.int64)('zzz')",
    "X.Lookup(vocab, '[UNK]', ms.float32)([['zzz', 'is']])",
    "X.Ngram(3, separator='-')(['a', 'b', 'c', 'd'])",
    "X.Ngram([2, 4], ('_', 5), ('$', 1))(['a', 'b', 'c'])",
    "X.Ngram(3)(['a'])",
    "X.SlidingWindow(2)([1, 2, 3, 4])",
    "X.SlidingWindow(2, -1)(['a', 'b', 'c'])",
    "X.ToNumber(ms.int8)(['1', '-2', '+3'])",
    "X.ToNumber(ms.float32)(['1.5', '-2e3'])",
    "X.ToNumber(ms.float16)('1.25')",
    "X.ToNumber(ms.uint64)('18446744073709551615')",
    "X.Truncate(2)(['a', 'b', 'c'])",
    "X.Truncate(9)([1.0, 2.0])",
    "X.Truncate(1)([[1, 2], [3, 4]])",
    *[
        f"X.TruncateSequencePair({n})(['a', 'b', 'c', 'd', 'e'], ['x', 'y', 'z'])"
        for n in (2, 3, 4, 7, 20)
    ],
    "X.TruncateSequencePair(3)([1, 2], [3, 4, 5])",
    *[
        f"X.{name}({args})({text!r})"
        for text in (
            "Welcome     To   BeiJing!",
            "  床前 明月光abc1,2 ",
            "",
            " ",
            "Привет, 世界。カタカナひらがな한국",
            "naïve\tß",
        )
        for name, args in (
            ("WhitespaceTokenizer", "True"),
            ("UnicodeCharTokenizer", "True"),
            ("UnicodeScriptTokenizer", "with_offsets=True"),
            ("UnicodeScriptTokenizer", "keep_whitespace=True, with_offsets=True"),
            ("RegexTokenizer", r"r'\s+', '', True"),
            ("RegexTokenizer", r"r'\s+|,', r'\s+', True"),
            ("BasicTokenizer", "with_offsets=True"),
            ("BasicTokenizer", "True, True, with_offsets=True"),
            ("CaseFold", ""),
            ("FilterWikipediaXML", ""),
        )
    ],
    "X.WhitespaceTokenizer()('a b')",
    *[
        f"X.BasicTokenizer({args})({text!r})"
        for args in (
            "",
            "preserve_unused_token=False",
            "lower_case=True, preserve_unused_token=False",
            "normalization_form=X.NormalizeForm.NFKC",
        )
        for text in ("[CLS] Ünï-code [unused12][SEP] x\x01y", "ﬁ ２５ [MASK]!?")
    ],
    *[
        f"X.NormalizeUTF8(X.NormalizeForm.{form})(['ṩ', 'ḍ̇', 'q̇', 'ﬁ', '2⁵', 'ẛ'])"
        for form in ("NONE", "NFC", "NFKC", "NFD", "NFKD")
    ],
    "X.CaseFold()(['Ab', 'ẞ', 'Ｆull'])",
    "X.RegexReplace('one', 'two')('onetwoonetwoone')",
    "X.RegexReplace('one', 'two', False)('onetwoone')",
    r"X.RegexReplace(r'(\w)(\d)', '$2-$1')('a1 b2')",
    r"X.RegexReplace(r'\p{L}+|[\p{Nd}_]', '#')('ab_12 é-ß')",
    r"X.RegexReplace(r'\P{L}', '')('ab_12 é-ß')",
    r"X.RegexReplace('[\\x{4E00}-\\x{9FFF}]', '*')('a床b')",
    *[
        f"X.FilterWikipediaXML()({text!r})"
        for text in (
            "<page> [[Category:Cats|x]] &amp; 42 [[Image:a.png|thumb|A cat]]",
            "Tom's {{cite}} [http://x.y Z] &nbsp; \n b",
            "#REDIRECT a",
            "a <b> c\n\n <d>e</d> &f;g 10 X",
        )
    ],
    *[
        f"X.WordpieceTokenizer(vocab{args})({words})"
        for args in (
            ", with_offsets=True",
            ", unknown_token='', with_offsets=True",
            ", suffix_indicator=''",
        )
        for words in (
            "['my', 'favorite', 'book', 'during', 'the', 'x', '']",
            "'favorite'",
            "['xx', '前']",
            "''",
        )
    ],
    "X.WordpieceTokenizer(vocab, max_bytes_per_token=4)(['my', 'favorite', 'choleraera'])",
    "X.WordpieceTokenizer(vocab)(['choleraera', '前前'])",
    *[
        f"X.BertTokenizer(vocab{args})({text!r})"
        for args in (
            "",
            ", with_offsets=True",
            ", lower_case=True, keep_whitespace=True, with_offsets=True",
        )
        for text in ("床前明月光", "My favorite book, DURing the [CLS]")
    ],
    "X.PythonTokenizer(lambda line: line.split())(np.array('Hello world'))",
    "X.PythonTokenizer(lambda line: line.split())(np.array([b'a b', b'c d']))",
    "X.to_str(np.array([b'a', 'é'.encode()]))",
    "X.to_bytes(np.array(['a', 'é']))",
    "small.tokens_to_ids(['w1', 'w3', 'zz'])",
    "small.tokens_to_ids('w2')",
    "small.tokens_to_ids(['w2'])",
    "small.tokens_to_ids(np.array(['w2', '<unk>']))",
    "small.ids_to_tokens([1, 0, 9])",
    "small.ids_to_tokens(1)",
    "small.ids_to_tokens(np.array([2, 3]))",
    "sorted(small.vocab().items(), key=lambda x: x[1])",
    "X.Vocab.from_list(['a', 'b'], ['s'], False).tokens_to_ids(['a', 'b', 's'])",
    "X.Vocab.from_dict({'home': 3, 'the': 4}).ids_to_tokens([3, 4, 5])",
    "X.Vocab.from_file(file('v1.txt', 'a,1\\nb,2\\nc,3\\n'), ',', 2, ['<pad>']).tokens_to_ids(['<pad>', 'a', 'b', 'c'])",
    "X.Vocab.from_file(file('v2.txt', 'a\\nb\\nc')).tokens_to_ids(['a', 'b', 'c'])",
    *[
        f"X.Vocab.from_dataset(words(['b', 'a', 'c'], ['b', 'c', 'd'], ['b', 'é', 'Z']){args}).ids_to_tokens([0, 1, 2, 3, 4, 5, 6])"
        for args in (
            "",
            ", 'text', (2, None)",
            ", ['text'], None, 3, ['<pad>', '<unk>']",
            ", None, (None, 1), None, ['x'], False",
        )
    ],
    "X.ToVectors(vectors)(['ok', 'none', 'This', '!'])",
    "X.ToVectors(vectors, [-1, -2, -3.5], True)(['ok', 'none', 'This', '!'])",
    "X.ToVectors(vectors)('ok')",
    "X.ToVectors(X.GloVe.from_file(file('glove.6B.2d.txt', 'a 1 2\\nb 3 4\\n'), 1))(['a', 'b'])",
    "X.ToVectors(X.FastText.from_file(file('ft.vec', '2 2\\na 1 2\\nb 3 4\\n')))(['a', 'b'])",
    "X.ToVectors(X.CharNGram.from_file(file('cn.txt', '2gram-ab 1 2\\n3gram-#BEGIN#ab 3 4\\n4gram-abcd 5 6\\n2gram-d#END# 1 1\\n')))(['abcd', 'zz'])",
    "lines(words(['a b'], ['c d e']).map(lambda x: x[0]).map([X.WhitespaceTokenizer()]))[1]",
    "lines(words(['my', 'is']).map(X.Lookup(vocab)))[0]",
    "lines(ds.NumpySlicesDataset(['Hi  x'], 'text').map(X.WhitespaceTokenizer(True), ['text'], ['t', 's', 'e']))[0]",
]

REFUSED = [
    "X.AddToken(1)",
    "X.AddToken('a')('scalar')",
    "X.AddToken('a')([1, 2])",
    "X.Lookup(3)",
    "X.Lookup(vocab)('zzz')",
    "X.Lookup(vocab, 'zzz')('my')",
    "X.Ngram([])",
    "X.Ngram(2, ('a',))",
    "X.Ngram(0)",
    "X.Ngram(2)('a')",
    "X.SlidingWindow(0)",
    "X.SlidingWindow(2)([[1]])",
    "X.ToNumber(ms.string)",
    "X.ToNumber(ms.int8)('300')",
    "X.ToNumber(ms.int32)('x')",
    "X.Truncate(0)",
    "X.Truncate('a')",
    "X.Truncate(2)('abc')",
    "X.TruncateSequencePair(2)([1, 2])",
    "X.WhitespaceTokenizer(1)",
    "X.WhitespaceTokenizer()(3)",
    "X.UnicodeScriptTokenizer()(b'a b')",
    "X.WhitespaceTokenizer()(['a', 'b'])",
    "X.RegexTokenizer(None)",
    "X.RegexTokenizer('[')('a')",
    "X.RegexReplace(1, 'a')",
    "X.BasicTokenizer(1)",
    "X.BasicTokenizer(normalization_form=2)",
    "X.WordpieceTokenizer(None)",
    "X.WordpieceTokenizer('a')",
    "X.WordpieceTokenizer(vocab, max_bytes_per_token=-1)",
    "X.BertTokenizer(vocab, lower_case=1)",
    "X.PythonTokenizer(1)",
    "X.PythonTokenizer(lambda x: 1 / 0)(np.array('a'))",
    "X.PythonTokenizer(str.split)('a')",
    "X.NormalizeUTF8('NFC')",
    "X.to_str('a')",
    "X.to_bytes('a')",
    "X.Vocab().vocab()",
    "X.Vocab.from_list(['a', 'a'])",
    "X.Vocab.from_list(['a'], ['a'])",
    "X.Vocab.from_list('a')",
    "X.Vocab.from_dict({'a': -1})",
    "X.Vocab.from_dict({'a': 1.0})",
    "X.Vocab.from_file(folder + '/none')",
    "X.Vocab.from_file(folder + '/vectors.txt', vocab_size=0)",
    "X.Vocab.from_dataset(words(['a']), 'none')",
    "X.Vocab.from_dataset(words(['a']), freq_range=(2, 1))",
    "X.Vocab.from_dataset(words(['a']), top_k=0)",
    "X.Vocab.from_dataset(words(['a']), special_tokens=['a'])",
    "X.Vocab.from_dataset(ds.NumpySlicesDataset([1]))",
    "small.tokens_to_ids(3)",
    "small.ids_to_tokens(-1)",
    "small.ids_to_tokens(['a'])",
    "X.Vectors.from_file(folder + '/none')",
    "X.Vectors.from_file(folder + '/vectors.txt', -1)",
    "X.GloVe.from_file(folder + '/vectors.txt')",
    "X.Vectors.from_file(file('bad.txt', 'a 1 2\\nb 3\\n'))",
    "X.ToVectors(3)",
    "X.ToVectors(vectors, [1])('ok')",
]
