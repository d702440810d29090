# -*- coding: utf-8 -*-
"""Words that look like names and are none, and the best known places."""

import re

__all__ = ["NOT_NAMES", "ORDINARY", "PLACES"]

_ENGLISH = """
i i'm i've i'll i'd ok okay monday tuesday wednesday thursday friday saturday sunday january february march
april may june july august september october november december am pm mr mrs ms dr the a an this that these those
he she it we they you his her its our their your my who what when where why how which if and but or so yes no
not hi hello hey oh wow thanks thank please sorry well now then there here also just as at by for from in into
of on to with after before because since while although though once during about is are was were do does did has
have had can could will would should might must let let's don't user assistant people someone everyone
everything something nothing both all some any many most each every other another first second last next today
tomorrow yesterday english tv pc id url recently currently previously usually always never sometimes later still
only even however therefore meanwhile
"""
_HAN = """
周末 周围 周年 周期 周边 周到 周日 周一 周二 周三 周四 周五 周六 周天 高兴 高中 高级 高速 高度 高考 高手 高铁
高效 高温 马上 马路 马虎 任何 任务 任意 任职 于是 于此 江湖 江边 石头 史上 毛病 毛衣 毛巾 夏天 夏季 夏日 白天
白色 白酒 白领 黄色 黄金 黄昏 金额 金钱 金属 金融 程序 程度 余额 余下 范围 丁点 叶子 田地 龙虾 雷雨 熊猫 康复
武器 武术 钱包 钱财 汤圆 顾客 顾问 孙子 孙女 林业 胡说 胡子 胡萝卜 何时 何处 何况 许多 许可 傅里叶 曾经 曾有
谢谢 钟头 钟点 杨树 杨梅 白菜 金鱼 叶酸 江南 江西 江苏 马拉松 高血压 高等 金牌 陆续 陆地 段落 石油 万一 高端
高层 高档 高峰 马桶 马来 田园 田野 任课 杜绝 孟子 孔子 侯爵 邵阳 唐朝 宋朝 秦朝 汉朝 明朝 朱红 黎明 贺卡 贺岁
赖床 金色 汪汪 罗马 罗列 白开水 龙井 江山 段时间 鱼汤 苏州 苏打 魏晋 徐徐 曹操 康健 高分 高数 白糖 金星 高低
高楼 高薪 高管 高价 于今 毛利 毛孩 夏令营 林区 石膏 黄油 黄豆 黄瓜 韩语 韩国 韩剧 唐诗 宋词 陈列 陈述 陈旧 张开
张贴 张嘴 张罗 郭德 杨柳 于我 余生 余地 何必 何以 何等 何种 何苦 何人 何事 高的 白的 黄的 程的 任的 余的
"""
_PLACES = """
北京 上海 广州 深圳 杭州 成都 重庆 武汉 西安 南京 苏州 天津 长沙 郑州 青岛 大连 宁波 厦门 福州 无锡 合肥 昆明
哈尔滨 沈阳 济南 长春 石家庄 太原 南昌 贵阳 南宁 兰州 海口 三亚 乌鲁木齐 拉萨 呼和浩特 银川 西宁 香港 澳门 台北
高雄 珠海 东莞 佛山 温州 桂林 丽江 大理 东京 大阪 京都 首尔 曼谷 新加坡 纽约 伦敦 巴黎 柏林 悉尼 旧金山 洛杉矶
莫斯科 多伦多 温哥华 罗马 云南 四川 浙江 江苏 广东 福建 湖南 湖北 山东 山西 河南 河北 陕西 安徽 江西 海南 贵州
甘肃 辽宁 吉林 黑龙江 新疆 西藏 内蒙古 台湾 日本 韩国 美国 英国 法国 德国 意大利 泰国 越南 澳大利亚 加拿大
俄罗斯 印度 西班牙
"""

NOT_NAMES = frozenset(_ENGLISH.split())
"""In lower case: what has a capital without being a name."""

ORDINARY = frozenset(_HAN.split())
"""Chinese words that begin with a surname."""

PLACES = re.compile("|".join(sorted(_PLACES.split(), key=len, reverse=True)))
"""Chinese names of cities, provinces and countries."""
