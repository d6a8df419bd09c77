import assert from "node:assert/strict";
import { test } from "node:test";
import { Code } from "@connectrpc/connect";
import { BusyError, DeadlineError, UnavailableError, WitnessError } from "@proofmill/client";
import { fromRejection, makeError } from "../dist/errors.js";
import { Operation } from "../dist/operation.js";
import { DEFAULT_RETRY, Retrier } from "../dist/retry.js";
import { refusal } from "./fake_service.js";

const HALF = () => 0.5;
const LONG_MS = 1e6;
const makeRetrier = (policy = {}, timeoutMs = LONG_MS) =>
  new Retrier({ ...DEFAULT_RETRY, ...policy }, new Operation({ timeoutMs }, LONG_MS), HALF);

test("an error has the code, reason and delay that the service gave", () => {
  const error = fromRejection(refusal(Code.ResourceExhausted, "QUEUE_FULL", 1250));

  assert(error instanceof BusyError);
  assert.equal(error.name, "BusyError");
  assert.deepEqual(
    [error.code, error.reason, error.retryDelayMs, error.retryable],
    ["RESOURCE_EXHAUSTED", "QUEUE_FULL", 1250, true],
  );
});

test("the class of an error follows its reason, then its code", () => {
  assert(fromRejection(refusal(Code.InvalidArgument, "WITNESS_LENGTH")) instanceof WitnessError);
  assert.equal(fromRejection(refusal(Code.NotFound, "CIRCUIT_UNKNOWN")).name, "CircuitError");
  assert.equal(fromRejection(refusal(Code.ResourceExhausted, "MESSAGE_TOO_LARGE")).name, "RequestError");
  assert.equal(fromRejection(refusal(Code.Unauthenticated, "UNAUTHENTICATED")).name, "AuthenticationError");
  assert.equal(fromRejection(refusal(Code.Internal, "SELF_CHECK_FAILED")).name, "ServiceError");
  assert.equal(fromRejection(refusal(Code.DeadlineExceeded, "DEADLINE_EXPIRED")).code, "DEADLINE_EXCEEDED");
  assert.equal(fromRejection(refusal(Code.Canceled, "CANCELLED")).code, "CANCELLED");
});

test("what did not come from a call is thrown as it is", () => {
  const mistake = new TypeError("a mistake in a callback");

  assert.throws(() => fromRejection(mistake), mistake);
});

test("the longer of RetryInfo and the push-back trailer counts, and a negative push-back forbids another try", () => {
  const both = fromRejection(refusal(Code.Unavailable, "DRAINING", 100, { "grpc-retry-pushback-ms": "400" }));
  const never = fromRejection(refusal(Code.Unavailable, "DRAINING", 100, { "grpc-retry-pushback-ms": "-1" }));

  assert.equal(both.retryDelayMs, 400);
  assert.deepEqual([never.retryable, never.retryDelayMs], [false, undefined]);
  assert(never instanceof UnavailableError);
});

test("advice is kept in full, with up to a quarter on top, and does not use up attempts", () => {
  const retrier = makeRetrier({ attemptsMax: 2 });
  const busy = makeError(Code.ResourceExhausted, "full", "QUEUE_FULL", 1000);

  for (let i = 0; i < 20; i++) assert.equal(retrier.nextDelayMs(busy), 1125);
});

test("advice of nothing still waits a little", () => {
  assert.equal(makeRetrier().nextDelayMs(makeError(Code.Unavailable, "", "DRAINING", 0)), 11.25);
});

test("without advice delays grow up to their maximum and attempts end", () => {
  const retrier = makeRetrier({ attemptsMax: 7 });
  const lost = makeError(Code.Unavailable, "connection refused", "");
  const delays = Array.from({ length: 7 }, () => retrier.nextDelayMs(lost));

  assert.deepEqual(delays, [50, 100, 200, 400, 800, 1000, undefined]);
});

test("progress counts failures anew", () => {
  const retrier = makeRetrier({ attemptsMax: 2 });
  const lost = makeError(Code.Unavailable, "connection refused", "");

  assert.equal(retrier.nextDelayMs(lost), 50);
  retrier.noteProgress();
  assert.equal(retrier.nextDelayMs(lost), 50);
  assert.equal(retrier.nextDelayMs(lost), undefined);
});

test("an error that waiting cannot help is final, and so is one whose wait would pass the deadline", () => {
  assert.equal(makeRetrier().nextDelayMs(makeError(Code.InvalidArgument, "", "WITNESS_LENGTH")), undefined);
  assert.equal(makeRetrier({}, 500).nextDelayMs(makeError(Code.Unavailable, "", "DRAINING", 600)), undefined);
});

test("a drop that nobody explains means unavailable, a cancellation by the service does not", () => {
  for (const code of [Code.Canceled, Code.Aborted]) {
    const error = makeError(code, "", "");
    assert(error instanceof UnavailableError && error.retryable && error.code === "UNAVAILABLE");
  }
  assert.equal(makeError(Code.Canceled, "", "CANCELLED").retryable, false);
});

test("a deadline that passes tells what the attempt before failed with", async () => {
  const retrier = makeRetrier();
  const errors = [makeError(Code.Unavailable, "no device", "NO_DEVICE", 1), makeError(Code.DeadlineExceeded, "too late", "")];
  const run = retrier.run(async () => {
    throw errors.shift();
  });

  await assert.rejects(
    run,
    (error) => error instanceof DeadlineError && error.message === "too late; the attempt before failed with NO_DEVICE: no device",
  );
});

test("a timeout that is no positive number is refused", () => {
  for (const timeoutMs of [0, -1, NaN]) assert.throws(() => new Operation({ timeoutMs }, 1), RangeError);
});
