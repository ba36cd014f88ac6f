"""Other wordings of a question, as people write them: what it asks for stays the same.

Five seeded rules of own writing; a question that a rule does not fit comes back unchanged.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

_END = re.compile(r"[？?。！!\s]*$")
# A statute that is named must keep its name.
_NAMED = re.compile(r"《|(?:法|条例|办法|规定|细则|解释)第")
_SENTENCE = re.compile(r"^(.*[。；！？!?])?([^。；！？!?]+)$", re.DOTALL)

PREFIXES = ("请问", "您好，请问", "想咨询一下，", "麻烦问一下，")
SUFFIXES = ("谢谢", "谢谢！", "麻烦您了", "盼复")

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
    ("小孩", "未成年人"),
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

# Endings, longest first where one ends in another.
TAILS = (
    ("如何处理", "怎么办"),
    ("怎么处理", "该如何处理"),
    ("怎么办", "如何处理"),
    ("怎么罚", "会受到什么处罚"),
    ("的内容是什么", "是怎么规定的"),
    ("是怎么规定的", "的内容是什么"),
    ("分别是什么", "各是什么"),
    ("是什么", "是啥"),
    ("有哪些", "都有什么"),
    ("哪些措施", "什么措施"),
    ("多少钱", "几块钱"),
    ("多少", "什么数额"),
    ("是否合法", "合不合法"),
    ("可以吗", "行不行"),
    ("行吗", "可不可以"),
    ("对吗", "对不对"),
    ("合法吗", "是否合法"),
    ("有效吗", "是否有效"),
    ("了吗", "了没有"),
    ("吗", "么"),
    ("什么", "啥"),
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

_FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")


def polite(text: str, rng: random.Random) -> str:
    """A courtesy before the question, thanks behind it."""
    body, mark = _body(text)
    return f"{rng.choice(PREFIXES)}{body}{mark or '？'}{rng.choice(SUFFIXES)}"


def terms(text: str, rng: random.Random) -> str:
    """One colloquial term by its official one or the other way round; not where a text is named."""
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


def tail(text: str, rng: random.Random) -> str:
    """Another ending of the same meaning (怎么办, 如何处理)."""
    body, mark = _body(text)
    for old, new in TAILS:
        if body.endswith(old):
            return body.removesuffix(old) + new + mark
    return text


def keying(text: str, rng: random.Random) -> str:
    """Digits in full width, and one character replaced by a homophone."""
    pairs = {old: new for pair in HOMOPHONES for old, new in (pair, pair[::-1])}
    places = [i for i, char in enumerate(text) if char in pairs]
    if places:
        at = rng.choice(places)
        text = f"{text[:at]}{pairs[text[at]]}{text[at + 1 :]}"
    return text.translate(_FULL_WIDTH)


Rule = Callable[[str, random.Random], str]
WORDINGS: Mapping[str, Rule] = MappingProxyType(
    {"polite": polite, "terms": terms, "order": order, "tail": tail, "keying": keying}
)


def reword(text: str, wording: str, *, seed: int = 0) -> str:
    """The text in that wording of ``WORDINGS``; the same for the same text and seed."""
    return WORDINGS[wording](text, random.Random(f"{seed}/{wording}/{text}"))


def _body(text: str) -> tuple[str, str]:
    """The text without its end marks, and those."""
    at = _END.search(text)
    cut = at.start() if at is not None else len(text)
    return text[:cut], text[cut:].strip()
