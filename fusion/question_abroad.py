"""Whether a question asks for the law of another country, or of a region with a law of its own.

The store holds the law of the mainland, whose words are those of any other country's law as well
(法国劳动法规定每周工作几小时), so that what is found looks like an answer and is none.
"""

from __future__ import annotations

import re

_COUNTRIES = (
    "美国|美利坚|英国|英格兰|法国|德国|日本|韩国|朝鲜(?!族)|俄罗斯(?!族)|俄国|加拿大|澳大利亚|澳洲|新西兰|新加坡|马来西亚|泰国"
    "|越南|老挝|柬埔寨|缅甸|菲律宾|印度尼西亚|印尼|印度|巴基斯坦|孟加拉国|尼泊尔|斯里兰卡|蒙古国|哈萨克斯坦|伊朗"
    "|伊拉克|以色列|土耳其|沙特阿拉伯|沙特|阿联酋|卡塔尔|埃及|南非|尼日利亚|肯尼亚|埃塞俄比亚|摩洛哥|巴西|阿根廷"
    "|智利|秘鲁|墨西哥|古巴|西班牙|葡萄牙|意大利|希腊|荷兰|比利时|卢森堡|瑞士|奥地利|瑞典|挪威|芬兰|丹麦|冰岛"
    "|爱尔兰|波兰|捷克|匈牙利|罗马尼亚|保加利亚|塞尔维亚|乌克兰|白俄罗斯|欧盟|欧洲|国外|外国(?!人|籍|投资|企业|公司)"
)
_CITIES = (
    "纽约|洛杉矶|旧金山|华盛顿|芝加哥|加州|加利福尼亚|德州|得克萨斯|佛罗里达|伦敦|巴黎|柏林|慕尼黑|东京|大阪|首尔"
    "|曼谷|吉隆坡|河内|雅加达|马尼拉|新德里|孟买|迪拜|莫斯科|悉尼|墨尔本|多伦多|温哥华|米兰|马德里|阿姆斯特丹"
)
_OWN_LAW = "香港|澳门|台湾|台北|高雄"
_ABROAD = rf"(?:{_COUNTRIES}|{_CITIES}|{_OWN_LAW})"
# People, goods and firms from there meet the law of here.
_FROM_THERE = (
    r"(?:人|公民|国籍|籍|居民|同胞|永久|护照|驾照|驾驶证|留学|学生|学历|学位|客户|客商|朋友|游客|员工|老板|投资者|投资|企业"
    r"|公司|商人|商会|银行|机构|使馆|领事|领馆|驻华|品牌|产|红木|料理|餐厅|代购|货|商品|进口|红酒|车|船|飞机|航班|判决|法院的?判决"
    r"|疫|入境|回来|回国|归国|移居|特别行政区基本法|路|街)"
)
_ASKED = re.compile(
    rf"^\W*(?:请问|想问|我想问|问一?下|查一?下|了解|另外|还有|那么?|以及|顺便问)?\W*(?:在|到|去)?{_ABROAD}+(?:{_CITIES})?(?!{_FROM_THERE})"
    rf"|(?:在|按照?|根据|依照?){_ABROAD}(?!{_FROM_THERE})的?[\u4e00-\u9fff]{{0,6}}(?:法|法律|规定|税率)"
)
_HERE = re.compile(
    r"中国|我国|国内|内地|大陆|境内|来华|在华|驻华|回国|归国|进口|出口|进境|出境|入境|海关|跨境|境外所得|税收协定|抵免|双重征税"
)

_LAND = re.compile(rf"({_ABROAD})的?《?\Z")


def land_before(head: str) -> str:
    """The country or region whose name stands before a law's, "" if none: 法国的|劳动法."""
    match = _LAND.search(head)
    return match[1] if match else ""


def asks_abroad(question: str) -> bool:
    """Whether the question is about law from outside of the mainland; False in doubt."""
    return bool(_ASKED.search(question)) and not _HERE.search(question)
