"""Checks that are counted: the lines `ok …` and `WRONG …`, which `judged` of checks.sh reads.

    from checks import *
    check("the sum is right", 1 + 1 == 2)
    same("the sum", 1 + 1, 2)
    finish()
"""
import sys

__all__ = ["check", "same", "finish"]
counts = {"checks": 0, "wrong": 0}


def check(name, holds, *detail):
    """One check; what is in `detail` is printed when it does not hold."""
    counts["checks"] += 1
    if holds:
        print(f"ok      {name}")
    else:
        counts["wrong"] += 1
        print(f"WRONG   {name}")
        for each in detail:
            print("        " + str(each)[:1500])
    sys.stdout.flush()


def same(name, found, expected):
    """One check that two values are equal."""
    check(name, found == expected, f"found {found!r}", f"expected {expected!r}")


def finish():
    """The count, and the exit status: 1 when a check did not hold."""
    print(f"{counts['checks']} checks, {counts['wrong']} wrong")
    sys.exit(1 if counts["wrong"] else 0)
