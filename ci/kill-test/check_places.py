"""When no gateway runs: programs ran where they should. Where there are nodes, that is there, and each had some."""

import ran_on
from ledger import Loss
from load import KEEPING_SESSION


def check(home):
    events = home.audit_events()
    problems = ran_on.judge_nodes(home.node_names, ran_on.on_each(events))
    if home.node_names:
        problems += ran_on.judge_gateway(events, {home.session_id(KEEPING_SESSION)})
    if problems:
        raise Loss("; ".join(problems))
