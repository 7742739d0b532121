"""The scanner in JavaScript finds what ``tokenize`` does, in texts of all scripts."""

import json
import random
import shutil
import subprocess

import pytest

from regard.export.reader import reader_module
from regard.text.characters import lower_words
from regard.text.tokenize import TextConfig, join_words, tokenize, tokenize_many
from regard.text.vocab import Vocab
from support.odd_texts import odd_texts

CONFIGS = [TextConfig(), TextConfig(hangul="syllables"), TextConfig(reading="letters")]
SCAN = """([texts, parted]) => {
  const rules = makeRules(globalThis.written, parted);
  return texts.map((codes) => {
    const found = scan(codes.map((code) => String.fromCodePoint(code)).join(""), rules);
    const codesOf = (word) => Array.from(word, (letter) => letter.codePointAt(0));
    return [[...found.spans], found.lengths, wordsOf(found, true).map(codesOf)];
  });
}"""
KNOWN = [
    "",
    " \r\n ",
    "He's 42, see? U.S.A. is big. Dr. Smith went home.",
    "don&#39;t &amp; <br /><br />New line :-) A face. great.The end",
    "很好!下次再来。「はい。」と言った。３．２９ です。",
    "이 영화는 정말 재미있다 그래서 추천해요 했다 해도 좋아요",
    "1. First\n2. Second item 3) a\n\nam 3. Oktober. Er kam usw. Das",
    "www.example.com/a?b=c. mail me@foo.bar.com! 👩\u200d🚀 🇩🇪🇫🇷 x\u0301 naïve İ ΣΑΣ 𐐀𝒜",
    "A line that is long enough to have been wrapped at some width\nas mails do, and goes on here.",
    "आप कैसे हैं? मैं ठीक हूँ। مرحبا؟ نعم. שלום. สวัสดี",
]


def texts():
    """Texts that JavaScript can hold: it reads two halves of a pair as one character."""
    found = [*KNOWN, *odd_texts(1500)]
    return [
        text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") for text in found
    ]


@pytest.mark.parametrize("config", CONFIGS, ids=["words", "syllables", "letters"])
def test_the_scanner_finds_what_tokenize_finds(scripts, config):
    every = texts()
    codes = [[ord(letter) for letter in text] for text in every]
    found = scripts.evaluate(SCAN, [codes, config.parted.decode()])
    for text, tokens, (spans, lengths, words) in zip(
        every, tokenize_many(every, config), found, strict=True
    ):
        assert spans == tokens.spans.ravel().tolist(), repr(text)
        assert lengths == tokens.per_sentence.tolist(), repr(text)
        wanted = [[ord(letter) for letter in word] for word in lower_words(tokens.words())]
        assert words == wanted, repr(text)


def test_the_words_that_people_see_are_those_of_regard(scripts):
    pytest.importorskip("icu4py")
    join = """([texts, parted]) => {
      const rules = makeRules(globalThis.written, parted);
      const reader = new Reader(["<pad>", "<oov>"], rules, { lowercase: true });
      return texts.map((text) => {
        const { sizes, spelt } = reader.readWords(text);
        return [sizes, spelt];
      });
    }"""
    every = [text.encode("utf-8", "replace").decode() for text in texts()]
    for config in CONFIGS:
        words = [join_words(tokens, config) for tokens in tokenize_many(every, config)]
        seen = scripts.evaluate(join, [every, config.parted.decode()])
        for text, found, (sizes, spelt) in zip(every, words, seen, strict=True):
            expected = [1] * len(found) if found.per_word is None else found.per_word.tolist()
            assert sizes == expected and spelt == found.spelt, repr(text)


def test_caps_leave_what_they_leave_in_training(scripts):
    read = """(text) => {
      const words = ["<pad>", "<oov>", "one", "two"];
      const caps = { lowercase: true, max_sentences: 2, max_words: 2 };
      const reader = new Reader(words, makeRules(globalThis.written, ""), caps);
      const { rows, spans, unknown, unread } = reader.read(text);
      return { rows: rows.map((row) => [...row]), spans, unknown, unread };
    }"""
    found = scripts.evaluate(read, "One two two. Four one one! Five six.")
    assert found["rows"] == [[2, 3], [1, 2]]
    assert found["unknown"] == [[13, 17]]
    assert found["unread"] == [[8, 12], [22, 36]]


@pytest.mark.parametrize("unknown", ["alike", "nearest"])
def test_unknown_words_are_read_as_the_vocabulary_reads_them(scripts, unknown):
    """Issue 13: the same known word for each, whatever its letters."""
    generator = random.Random(0)
    words = sorted({word for text in texts() for word in lower_words(tokenize(text).words())})
    long = [word for word in words if len(word) > 4]
    cut = [
        word[: generator.randrange(4, len(word) + 1)] + "😀é"[: n % 3]
        for n, word in enumerate(long)
    ]
    vocab = Vocab(generator.sample(long, len(long) // 2), TextConfig(unknown=unknown))
    read = """([words, asked, unknown]) => {
      const reader = new Reader(words, makeRules(globalThis.written, ""), { unknown });
      return asked.map((word) => reader.ids.get(word) ?? reader.readUnknown(word));
    }"""
    asked = [*words, *cut]
    assert scripts.evaluate(read, [vocab.words, asked, unknown]) == vocab.ids(asked).tolist()
    assert len(vocab.read_as(asked)) > 90


def test_the_module_reads_in_node(tmp_path):
    """What --to onnx puts beside its graph."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine; install it to test the module there")
    (tmp_path / "reader.mjs").write_text(reader_module(), encoding="utf-8")
    vocab = Vocab(["film", "good", "a", "."])
    (tmp_path / "try.mjs").write_text(
        """import { createReader } from "./reader.mjs";
        const config = { lowercase: true, parted: "", max_sentences: null, max_words: null };
        const reader = await createReader("<pad>\\n<oov>\\nfilm\\ngood\\na\\n.", config);
        const found = reader.read(["A \\u{1F600} good film. Good", ""]);
        const plain = Object.entries(found).map(([name, value]) => [name, [...value]]);
        console.log(JSON.stringify(Object.fromEntries(plain)));
        """,
        encoding="utf-8",
    )
    ran = subprocess.run(
        [node, "try.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout)
    encoded = vocab.encode(["A \U0001f600 good film. Good", ""])
    assert found["wordIds"] == encoded.ids.tolist()
    assert found["sentenceLengths"] == encoded.sentence_lengths.tolist()
    assert found["documentLengths"] == encoded.sentences.tolist()
    assert found["spans"][:6] == [0, 1, 2, 4, 5, 9]  # in UTF-16 units
