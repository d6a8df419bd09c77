// One operation of a client: the time that it may take and the signal that gives it up, over all calls and waits of it.

import { type CallOptions, Code } from "@connectrpc/connect";
import { fromRejection, makeError, type ProofmillError } from "./errors.js";

// setTimeout() takes no longer delay than this.
const TIMER_MAX_MS = 2 ** 31 - 1;

export interface OperationOptions {
  /** The most time for the whole operation, retries included, in milliseconds. */
  timeoutMs?: number | undefined;
  /** Gives the operation up: it rejects with the signal's reason, and the service stops working on it. */
  signal?: AbortSignal | undefined;
}

export class Operation {
  readonly signal: AbortSignal | undefined;
  private readonly deadline: number;

  /** Throws a RangeError if the timeout is not a positive number. */
  constructor(options: OperationOptions, defaultTimeoutMs: number) {
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    if (!(timeoutMs > 0)) throw new RangeError(`timeoutMs: expected a positive number, got ${timeoutMs}`);
    this.deadline = performance.now() + timeoutMs;
    this.signal = options.signal;
  }

  remainingMs(): number {
    return this.deadline - performance.now();
  }

  /** Throws the signal's reason if it was aborted, and a DeadlineError if the time is over. */
  check(): void {
    this.signal?.throwIfAborted();
    if (this.remainingMs() <= 0) throw deadlineError();
  }

  /** Options of the next call: what is left of the time, and the signal. */
  callOptions(): CallOptions {
    this.check();
    const timeoutMs = Math.min(Math.max(1, Math.ceil(this.remainingMs())), TIMER_MAX_MS);
    return this.signal === undefined ? { timeoutMs } : { timeoutMs, signal: this.signal };
  }

  /** A signal that is aborted with the operation's, when its time is over, and by `release`, which must be called. */
  linkedSignal(): { signal: AbortSignal; release: () => void } {
    this.check();
    const controller = new AbortController();
    const abort = () => controller.abort();
    const timer = this.deadline === Infinity ? undefined : setTimeout(abort, Math.min(this.remainingMs(), TIMER_MAX_MS));
    this.signal?.addEventListener("abort", abort, { once: true });
    const release = () => {
      clearTimeout(timer);
      this.signal?.removeEventListener("abort", abort);
      abort();
    };
    return { signal: controller.signal, release };
  }

  /** What a call of this operation was rejected with; throws the signal's reason if that is why. */
  failure(reason: unknown): ProofmillError {
    this.signal?.throwIfAborted();
    return fromRejection(reason);
  }

  /** Waits; rejects with the signal's reason at once if it is aborted meanwhile. */
  async sleep(ms: number): Promise<void> {
    this.signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer);
        reject(this.signal?.reason);
      };
      const timer = setTimeout(() => {
        this.signal?.removeEventListener("abort", abort);
        resolve();
      }, ms);
      this.signal?.addEventListener("abort", abort, { once: true });
    });
  }
}

function deadlineError(): ProofmillError {
  return makeError(Code.DeadlineExceeded, "the time for the operation is over", "");
}
