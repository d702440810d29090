# -*- coding: utf-8 -*-
"""Words that say nothing about what a text is about: function words, question words, fillers."""

__all__ = ["ASKING", "STOP_WORDS", "HAN_STOP_WORDS", "KANA_STOP_WORDS", "HANGUL_STOP_WORDS"]

_ENGLISH = """
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
am is are was were be been being do does did doing done have has had having
can could will would shall should may might must ought
who whom whose which what when where why how
and or but nor so yet if then else than because since while until unless although though as
of at by for with about against between into through during before after above below to from up down
in out on off over under upon within without along across among toward towards per via
again further once here there now just only very too also even still ever always already
all any both each few more most other others another some such no not none own same
much many lot lots bit quite rather really
s t d m ll re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn can't cannot
ain mustn needn
don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't won't wouldn't couldn't shouldn't mustn't ain't
i'm i've i'll i'd you're you've you'll you'd he's he'd he'll she's she'd she'll it's it'd it'll we're we've we'll we'd
they're they've they'll they'd that's that'll there's here's what's where's who's how's when's why's let's
please tell ok okay yes yeah oh hey hi um uh
etc eg ie
"""

_HAN = """
的 了 着 过 地 得 之 乎 者 也 矣 焉 哉
我 你 您 他 她 它 咱 俺 我们 你们 您们 他们 她们 它们 咱们 自己 大家 人家 别人 本人
我的 你的 您的 他的 她的 它的 我们的 你们的 他们的 自己的
这 那 哪 此 该 这个 那个 哪个 这些 那些 哪些 这里 那里 哪里 这儿 那儿 哪儿 这样 那样 怎样 这么 那么 怎么 这种 那种
哪种
这次 那次 哪次 这时 那时 这边 那边 哪位 这位 那位 其 其他 其它 另 另外 某 某个 某些 各 每 每个
什么 啥 谁 几 多少 多久 为什么 为何 为啥 如何 怎么样 怎么办 怎么着 何时 何处 何 哪天 哪年 什么样 什么时候 几个 几点
几号
是 是不是 不是 就是 还是 也是 都是 算是 便是 有 没有 没 无 有没有 在 不在 正在 为 成为 做 作 作为 让 使 令 叫 给 被
把 将 对 对于 关于
和 与 及 以及 跟 同 或 或者 而 而且 并 并且 但 但是 可是 不过 然而 却 虽 虽然 因 因为 因此 所以 由 由于 于 于是 如果
若 要是 假如 只要 只有 除了 除非 即使 尽管
从 自 自从 到 往 向 朝 沿 按 按照 根据 据 依 以 用 通过 随 随着 比 比如 例如 像 似 当 当时 之前 之后 以前 以后 前 后
里 里面 上 下 中 内 外 间 时 时候 的时候
不 别 勿 未 非 莫 都 全 也 又 再 还 才 就 便 只 仅 很 太 更 最 非常 十分 特别 比较 挺 相当 有点 有些 一些 一点 一下
一直 一样 一般 一起 一共 已 已经 曾 曾经 刚 刚刚 刚才 正 将要 快要 总 总是 常 经常
能 能够 可 可以 可能 会 要 想 想要 应 应该 应当 必须 需 需要 得以 愿 愿意 敢 肯 请 请问 请教 麻烦 帮 帮忙 帮我
吗 呢 吧 啊 呀 哦 哈 嘛 么 啦 咯 喽 哟 唉 嗯 嘿 哎 喂 嗨 呵 呵呵 哈哈 哈哈哈 罢了 而已 似的 一样
个 些 种 位 次 件 条 只 张 一 一个 一种 一次 一位 一件 一条 两个 几个 这一 那一 某一 第
来 去 起来 出来 下来 过来 进来 上来 出去 下去 过去 进去 上去 到底 究竟 其实 当然 确实 真 真的 真是 的话 来说 来讲 等
等等 之类 之间 所 所有 一切 任何 全部
还有 然后 接着 那么 所谓 以为 觉得 认为 知道 记得 还记得 说 说过 告诉 讲 问 看看 想想 好 好的 好吧 好啊 行 对了 是的
嗯嗯 谢谢 你好 您好
對 對於 關於 這 這個 這些 這裡 這樣 這麼 那裡 哪裡 什麼 怎麼 為什麼 為 為何 嗎 麼 們 我們 你們 他們 她們 沒 沒有 還
還是 還有 會 個 來 過 說 讓 給 將 從 與 並 並且 後 時 時候 裡 幾 幾個 請 請問 覺得 應該 可以 能夠 已經 曾經 雖然
因為 所以
"""

_KANA = """
です ます ました ません でした だった である から まで より こと もの これ それ あれ どれ ここ そこ あそこ どこ この
その あの どの
する した して しま いる いた ある あった ない なか です なに なん いつ だれ どう なぜ ので のに けど でも また そし
たら れば
"""

_HANGUL = """
은 는 이 가 을 를 에 의 도 와 과 로 으로 에서 에게 한테 부터 까지 하고 그리고 그러나 하지만 그래서 또는 및
나 너 저 우리 그 그것 이것 저것 여기 거기 저기 무엇 뭐 누구 언제 어디 왜 어떻게 얼마나 어떤 몇
있다 없다 하다 했다 한다 이다 아니다 있는 없는 하는 한 할 수 것 등
"""

ASKING = """
talk talked talking discuss discussed discussion chat chatted conversation conversations speak spoke spoken say said
saying tell told mention mentioned happen happened happening go went going work worked working write wrote written
anything everything something thing things note notes record records recorded entry entries event events
summary summarize summarise recap remember list show find search
聊 聊天 聊到 聊过 聊天内容 聊天记录 谈 谈话 谈到 谈过 谈论 讨论 讨论过 讨论内容 对话 对话内容 对话记录 交流 沟通
说到 提到 提过 发生 发生过 事 事情 事儿 内容 记录 笔记 日记 干 忙 忙什么 总结 回顾 查 查找 搜索
"""
"""Words that ask for whatever was said, done or written, and say nothing of what it was about."""

STOP_WORDS = frozenset(_ENGLISH.split())
HAN_STOP_WORDS = frozenset(_HAN.split())
KANA_STOP_WORDS = frozenset(_KANA.split())
HANGUL_STOP_WORDS = frozenset(_HANGUL.split())
