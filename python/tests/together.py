"""Runs on several threads at once."""
import threading

import numpy as np


def assert_same_on_threads(run):
    """run(out, k) sets out[k]: alone, for k = 0..3, and for all of them at once, alike."""
    alone, together = {}, {}
    for k in range(4):
        run(alone, k)
    threads = [threading.Thread(target=run, args=(together, k)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        np.testing.assert_array_equal(alone[k], together[k])
