// When to try a failed call again, bounded by the deadline of the whole operation.

import { DeadlineError, type ProofmillError } from "./errors.js";
import type { Operation } from "./operation.js";

/**
 * Delays grow from `backoffFirstMs` by `backoffFactor` up to `backoffMaxMs`, each with full jitter. A delay that the service
 * asks for is kept in full and gets up to a quarter of itself on top, so that clients refused together do not come back
 * together.
 */
export interface RetryPolicy {
  backoffFirstMs: number;
  backoffMaxMs: number;
  backoffFactor: number;
  /**
   * Attempts in a row that fail without advice from the service, a refused connection above all. Refusals with advice
   * ("the queue is full, come back in 300 ms") are retried until the deadline.
   */
  attemptsMax: number;
  /** False: advice does not count, so that with attemptsMax = 1 every refusal is final and seen as it is. */
  followAdvice: boolean;
}

export const DEFAULT_RETRY: RetryPolicy = {
  backoffFirstMs: 100,
  backoffMaxMs: 2000,
  backoffFactor: 2,
  attemptsMax: 8,
  followAdvice: true,
};

// Advice of "at once" from a service that keeps refusing must not become a busy loop.
const DELAY_MIN_MS = 10;

export class Retrier {
  private failures = 0; // in a row, without advice

  constructor(
    private readonly policy: RetryPolicy,
    private readonly operation: Operation,
    private readonly random: () => number = Math.random,
  ) {}

  /** An attempt got further than any before (bytes were committed), so failures are counted anew. */
  noteProgress(): void {
    this.failures = 0;
  }

  /** Milliseconds to wait before the next attempt, or undefined if `error` is final. */
  nextDelayMs(error: ProofmillError): number | undefined {
    if (!error.retryable) return undefined;
    let delay: number;
    if (error.retryDelayMs !== undefined && this.policy.followAdvice) {
      this.failures = 0;
      delay = Math.max(error.retryDelayMs, DELAY_MIN_MS) * (1 + this.random() / 4);
    } else {
      this.failures += 1;
      if (this.failures >= this.policy.attemptsMax) return undefined;
      const growth = this.policy.backoffFactor ** (this.failures - 1);
      delay = Math.min(this.policy.backoffMaxMs, this.policy.backoffFirstMs * growth) * this.random();
    }
    return delay < this.operation.remainingMs() ? delay : undefined;
  }

  /** Calls `attempt` until it succeeds or its error is final, and waits in between. */
  async run<T>(attempt: () => Promise<T>, onWait?: (error: ProofmillError, delayMs: number) => void): Promise<T> {
    let refusal: ProofmillError | undefined; // of the attempt before
    for (;;) {
      try {
        return await attempt();
      } catch (reason) {
        const error = this.operation.failure(reason);
        const delayMs = this.nextDelayMs(error);
        if (delayMs === undefined) throw withRefusal(error, refusal);
        refusal = error;
        onWait?.(error, delayMs);
        await this.operation.sleep(delayMs);
      }
    }
  }
}

// A bare "deadline exceeded" hides what the time was spent on.
function withRefusal(error: ProofmillError, refusal: ProofmillError | undefined): ProofmillError {
  if (refusal === undefined || !(error instanceof DeadlineError) || error.reason !== "") return error;
  const before = refusal.reason === "" ? refusal.message : `${refusal.reason}: ${refusal.message}`;
  const { code, reason, retryable } = error;
  return new DeadlineError(`${error.message}; the attempt before failed with ${before}`, {
    code,
    reason,
    retryable,
    cause: refusal,
  });
}
