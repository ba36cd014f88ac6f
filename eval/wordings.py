"""Other wordings of a question, as people write them: what it asks for stays the same.

Six seeded rules of own writing; a question that a rule does not fit comes back unchanged.

- polite: a courtesy before the question, thanks behind it;
- colloquial: an opener, official terms by everyday ones, a spoken ending;
- keywords: content words alone, as typed into a search box;
- script: traditional characters (OpenCC), digits and letters of full width, no closing mark;
- slip: one character by a homophone, one term by a near synonym;
- order: the last clause of the last sentence put first.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

import opencc
import rjieba

_END = re.compile(r"[？?。！!\s]*$")
_NAME = re.compile(r"《[^》]*》")
# A statute that is named must keep its name.
_NAMED = re.compile(r"《|(?:法|条例|办法|规定|细则|解释)第")
_SENTENCE = re.compile(r"^(.*[。；！？!?])?([^。；！？!?]+)$", re.DOTALL)

PREFIXES = ("请问", "您好，请问", "想咨询一下，", "麻烦问一下，")
SUFFIXES = ("谢谢", "谢谢！", "麻烦您了", "盼复")
OPENERS = ("我想问下，", "问一下哈，", "帮我看看，", "那个，")
PARTICLES = ("啊", "呀", "呢", "")

# Colloquial and official terms; each is replaced by the other.
TERMS = (
    ("工资", "劳动报酬"),
    ("辞退", "解除劳动合同"),
    ("老板", "用人单位"),
    ("员工", "劳动者"),
    ("打工", "务工"),
    ("房东", "出租人"),
    ("租客", "承租人"),
    ("房租", "租金"),
    ("个税", "个人所得税"),
    ("交税", "缴纳税款"),
    ("退税", "退还税款"),
    ("税收优惠", "税收减免"),
    ("补贴", "补助资金"),
    ("罚", "处罚"),
    ("坐牢", "判处有期徒刑"),
    ("老人", "老年人"),
    ("离婚", "解除婚姻关系"),
    ("遗产", "被继承人的财产"),
    ("欠钱", "拖欠债务"),
    ("借钱", "借款"),
    ("赔钱", "承担赔偿责任"),
    ("打官司", "提起诉讼"),
    ("起诉", "向人民法院提起诉讼"),
    ("签合同", "订立合同"),
    ("看病", "就医"),
    ("买房", "购买商品房"),
    ("开店", "从事个体经营"),
    ("车祸", "交通事故"),
    ("酒驾", "饮酒后驾驶机动车"),
    ("狗", "犬只"),
    ("垃圾", "生活垃圾"),
    ("多少钱", "多少金额"),
    ("疫情", "新冠肺炎疫情"),
    ("公积金", "住房公积金"),
    ("社保", "社会保险"),
    ("能不能", "是否可以"),
    ("要不要", "是否需要"),
)

# Endings as they are said, longest first where one ends in another.
TAILS = (
    ("的内容是什么", "说的是啥"),
    ("的规定是什么", "是咋规定的"),
    ("如何处理", "咋办"),
    ("怎么处理", "咋办"),
    ("怎么办", "咋办"),
    ("分别是什么", "都是啥"),
    ("是什么", "是啥"),
    ("有哪些", "都有啥"),
    ("多少钱", "几块钱"),
    ("是否合法", "合不合法"),
    ("可以吗", "行不行"),
    ("吗", "不"),
    ("什么", "啥"),
)

# Words that a search box does not need.
FUNCTION_WORDS = frozenset(
    word
    for line in (
        "的 了 着 过 地 得 吗 呢 吧 啊 呀 么 请问 请 我 我们 你 您 他 她 它",
        "他们 自己 是 是否 有 在 会 能 能不能 可以 可 要 要不要 应 应当 应该 需要",
        "想 把 被 给 让 跟 和 与 及 以及 或 或者 就 都 也 还 还是 才 又 再 只",
        "很 一个 这 那 这个 那个 这些 那些 什么 啥 哪些 哪 哪个 怎么 怎样 如何",
        "为什么 分别 具体 内容 关于 对于 对 从 到 向 以 于 由 因 因为 所以 如果",
        "但 但是 而 时 后 以后 之后 当时 一直 提出",
        "能否 将 为 为了 作为 做 做了 进行 何时 其 其他 等 所 被 比 并 并且",
    )
    for word in line.split()
)

# Characters that an input method by sound offers for one another.
HOMOPHONES = (
    ("账", "帐"),
    ("作", "做"),
    ("在", "再"),
    ("已", "以"),
    ("像", "象"),
    ("的", "得"),
    ("交", "缴"),
    ("定", "订"),
    ("利", "力"),
    ("权", "全"),
    ("偿", "尝"),
    ("税", "睡"),
    ("费", "废"),
    ("罚", "伐"),
    ("租", "组"),
    ("购", "够"),
    ("雇", "顾"),
    ("期", "其"),
    ("公", "工"),
    ("证", "正"),
    ("司", "思"),
    ("资", "姿"),
    ("金", "今"),
    ("合", "和"),
    ("同", "童"),
    ("法", "发"),
    ("事", "是"),
    ("产", "铲"),
    ("业", "页"),
    ("办", "半"),
)

_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F) if chr(code).isalnum()}


def polite(text: str, rng: random.Random) -> str:
    """A courtesy before the question, thanks behind it."""
    body, mark = _body(text)
    return f"{rng.choice(PREFIXES)}{body}{mark or '？'}{rng.choice(SUFFIXES)}"


def colloquial(text: str, rng: random.Random) -> str:
    """An opener, the first official term by its everyday one, a spoken ending."""
    body, _ = _body(text)
    if not _NAMED.search(body):
        pair = next((p for p in TERMS if p[1] in body), None)
        body = body.replace(pair[1], pair[0], 1) if pair else body
    for written, spoken in TAILS:
        if body.endswith(written):
            return f"{rng.choice(OPENERS)}{body.removesuffix(written)}{spoken}？"
    return f"{rng.choice(OPENERS)}{body}{rng.choice(PARTICLES)}？"


def keywords(text: str, rng: random.Random) -> str:
    """The content words in their order, a space where others stood between them."""
    kept: list[str] = []
    gap = False
    for word in rjieba.cut(text):
        if word in FUNCTION_WORDS or not re.search(r"\w", word):
            gap = bool(kept)
            continue
        kept.append(f" {word}" if gap else word)
        gap = False
    return "".join(kept) or text


def script(text: str, rng: random.Random) -> str:
    """Traditional characters, digits and Latin letters of full width, no closing mark."""
    body, _ = _body(text)
    return str(_traditional().convert(body)).translate(_FULL_WIDTH)


def slip(text: str, rng: random.Random) -> str:
    """One term by its near synonym (where no text is named), one character by a homophone; never
    within 《》."""
    text = _synonym(text, rng)
    sounds = {old: new for pair in HOMOPHONES for old, new in (pair, pair[::-1])}
    named = {i for match in _NAME.finditer(text) for i in range(*match.span())}
    places = [i for i, char in enumerate(text) if char in sounds and i not in named]
    if not places:
        return text
    at = rng.choice(places)
    return f"{text[:at]}{sounds[text[at]]}{text[at + 1 :]}"


def order(text: str, rng: random.Random) -> str:
    """The last sentence with its last clause (at ，) put first."""
    body, mark = _body(text)
    found = _SENTENCE.match(body)
    if found is None or "，" not in found[2]:
        return text
    before, _, last = found[2].rpartition("，")
    if not before or not last:
        return text
    return f"{found[1] or ''}{last}，{before}{mark}"


Rule = Callable[[str, random.Random], str]
WORDINGS: Mapping[str, Rule] = MappingProxyType(
    {
        "polite": polite,
        "colloquial": colloquial,
        "keywords": keywords,
        "script": script,
        "slip": slip,
        "order": order,
    }
)


def reword(text: str, wording: str, *, seed: int = 0) -> str:
    """The text in that wording of ``WORDINGS``; the same for the same text and seed."""
    return WORDINGS[wording](text, random.Random(f"{seed}/{wording}/{text}"))


def _synonym(text: str, rng: random.Random) -> str:
    if _NAMED.search(text):
        return text
    options = []
    for pair in TERMS:
        for old, new in (pair, pair[::-1]):
            # 处罚 holds 罚: the longer term of the pair decides which way round it goes.
            if old in text and not (old in new and new in text):
                options.append((old, new))
    if not options:
        return text
    old, new = rng.choice(options)
    return text.replace(old, new, 1)


@lru_cache(maxsize=1)
def _traditional() -> opencc.OpenCC:
    return opencc.OpenCC("s2t")


def _body(text: str) -> tuple[str, str]:
    """The text without its end marks, and those."""
    at = _END.search(text)
    cut = at.start() if at is not None else len(text)
    return text[:cut], text[cut:].strip()
