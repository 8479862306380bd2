"""How uneven the machine runs at this moment: what it adds to every moment that is waited for."""
import time


def lateness():
    """By how many milliseconds the latest of some short sleeps ended too late."""
    worst = 0.0
    for _ in range(40):
        begun = time.monotonic()
        time.sleep(0.005)
        worst = max(worst, (time.monotonic() - begun - 0.005) * 1000)
    return worst
