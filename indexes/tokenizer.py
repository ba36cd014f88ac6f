"""Text to keyword tokens: jieba words + character bigrams, numbers and references normalised.

Words come from rjieba (the algorithm and dictionary of jieba 0.42, in Rust), with the domain's own
words added; bigrams catch what the segmentation splits differently in question and text.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path

import opencc
import rjieba

from configs.errors import ConfigError
from indexes.broken_lines import mended

REVISION = 4
"""Moves when the same text gives other tokens, so that keyword indexes are built again."""

MAX_TOKEN = 64
ARTICLE = "art:"
BIGRAM = "b:"
"""Set before a bigram: a word of two characters has a document frequency of its own."""
_CJK = "\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_CJK_RUN = re.compile(f"[{_CJK}]+")
# A word that is set with blanks between its characters: 征 收 标 准.
_SPACED_WORD = re.compile(f"(?<![{_CJK}])(?:[{_CJK}][ \t]{{1,3}})+[{_CJK}](?![{_CJK}])")
_LATIN_RUN = re.compile(r"[a-z0-9]+(?:\.[0-9]+)*")
_BRACKETS = re.compile(r"[〔〕\[\]【】]")
_NUMERAL = "零〇○一二两三四五六七八九十百千万0-9"
_ARTICLE = re.compile(f"第([{_NUMERAL}]+)条(?:之([{_NUMERAL}]+))?")
# 发文字号: issuer's short name, year in any bracket, number, e.g. 示府规〔2024〕3号.
_DOC_NUMBER = re.compile(
    f"([{_CJK}]{{2,12}})[〔\\[(【]?((?:19|20)[0-9]{{2}})[〕\\])】]?第?([0-9]{{1,5}})号"
)
_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}


def normalise(text: str) -> str:
    """NFKC, lower case, simplified characters, spaced words joined, no soft hyphens.

    For matching only, never for display.
    """
    plain = unicodedata.normalize("NFKC", text).replace("\u00ad", "").lower()
    joined = _SPACED_WORD.sub(lambda word: "".join(word[0].split()), plain)
    return simplified(joined)


def simplified(text: str) -> str:
    """Traditional characters as simplified ones, all others as they are."""
    return str(_simplifier().convert(text))


@cache
def _simplifier() -> opencc.OpenCC:
    return opencc.OpenCC("t2s")


def numeral(text: str) -> int:
    """Value of a Chinese or Arabic numeral below 10^8: 一百二十 -> 120, 二〇二四 -> 2024, 12 -> 12.

    Raises ValueError for characters that are no numeral.
    """
    if text.isdecimal():
        return int(text)
    if not set(text) & (_UNITS.keys() | {"万"}):
        return int("".join(c if c.isdecimal() else str(_DIGITS[c]) for c in text))
    total = section = digit = 0
    for char in text:
        if char == "万":
            total, section, digit = (total + section + digit) * 10_000, 0, 0
        elif char in _UNITS:
            section += (digit or 1) * _UNITS[char]
            digit = 0
        elif char.isdecimal():
            digit = digit * 10 + int(char)
        else:
            digit = _DIGITS[char]
    return total + section + digit


@cache
def _plain_jieba() -> rjieba.Jieba:
    return rjieba.Jieba()


class Tokenizer:
    """Tokens of one domain; ``words`` are kept whole besides jieba's own. Safe for threads."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words = tuple(sorted({normalise(word) for word in words if word.strip()}))
        self._jieba = rjieba.Jieba() if self._words else _plain_jieba()
        for word in self._words:
            self._jieba.add_word(word, None, None)
        digest = hashlib.sha256("\n".join(self._words).encode()).hexdigest()[:16]
        self.key = f"{REVISION}-{digest}"

    @classmethod
    def from_dictionary(cls, name: str | None) -> Tokenizer:
        """Words of a jieba user file: a path, or a name in ``configs/dictionaries``; None = none.

        One word a line; frequency and tag columns are ignored, ``#`` starts a comment line.
        Raises ConfigError when the file cannot be read.
        """
        if name is None:
            return cls()
        try:
            if Path(name).is_file():
                text = Path(name).read_text(encoding="utf-8")
            else:
                folder = resources.files("configs").joinpath("dictionaries")
                text = folder.joinpath(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"keyword.dictionary {name!r} cannot be read ({type(error).__name__}); give the "
                "path of a UTF-8 file, or a file name in configs/dictionaries"
            ) from error
        lines = (line.strip() for line in text.splitlines())
        return cls(line.split()[0] for line in lines if line and not line.startswith("#"))

    def tokens(self, text: str) -> list[str]:
        """All tokens with repeats, none with white space in it: words, ``b:`` bigrams, latin and
        digit runs, ``art:120-1`` for an article number, ``no:…`` for a 发文字号.

        What a line break cuts counts whole, too: 12 0⏎00元 also gives 12000.
        """
        plain = normalise(text)
        whole = mended(plain)
        found = self._tokens(plain)
        if whole != plain:
            known = set(found)
            found += [token for token in self._tokens(whole) if token not in known]
        return found

    def _tokens(self, plain: str) -> list[str]:
        found = [article_token(m[1], m[2]) for m in _ARTICLE.finditer(plain)]
        for match in _DOC_NUMBER.finditer(plain):
            found += doc_number_tokens(match[1], match[2], match[3])
        plain = _BRACKETS.sub(" ", plain)
        words = self._jieba.cut(plain)
        found += [w for word in words if (w := "".join(word.split())) and _CJK_RUN.search(w)]
        for run in _CJK_RUN.findall(plain):
            found += [BIGRAM + run[i : i + 2] for i in range(len(run) - 1)]
        found += _LATIN_RUN.findall(plain)
        return [token[:MAX_TOKEN] for token in found]


def article_token(number: str, insertion: str | None = None) -> str:
    """``art:120-1`` for 第一百二十条之一, however its numbers are written."""
    tail = f"-{numeral(insertion)}" if insertion else ""
    return f"{ARTICLE}{numeral(number)}{tail}"


def doc_number_tokens(issuer: str, year: str, number: str) -> list[str]:
    """A 发文字号 as whole tokens, one for each ending of the issuer's short name.

    In running text the words before the name cannot be told from it (根据示府规〔2024〕3号), so a
    text and a question share the tokens of every ending that they have in common.
    """
    tail = f"{int(year)}-{int(number)}"
    endings = [issuer[-n:] for n in range(2, min(len(issuer), 8) + 1)]
    return [f"no:{tail}", *(f"no:{ending}-{tail}" for ending in endings)]
