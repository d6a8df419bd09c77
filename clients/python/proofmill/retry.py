"""When to try a failed call again, bounded by the deadline of the whole operation."""

import dataclasses
import random
import time

import grpc

from proofmill.errors import DeadlineError, ProofmillError, from_rpc, make_error

# Advice of "at once" from a service that keeps refusing must not become a busy loop.
DELAY_MIN = 0.01


@dataclasses.dataclass(frozen=True)
class RetryPolicy:
    """Delays, in seconds, grow from `backoff_first` by `backoff_factor` up to `backoff_max`, each with full jitter. A delay that the
    service asks for is kept in full and gets up to a quarter of itself on top. `attempts_max` counts attempts in a row that fail
    without such advice; refusals with advice are retried until the deadline, unless `follow_advice` is false."""

    backoff_first: float = 0.1
    backoff_max: float = 2.0
    backoff_factor: float = 2.0
    attempts_max: int = 8
    follow_advice: bool = True


class Deadline:
    """When an operation must be over. ValueError if `timeout`, in seconds, is not positive."""

    def __init__(self, timeout):
        if not timeout > 0:
            raise ValueError(f"timeout: expected a positive number of seconds, got {timeout}")
        self._end = time.monotonic() + timeout

    def remaining(self):
        return self._end - time.monotonic()

    def timeout(self):
        """What is left for the next call; None if there is no end. DeadlineError if nothing is left."""
        remaining = self.remaining()
        if remaining == float("inf"):
            return None
        if remaining <= 0:
            raise make_error("the time for the operation is over", grpc.StatusCode.DEADLINE_EXCEEDED)
        return remaining


class Retrier:
    def __init__(self, policy, deadline):
        self._policy = policy
        self._deadline = deadline
        self._failures = 0  # in a row, without advice

    def note_progress(self):
        """An attempt got further than any before (bytes were committed), so failures are counted anew."""
        self._failures = 0

    def next_delay(self, error):
        """Seconds to wait before the next attempt, or None if `error` is final."""
        if not error.retryable:
            return None
        if error.retry_delay is not None and self._policy.follow_advice:
            self._failures = 0
            delay = max(error.retry_delay, DELAY_MIN) * random.uniform(1, 1.25)
        else:
            self._failures += 1
            if self._failures >= self._policy.attempts_max:
                return None
            growth = self._policy.backoff_factor ** (self._failures - 1)
            delay = min(self._policy.backoff_max, self._policy.backoff_first * growth) * random.random()
        return delay if delay < self._deadline.remaining() else None

    def run(self, attempt, on_wait=None):
        """Calls `attempt` until it succeeds or its error is final, and waits in between."""
        refusal = None  # of the attempt before
        while True:
            try:
                return attempt()
            except grpc.RpcError as rpc_error:
                error = from_rpc(rpc_error)
            except ProofmillError as own_error:
                error = own_error
            delay = self.next_delay(error)
            if delay is None:
                raise _with_refusal(error, refusal)
            refusal = error
            if on_wait is not None:
                on_wait(error, delay)
            time.sleep(delay)


def _with_refusal(error, refusal):
    """A bare "deadline exceeded" hides what the time was spent on."""
    if refusal is None or error.reason or not isinstance(error, DeadlineError):
        return error
    return make_error(f"{error.message}; the attempt before failed with {refusal}", error.code)
