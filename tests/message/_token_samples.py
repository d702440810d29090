# -*- coding: utf-8 -*-
"""Texts of many kinds, to count the tokens of; written for this purpose or made from a fixed seed."""

import base64
import hashlib
import json
import random
import uuid

__all__ = ["CODE", "PROSE", "REFERENCE", "SAMPLES"]

PROSE = {
    "english": (
        "The migration went live on Tuesday night, and apart from a brief spike in latency nobody noticed anything. "
        "We still have to clean up the old workers, rotate the credentials that were shared with the contractor, and "
        "write down why the second queue was needed in the first place. Could you draft the announcement? Keep it "
        "short, mention that downtime was under two minutes, and thank the on-call team for staying up late."
    ),
    "chinese": (
        "昨天下午我们和客户开了一个电话会议，主要讨论了新版本的发布时间。对方希望在月底之前上线，但是测试团队认为"
        "支付模块还不够稳定，至少需要再观察一周。我建议先灰度发布给百分之五的用户，如果没有发现严重的问题，再逐步"
        "扩大范围。另外，小王提醒大家不要忘记更新操作手册，上次就是因为手册没有改，客服接到了很多投诉。"
    ),
    "chinese chat": (
        "你好呀，最近怎么样？我上个周末去爬山了，山顶的风特别大，差点把帽子吹跑。晚上和朋友一起吃了火锅，聊到很晚才回家。"
        "对了，你上次说想学吉他，现在学得怎么样了？我可以把我那把旧的借给你，反正我也不怎么弹。"
    ),
    "traditional": (
        "這個週末我們打算去陽明山看花，聽說今年的海芋開得特別漂亮。出發前請先確認天氣預報，如果下雨就改到下個禮拜。"
        "停車場通常九點以後就滿了，所以建議搭公車上山。記得幫我帶那台相機，還有上次買的雨衣，謝謝你！"
    ),
    "japanese": (
        "先週リリースした新しい機能について、ユーザーからいくつか問い合わせがありました。特にログイン画面の表示が遅いという"
        "意見が多かったので、原因を調査しています。明日の午前中までに結果をまとめて共有しますので、少々お待ちください。"
        "なお、データベースのバックアップは毎晩二時に自動で実行されるように設定しました。"
    ),
    "korean": (
        "지난주에 배포한 새 기능에 대해 사용자들의 문의가 몇 건 들어왔습니다. 특히 로그인 화면이 느리다는 의견이 "
        "많아서 원인을 확인하고 있습니다. 내일 오전까지 결과를 정리해서 공유해 드리겠습니다. "
        "데이터베이스 백업은 매일 새벽 두 시에 실행됩니다."
    ),
    "russian": (
        "На прошлой неделе мы выпустили новую версию приложения, и пользователи уже прислали несколько отзывов. Чаще "
        "всего они жалуются на медленную загрузку страницы входа, поэтому сейчас мы ищем причину. "
        "Завтра утром я подготовлю отчёт."
    ),
    "arabic": (
        "في الأسبوع الماضي أطلقنا النسخة الجديدة من التطبيق، وقد وصلتنا عدة ملاحظات من المستخدمين. معظمهم يشتكون من "
        "بطء صفحة الدخول، ولذلك نبحث الآن عن السبب. سأرسل التقرير غدا صباحا قبل الاجتماع."
    ),
    "thai": (
        "สัปดาห์ที่แล้วเราเปิดตัวแอปพลิเคชันเวอร์ชันใหม่ และมีผู้ใช้ส่งความคิดเห็นเข้ามาหลายรายการ ส่วนใหญ่บ่นว่าหน้าเข้าสู่ระบบช้า "
        "ดังนั้นตอนนี้เรากำลังหาสาเหตุอยู่ พรุ่งนี้เช้าผมจะส่งรายงานให้ก่อนการประชุม"
    ),
    "german": (
        "Letzte Woche haben wir die neue Version veröffentlicht, und mehrere Nutzer haben sich gemeldet. Die meisten "
        "beschweren sich über die langsame Anmeldeseite, deshalb suchen wir gerade nach der Ursache."
    ),
    "mixed": (
        "请帮我把 `config.yaml` 里的 max_tokens 改成 8192，然后 run `pytest -q tests/unit` 看看有没有 regression。"
        "如果 CI 失败了，就 revert 到 commit 3f9ab21，并在 issue #482 里 comment 一下原因。"
    ),
}
CODE = {
    "python": '''
class RateLimiter:
    """Allow `limit` calls in each window of `seconds`."""

    def __init__(self, limit: int, seconds: float = 1.0) -> None:
        self._limit = limit
        self._window = seconds
        self._calls: deque[float] = deque()

    async def acquire(self) -> None:
        while True:
            now = time.monotonic()
            while self._calls and now - self._calls[0] > self._window:
                self._calls.popleft()
            if len(self._calls) < self._limit:
                self._calls.append(now)
                return
            await asyncio.sleep(self._window - (now - self._calls[0]))
''',
    "go": """
func (s *Server) handleUpload(w http.ResponseWriter, r *http.Request) {
\tfile, header, err := r.FormFile("attachment")
\tif err != nil {
\t\thttp.Error(w, fmt.Sprintf("bad upload: %v", err), http.StatusBadRequest)
\t\treturn
\t}
\tdefer file.Close()
\ts.log.Info("received", "name", header.Filename, "size", header.Size)
}
""",
    "rust": """
impl<T: Clone + Send> Cache<T> {
    pub fn get_or_insert_with<F>(&mut self, key: &str, make: F) -> Result<T, CacheError>
    where
        F: FnOnce() -> Result<T, CacheError>,
    {
        if let Some(entry) = self.entries.get(key).filter(|e| !e.is_expired()) {
            return Ok(entry.value.clone());
        }
        let value = make()?;
        self.entries.insert(key.to_owned(), Entry::new(value.clone(), self.ttl));
        Ok(value)
    }
}
""",
    "typescript": """
export const useDebounced = <T,>(value: T, delay = 300): T => {
  const [debounced, setDebounced] = useState<T>(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);
  return debounced;
};
""",
    "sql": """
SELECT c.id, c.name, COUNT(o.id) AS orders, SUM(o.total) AS revenue
FROM customers AS c
LEFT JOIN orders AS o ON o.customer_id = c.id AND o.created_at >= NOW() - INTERVAL '30 days'
WHERE c.country IN ('DE', 'FR', 'CN') GROUP BY c.id, c.name HAVING SUM(o.total) > 1000 ORDER BY revenue DESC LIMIT 50;
""",
    "html": """
<div class="card shadow-sm" id="user-profile"><img src="/static/avatar.png" alt="avatar" width="64" height="64">
  <h2 class="card-title">{{ user.name }}</h2><p>Joined on <time datetime="2025-03-14">14 March 2025</time></p>
  <a href="/settings?tab=security" class="btn btn-primary">Change password</a></div>
""",
    "shell": """
#!/usr/bin/env bash
set -euo pipefail
for file in "$SRC"/*.log; do
  gzip -9 -c "$file" > "$DST/$(basename "$file").gz" && rm -- "$file"
done
docker run --rm -v "$PWD:/work" -e TOKEN="${TOKEN:?missing}" registry.example.com/builder:1.4 make -j4 all
""",
    "traceback": """
Traceback (most recent call last):
  File "/app/service/worker.py", line 218, in run_once
    result = self.pipeline.process(job.payload, timeout=self.settings.timeout)
  File "/app/service/pipeline.py", line 97, in process
    raise PipelineError(f"stage {stage.name} failed after {attempts} attempts") from error
service.errors.PipelineError: stage normalize failed after 3 attempts
""",
}


