"""
Notes calls with good data that are refused, and calls with bad data that succeed, one JSON text a line. It fails no call: the
description cannot say every rule, such as that an object must exist.
"""

import json
import os

import schemathesis
from schemathesis.core.failures import Failure
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

REPORT = os.environ["DATA_ACCEPTANCE_REPORT"]
# Says that an object has changed, and nothing of the data.
PRECONDITION_FAILED = 412


@schemathesis.check
def data_acceptance(ctx, response, case):
    for kind, check in (("accepted", negative_data_rejection), ("refused", positive_data_acceptance)):
        try:
            check(ctx, response, case)
        except Failure as failure:
            if response.status_code == PRECONDITION_FAILED:
                continue
            note = {
                "kind": kind,
                "operation": case.operation.label,
                "status": response.status_code,
                "what": failure.message.splitlines()[-1] if kind == "accepted" else message_of(response),
            }
            with open(REPORT, "a", encoding="utf-8") as report:
                report.write(json.dumps(note) + "\n")


def message_of(response):
    try:
        return response.json()["errMsg"]
    except (KeyError, TypeError, ValueError):
        return response.text[:300]
