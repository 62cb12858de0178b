"""A worker: does tasks that arrive as JSON lines on standard input and answers on standard output.

    {"place": {...}, "task": {...}}      a task to do; `blindsave.engine.task` says what is in it
    {"event": {...}}                      how it gets on
    {"output": {...}} or {"error": ...}  what came of it

`blindsave study` starts workers (`blindsave.engine.workers`). A worker ends when its standard input does, so none
survives the process that started it.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
from dataclasses import asdict
from typing import Any

from blindsave.engine.perform import answer
from blindsave.engine.task import TaskEvent

PATIENCE_S = 5.0
Requests = queue.SimpleQueue[bytes]


def main() -> None:
    """Work until there is no more to do."""
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    # What libraries print must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)

    def say(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message, allow_nan=False) + "\n")
        answers.flush()

    def tell(event: TaskEvent) -> None:
        say({"event": asdict(event)})

    requests: Requests = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    try:
        while True:
            say(answer(json.loads(requests.get()), tell))
    except (SystemExit, BrokenPipeError):
        os._exit(0)  # at once: there is nothing left to put away, and libraries' threads may be slow to end


def _listen(requests: Requests) -> None:
    """Pass requests on; when no more can come, end the process, which may be in the middle of something."""
    for line in sys.stdin.buffer:
        requests.put(line)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)  # lets it put its things away
    time.sleep(PATIENCE_S)
    os._exit(1)


if __name__ == "__main__":
    main()
