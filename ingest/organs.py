"""Names of organs as documents write them, and several that stand side by side without a mark.

National names after 国务院机构设置 (reforms of 2018 and 2023), with the short forms in use.
"""

from __future__ import annotations

import re

_HAN = "\u4e00-\u9fff"
_ORGAN_END = (
    r"(?:人民政府|政府|办公厅|办公室|委员会|常委会|总局|税务局|财政局|局|中心|部|署|厅|委|院|银行|支行|分行|海关|总队|支队|公司|集团"
    r"|领导小组|工作组|指挥部|联席会议|工会|协会|法院|检察院|大学|管委会|总会|联合会|政法委|团委|团工委)"
)
_ORGAN = re.compile(rf"(?!我|本|各|常务|[省市区县]人民政府$)[{_HAN}]{{2,36}}{_ORGAN_END}$")
_NATIONAL = (
    *("中共中央办公厅", "中共中央宣传部", "中共中央组织部", "中共中央", "中央宣传部", "中央组织部"),
    *("中央网信办", "中央文明办", "中央编办", "中央军委", "国务院办公厅", "国务院扶贫办"),
    *("国务院扶贫开发领导小组办公室", "国务院国资委", "国务院国有资产监督管理委员会", "国务院"),
    *("外交部", "国防部", "国家发展改革委", "国家发展和改革委员会", "发展改革委", "教育部"),
    *("科技部", "科学技术部", "工业和信息化部", "国家民委", "公安部", "国家安全部", "民政部"),
    *("司法部", "财政部", "人力资源社会保障部", "人力资源和社会保障部", "自然资源部"),
    *("生态环境部", "住房城乡建设部", "住房和城乡建设部", "交通运输部", "水利部", "农业农村部"),
    *("商务部", "文化和旅游部", "国家卫生健康委员会", "国家卫生健康委", "退役军人事务部"),
    *("退役军人部", "应急管理部", "中国人民银行", "人民银行", "审计署", "海关总署"),
    *("国家税务总局", "税务总局", "国家市场监督管理总局", "国家市场监管总局", "市场监管总局"),
    *("国家金融监督管理总局", "金融监管总局", "中国证监会", "证监会", "中国银保监会", "银保监会"),
    *("国家广播电视总局", "国家广电总局", "国家体育总局", "体育总局", "国家统计局", "国家医保局"),
    *("国家医疗保障局", "国家国际发展合作署", "国家信访局", "国家粮食和物资储备局", "国家能源局"),
    *("国家数据局", "国家国防科工局", "国家烟草专卖局", "国家移民管理局", "国家林草局"),
    *("国家林业和草原局", "国家铁路局", "中国民航局", "国家邮政局", "国家文物局", "国家中医药局"),
    *("国家中医药管理局", "国家疾控局", "国家药监局", "国家药品监督管理局", "国家知识产权局"),
    *("国家外汇管理局", "国家外汇局", "国家消防救援局", "国家乡村振兴局", "全国总工会"),
    *("中华全国总工会", "共青团中央", "全国妇联", "全国工商联", "中国残联", "最高人民法院"),
    *("最高人民检察院", "全国人民代表大会"),
)
_ONE = rf"(?:{'|'.join(sorted(_NATIONAL, key=len, reverse=True))})(?:办公厅|办公室|综合司)?"
_NATIONAL_ORGAN = re.compile(_ONE)
_NATIONAL_ORGANS = re.compile(rf"{_ONE}(?:[和与]?{_ONE})+")
# National organs with offices of their own in the provinces: 国家税务总局示例市税务局 is one name.
_BRANCHED = (
    r"(?:中共|国家税务总局|国家外汇管理局|国家统计局|国家金融监督管理总局"
    r"|中国人民银行|中国银保监会|中国证监会)"
)
_LOCAL = re.compile(rf"{_BRANCHED}?(?P<place>[{_HAN}]{{2,5}}?(?:省|自治区|市|自治州|州|县|区|旗))")


def is_organ(name: str) -> bool:
    """Whether this is an organ's name: a known national one, or one by its ending."""
    return name in _NATIONAL or bool(_ORGAN.fullmatch(name))


def side_by_side(name: str) -> tuple[str, ...]:
    """The organs that a name without marks and blanks spells: 财政部税务总局 -> 财政部, 税务总局.

    Parted are known national organs, and organs of one place that repeat its name
    (示例市教育局示例市财政局). A name in which no second organ is certain is one.
    """
    if _NATIONAL_ORGANS.fullmatch(name):
        return tuple(_NATIONAL_ORGAN.findall(name))
    local = _LOCAL.match(name)
    if local is None:
        return (name,)
    again = re.compile(rf"(?<=[{_HAN}]){_BRANCHED}?{local['place']}")
    organs, start = [], 0
    at = local.end()
    while found := again.search(name, at):
        at = found.end()
        if is_organ(name[start : found.start()]):
            organs.append(name[start : found.start()])
            start = found.start()
    organs.append(name[start:])
    return tuple(organs) if all(map(is_organ, organs)) else (name,)
