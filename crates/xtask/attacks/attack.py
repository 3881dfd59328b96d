"""Tries to break what README and SECURITY promise, as a client, a server or a bad day could: `cargo xtask attack [WORD]…`.

A line per attempt, then how many there were, held and broke. Words narrow it to families and attempts that contain one. One in which
something was only late is tried once more, as that may be the machine; anything else is broken the first time.
"""

import shutil
import signal
import subprocess
import sys
import time

import abroad
import clients
import definitions
import mixed
import newer
import odd
import people
import servers
import unasked
from world import ATTEMPTS, FOLDER, Broken, Late

# No attempt takes longer than this; one that does is broken.
LONGEST = 45
# All of them together. What is left then is said, and not tried.
BUDGET = 300

assert abroad and clients and definitions and mixed and newer and odd and people and servers and unasked


def interrupt(*_):
    raise Late(f"no end after {LONGEST} s")


def run(family, what, function, was_late=False):
    signal.alarm(LONGEST)
    begun, said, why = time.monotonic(), "held", ""
    try:
        function()
    except Exception as error:  # noqa: BLE001 - whatever it is, the attempt did not end as it should
        late = isinstance(error, (Late, TimeoutError, subprocess.TimeoutExpired)) and not was_late
        said, why = "late" if late else "BROKEN", f" -> {error if isinstance(error, Broken) else repr(error)}"
    finally:
        signal.alarm(0)
    print(f"{said:<7}{time.monotonic() - begun:5.1f} s  {family}: {what}{why}", flush=True)
    return run(family, what, function, was_late=True) if said == "late" else said == "held"


def main(words):
    signal.signal(signal.SIGALRM, interrupt)
    wanted = [one for one in ATTEMPTS if not words or any(word in f"{one[0]}: {one[1]}" for word in words)]
    begun, outcomes, untried = time.monotonic(), [], 0
    for family, what, function in wanted:
        if not words and time.monotonic() - begun > BUDGET:
            untried += 1
            print(f"untried         {family}: {what}")
            continue
        outcomes.append(run(family, what, function))
    shutil.rmtree(FOLDER, ignore_errors=True)
    held = sum(outcomes)
    print(f"\n{len(outcomes)} attempts, {held} held, {len(outcomes) - held} broken" + (f", {untried} untried: the time was up" if untried else ""))
    return 1 if held < len(outcomes) or not outcomes else 0


sys.exit(main(sys.argv[1:]))
