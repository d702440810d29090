# -*- coding: utf-8 -*-
"""The configuration and the papers of the sample project; people write the papers in their own language."""

__all__ = ["CONFIG", "papers"]

_DEFAULT = """\
# Defaults of the order desk. An environment's own file goes over these.

[service]
name = orderdesk
port = 8400
workers = 8

[paylane]
# Hang up after this long. Paylane's slowest honest answers take about 1900 ms.
timeout_ms = 2500
attempts = 2

[pool]
# Connections to Paylane; our contract allows 24 at a time.
size = 24

[database]
max_connections = 40
slow_query_ms = 500
"""

_PRODUCTION = """\
# Production. Change this file only with a change ticket (docs/deploys.md).

[service]
workers = 16

[paylane]
timeout_ms = 250

[database]
max_connections = 120
"""

_GATEWAY = """\
# The gateway in front of the order desk.

[upstream]
target = orderdesk:8400
timeout_ms = 8000
# What customers see where the order desk answers 5xx.
error_page = 502.html
"""

CONFIG = {
    "config/default.ini": _DEFAULT,
    "config/production.ini": _PRODUCTION,
    "config/gateway.ini": _GATEWAY,
}

_README = {
    "en": """\
# Order desk

Takes the payments of the shop. A request comes through the gateway, `orderdesk/checkout.py` charges the order over
Paylane, our payment provider (`orderdesk/paylane.py`), on one of a fixed number of connections
(`orderdesk/connections.py`). Settings are in `config/`; what production changes goes over the defaults.

- `docs/deploys.md`: what was changed when, by whom
- `docs/runbook.md`: what to do when something breaks, and whom to tell
- `logs/`: today's logs of the gateway and of the service
- `scripts/`: figures from the logs, and a replay
""",
    "zh": """\
# 订单台（orderdesk）

负责商城的支付。请求经网关进入，由 `orderdesk/checkout.py` 通过支付服务商 Paylane 扣款
（`orderdesk/paylane.py`），每次占用固定数量连接中的一条（`orderdesk/connections.py`）。
配置在 `config/`，生产环境的配置覆盖默认值。

- `docs/deploys.md`：何时、由谁、改了什么
- `docs/runbook.md`：出故障时怎么处理、要通知谁
- `logs/`：网关和服务当天的日志
- `scripts/`：日志统计与重放
""",
}

_RUNBOOK = {
    "en": """\
# Runbook

## Customers cannot pay
1. Look at the gateway log: 504 means the order desk is slow, 502 means that it answers 5xx.
2. Look at the order desk's own log for the first error, not for the loudest.
3. A restart frees whatever the service holds. Write down when you did it: it hides the cause.
4. Money may be stuck between the shop and Paylane: tell the treasury desk (ext. 5530) before anybody refunds.

## The database is slow
1. `slow_query_ms` decides what is logged as slow. More than ten a minute: call the database team (ext. 5107).

## Rules
- A timeout towards a provider is never below its slowest honest answer.
- Whoever changes production writes it into docs/deploys.md, with the ticket.
""",
    "zh": """\
# 故障处理手册

## 顾客无法付款
1. 先看网关日志：504 表示订单台响应慢，502 表示订单台返回了 5xx。
2. 再看订单台自己的日志：找最早的错误，而不是最多的错误。
3. 重启会释放服务占用的一切资源。请记下重启时间：它会掩盖原因。
4. 资金可能滞留在商城与 Paylane 之间：任何人退款之前，先通知资金部（分机 5530）。

## 数据库变慢
1. `slow_query_ms` 决定多慢才记入日志。每分钟超过十条：联系数据库组（分机 5107）。

## 规则
- 对服务商的超时时间，不得低于其正常应答的最慢时间。
- 修改生产环境的人必须把改动和工单号写入 docs/deploys.md。
""",
}

_DEPLOYS_TITLE = {"en": "# Deploys to production", "zh": "# 生产环境变更记录"}
_DEPLOYS_HEAD = {"en": "| when | ticket | who | what |", "zh": "| 时间 | 工单 | 变更人 | 内容 |"}
_DEPLOYS = """\
|---|---|---|---|
| 2025-03-04 14:05 | CHG-4098 | a.nowak | database.max_connections 80 -> 120 |
| 2025-03-06 10:31 | CHG-4110 | j.fischer | service.workers 8 -> 16 |
| 2025-03-07 16:20 | CHG-4115 | w.chen | gateway.error_page 500.html -> 502.html |
| 2025-03-10 17:48 | CHG-4126 | w.chen | checkout: log the request id of every failure |
| 2025-03-11 09:12 | CHG-4127 | l.moreno | paylane.timeout_ms 2500 -> 250 |
| 2025-03-11 09:40 | CHG-4129 | a.nowak | nightly job: charge deferred orders at 02:00 |
"""


def papers(language: str) -> dict[str, str]:
    """The papers by their path.

    Args:
        language (`str`):
            `"en"` or `"zh"`.
    """
    return {
        "README.md": _README[language],
        "docs/runbook.md": _RUNBOOK[language],
        "docs/deploys.md": f"{_DEPLOYS_TITLE[language]}\n\n{_DEPLOYS_HEAD[language]}\n{_DEPLOYS}",
    }
