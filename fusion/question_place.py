"""The places whose rules a question asks for, read from its words (魔都养狗要办证吗).

A place narrows what may answer only when it is certain: not inside a title, not part of another
name (北京大学, 上海银行), and the question compares with no unnamed place (其他城市). Rules of the
place, of its superiors and of its parts remain; with several places those of each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexes.jurisdiction import Place, ambiguous_in, ancestors, parts, places_in, resolve
from indexes.schema import NATIONAL, PassageMetadata

# What makes a place's name part of another one, right behind it.
_NAMED_AFTER = (
    r"(?:大学(?!生)|学院|理工|师范|银行(?!卡|账|贷|流水|存)|(?:证券|期货|商品)?交易所|时间|合作组织|公报"
    r"|[东南西北中]?[一二三四]?(?:路(?![边面上灯口])|街(?![道头边上区]))|大道|烤鸭|火锅|小面|拉面|茅台|啤酒|黄酒"
    r"|大众|现代汽车|汽车集团|同仁堂|晚报|日报|晨报|卫视|出版社|冬奥|奥运|亚运|世博|宣言|共识|模式|经验"
    r"|话(?!费)|菜(?![市场农地价])|人寿|航空公司|生产建设兵团)"
)
_TITLE = re.compile(r"《[^《》]*》")
_ELSEWHERE = re.compile(
    r"其[他它](?:的)?(?:省|市|城市|地区|地方|区县|州)|别的(?:省|市|城市|地区|地方)|外省|各省|各地|各市|全国各"
    r"|哪些?(?:省|市|城市|地区|地方)|除了?[^，。]{0,12}(?:以外|之外|外)|不在"
)
_STATUTES = frozenset(("地方性法规", "自治条例和单行条例", "地方政府规章"))
_REGIONS = {
    "长三角": ("上海", "江苏", "浙江", "安徽"),
    "长江三角洲": ("上海", "江苏", "浙江", "安徽"),
    "京津冀": ("北京", "天津", "河北"),
    "珠三角": ("广东",),
    "珠江三角洲": ("广东",),
    "大湾区": ("广东", "香港", "澳门"),
    "成渝": ("重庆", "四川"),
    "东三省": ("辽宁", "吉林", "黑龙江"),
}
_GAP = "\ue000"


@dataclass(frozen=True, slots=True)
class QuestionPlace:
    """The places that a question asks about.

    ``codes``: GB/T 2260 codes whose rules may answer: the places, their superiors, their parts
    and the country; ``""`` too, as a rule of unknown place is of no other one for sure.
    """

    places: tuple[Place, ...]
    codes: frozenset[str]

    def admits(self, metadata: PassageMetadata) -> bool:
        """Whether a rule may answer: not one that is surely of another place.

        The place of a report or a bare notice may only have been guessed from its text, so it
        counts where title, issuer or rank confirm it.
        """
        code = metadata.jurisdiction_code
        if code in self.codes:
            return True
        if metadata.level in _STATUTES:
            return False
        related = {*ancestors(code), *parts(code)} - {NATIONAL}
        named = places_in(f"{metadata.title}\n{metadata.issuer}")
        return not any(place.code in related for place in named)

    @property
    def names(self) -> tuple[str, ...]:
        """Official names, in order of appearance."""
        return tuple(place.name for place in self.places)


def read_question_place(question: str) -> QuestionPlace | None:
    """The certain places of a question; None where it names none, or may mean others as well.

    Places in a title (《上海市…条例》) only join those that stand outside of one. A name that
    several places bear (南山区) stands for each of them, a region (长三角) for its provinces.
    """
    if _ELSEWHERE.search(question):
        return None
    bare = _without_names(_TITLE.sub(_GAP, question))
    regions = [resolve(name) for region, of in _REGIONS.items() if region in bare for name in of]
    shared = (place for group in ambiguous_in(bare) for place in group)
    outside = (*places_in(bare), *filter(None, regions), *shared)
    if not outside:
        return None
    titles = tuple(place for title in _TITLE.findall(question) for place in places_in(title))
    places = tuple(place for place in dict.fromkeys((*outside, *titles)) if place.code != NATIONAL)
    codes = {code for place in places for code in (*ancestors(place.code), *parts(place.code))}
    return QuestionPlace(places, frozenset({*codes, NATIONAL, ""})) if places else None


def _without_names(text: str) -> str:
    """The text without places that are part of another name, which a gap replaces."""
    for match in reversed([*re.finditer(_NAMED_AFTER, text)]):
        head = text[: match.start()]
        named = _place_ending(head)
        if named:
            text = head[: len(head) - named] + _GAP + text[match.end() :]
    return text


def _place_ending(head: str) -> int:
    """Length of the place name with which ``head`` ends; 0 where it ends with none."""
    for length in range(min(12, len(head)), 1, -1):
        tail = head[-length:]
        if len(places_in(tail)) == 1 and not places_in(tail[:-1]) and not places_in(tail[1:]):
            return length
    return 0