def machine_made() -> dict[str, str]:
    """Samples that nobody writes by hand, from a fixed seed."""
    chance = random.Random(20250101)
    words = PROSE["english"].replace(",", "").replace(".", "").split()
    raw = bytes(chance.randrange(256) for _ in range(1500))
    rows = [
        {
            "id": chance.randrange(10**6),
            "name": " ".join(chance.sample(words, 2)),
            "amount": round(chance.uniform(-900, 900), 2),
            "token": str(uuid.UUID(int=chance.getrandbits(128))),
            "paid": chance.random() < 0.5,
        }
        for _ in range(25)
    ]
    digits = [{"id": 10000 + n, "amt": round(chance.uniform(-99, 99), 2)} for n in range(100)]
    emoji = [
        "😀",
        "😂",
        "👍",
        "🎉",
        "🔥",
        "✅",
        "❌",
        "⚠️",
        "📈",
        "🚀",
        "❤️",
        "🇨🇳",
        "1️⃣",
        "👋🏽",
        "👩‍💻",
        "👨‍👩‍👧‍👦",
        "🏳️‍🌈",
    ]
    table = "| id | name | value |\n| --- | :---: | ---: |\n" + "".join(
        f"| {row['id']} | {row['name']} | {row['amount']} |\n" for row in rows
    )
    return {
        "json minified": json.dumps(rows, separators=(",", ":")),
        "json indented": json.dumps(rows, indent=2),
        "json of digits": json.dumps(digits, separators=(",", ":")),
        "json of chinese": json.dumps(
            [{"标题": PROSE["chinese"][:30], "标签": ["发布", "测试"]}] * 6, ensure_ascii=False
        ),
        "json escaped": json.dumps([{"title": PROSE["chinese"][:60]}] * 3),
        "floats": json.dumps([chance.gauss(0, 1) for _ in range(60)]),
        "numbers": " ".join(str(chance.randrange(10 ** chance.randrange(1, 9))) for _ in range(200)),
        "uuids": "\n".join(str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(30)),
        "hex": raw.hex(),
        "hex upper": raw.hex().upper(),
        "sha256": "\n".join(hashlib.sha256(str(n).encode()).hexdigest() for n in range(20)),
        "base64": base64.b64encode(raw).decode(),
        "base64 in lines": base64.encodebytes(raw).decode(),
        "urls": "\n".join(
            f"https://{chance.choice(words).lower()}.example.com/{chance.choice(words)}/{chance.randrange(9999)}"
            f"?page={chance.randrange(50)}&sid={chance.getrandbits(48):x}&q={chance.choice(words)}%20{chance.choice(words)}"
            for _ in range(20)
        ),
        "emoji": "".join(chance.choice(emoji) for _ in range(200)),
        "emoji in text": " ".join(
            chance.choice(words) + chance.choice(["", "", chance.choice(emoji)]) for _ in range(150)
        ),
        "ansi": "\n".join(
            f"\x1b[{chance.choice([31, 32, 33])}m{chance.choice(['PASS', 'FAIL'])}\x1b[0m "
            f"{' '.join(chance.sample(words, 4))}"
            for _ in range(30)
        ),
        "spaces": "".join(
            chance.choice(words) + chance.choice([" ", " " * 12, "\n\n", "\n" + " " * 8, "\t\t"]) for _ in range(200)
        ),
        "table": table,
        "rules": "\n".join(
            chance.choice("-=*#") * chance.randrange(8, 70) + "\n" + " ".join(words[:6]) for _ in range(20)
        ),
        "special tokens": " ".join(
            chance.choice(["<|endoftext|>", "<|im_start|>user", "<|im_end|>", "word"]) for _ in range(60)
        ),
        "log": "\n".join(
            f"2025-11-{n:02d} 08:{n:02d}:17,{chance.randrange(1000):03d} INFO [worker-{n}] "
            f"{' '.join(chance.sample(words, 6))} id={chance.getrandbits(32):08x}"
            for n in range(10, 30)
        ),
    }


SAMPLES = {**PROSE, **CODE, **machine_made()}
# What OpenAI's o200k_base and cl100k_base make of the same samples (their vocabularies cannot be shipped).
REFERENCE = {
    "english": (83, 83),
    "chinese": (93, 159),
    "traditional": (94, 144),
    "japanese": (100, 142),
    "korean": (68, 124),
    "thai": (75, 186),
    "python": (155, 155),
    "go": (87, 84),
    "sql": (91, 90),
    "json minified": (1150, 1138),
    "json of digits": (1156, 1102),
    "json of chinese": (211, 259),
    "floats": (593, 593),
    "numbers": (580, 580),
    "uuids": (702, 702),
    "hex": (1714, 1713),
    "base64": (1374, 1445),
    "urls": (595, 596),
    "emoji": (568, 933),
    "log": (681, 681),
}
