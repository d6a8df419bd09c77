// How the client behaves when the service, or the way to it, does not.

import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, beforeEach, describe, test } from "node:test";
import { Code } from "@connectrpc/connect";
import {
  connect,
  DeadlineError,
  RequestError,
  UnavailableError,
  WitnessError,
  type Client,
  type CommonOptions,
  type Progress,
  type Transfer,
} from "@proofmill/client";
import { connect as connectWeb } from "@proofmill/client/web";
import { FakeService, refusal } from "./fake_service.js";

const WITNESS = Uint8Array.from([...Buffer.from("wtns"), ...Array.from({ length: 346 }, (_, i) => i % 251)]);
const SIGNALS = [String(WITNESS.length), String(WITNESS.reduce((sum, byte) => sum + byte, 0))];
const QUICK: CommonOptions = { retry: { backoffFirstMs: 1, backoffMaxMs: 5 }, unaryBytesMax: 1000, timeoutMs: 20_000 };
const SMALL: CommonOptions = { ...QUICK, unaryBytesMax: 100 };

let fake: FakeService;
let client: Client | undefined;
beforeEach(() => {
  fake = new FakeService();
});
afterEach(async () => {
  client?.close();
  client = undefined;
  await fake.stop();
});

async function overGrpc(options: CommonOptions = QUICK): Promise<Client> {
  client = connect({ target: await fake.start("grpc"), ...options });
  return client;
}

async function overWeb(options: CommonOptions = QUICK): Promise<Client> {
  return connectWeb({ target: await fake.start("http1"), ...options });
}

const fail =
  (...args: Parameters<typeof refusal>) =>
  () => {
    throw refusal(...args);
  };

// Ends when the call is cancelled, and with an error then.
const hang = async ({ signal }: { signal: AbortSignal }) => {
  if (!signal.aborted) await once(signal, "abort");
  throw refusal(Code.Canceled, "CANCELLED");
};

describe("one message", () => {
  test("the result has the shapes of snarkjs and what belongs to it", async () => {
    const result = await (await overGrpc()).prove("fake", WITNESS, { requestId: "mine" });

    assert.deepEqual(result.publicSignals, SIGNALS);
    assert.equal(result.proof.protocol, "groth16");
    assert.deepEqual(result.stages, [{ stage: "ntt", durationMs: 250 }]);
    assert.deepEqual([result.requestId, result.device, result.queueWaitMs, result.runTimeMs], ["mine", "cpu", 2, 1000]);
    assert.deepEqual(fake.calls, ["prove"]);
  });

  test("a refusal with a delay is repeated after it", async () => {
    fake.script("prove", fail(Code.ResourceExhausted, "QUEUE_FULL", 120), fail(Code.Unavailable, "CIRCUIT_LOADING", 80));
    const target = await overGrpc();
    const waits: Array<[string, boolean]> = [];
    const onProgress = ({ phase, retryReason = "", retryDelayMs = 0 }: Progress) => {
      if (phase === "waiting_to_retry") waits.push([retryReason, retryDelayMs >= (retryReason === "QUEUE_FULL" ? 120 : 80)]);
    };
    const started = performance.now();
    const result = await target.prove("fake", WITNESS, { onProgress, transfer: "unary" });

    assert.deepEqual(result.publicSignals, SIGNALS);
    assert.deepEqual(waits, [
      ["QUEUE_FULL", true],
      ["CIRCUIT_LOADING", true],
    ]);
    assert(performance.now() - started >= 199, "the delays were cut short");
  });

  test("a refusal for good is not repeated", async () => {
    fake.script("prove", fail(Code.InvalidArgument, "WITNESS_UNSATISFIED"));

    await assert.rejects(
      (await overGrpc()).prove("fake", WITNESS),
      (error) => error instanceof WitnessError && error.reason === "WITNESS_UNSATISFIED",
    );
    assert.equal(fake.count("prove"), 1);
  });

  test("attempts end when nobody answers", async () => {
    const target = await fake.start("grpc");
    await fake.stop();
    client = connect({ target, ...QUICK, retry: { ...QUICK.retry, attemptsMax: 3 } });

    await assert.rejects(client.prove("fake", WITNESS), (error) => error instanceof UnavailableError && error.reason === "");
    await fake.start("grpc");
  });

  test("a connection that breaks is made again", async () => {
    fake.script("prove", () => fake.cut());

    assert.deepEqual((await (await overGrpc()).prove("fake", WITNESS)).publicSignals, SIGNALS);
    assert.equal(fake.count("prove"), 2);
  });

  test("the request id stays the same over all attempts", async () => {
    const ids: string[] = [];
    fake.script("prove", fail(Code.Unavailable, "NO_DEVICE", 1), () => {});
    const { requestId } = await (await overGrpc()).prove("fake", WITNESS);
    ids.push(requestId);

    assert.match(requestId, /^[0-9a-f]{32}$/);
    assert.equal(fake.count("prove"), 2);
  });

  test("an abort rejects with the signal's reason and cancels the call", async () => {
    fake.script("prove", hang);
    const target = await overGrpc();
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    const proving = target.prove("fake", WITNESS, { signal: controller.signal });
    while (fake.count("prove") === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort(reason);

    await assert.rejects(proving, (error) => error === reason);
    if (!fake.signals[0]!.aborted) await once(fake.signals[0]!, "abort");
    assert.equal(fake.count("prove"), 1);
  });

  test("an abort ends a wait between attempts", async () => {
    fake.script("prove", fail(Code.ResourceExhausted, "QUEUE_FULL", 10_000));
    const target = await overGrpc();
    const controller = new AbortController();
    const onProgress = ({ phase }: Progress) => phase === "waiting_to_retry" && controller.abort();

    await assert.rejects(target.prove("fake", WITNESS, { signal: controller.signal, onProgress, transfer: "unary" }), {
      name: "AbortError",
    });
  });

  test("a signal that was aborted before stops everything", async () => {
    await assert.rejects((await overGrpc()).prove("fake", WITNESS, { signal: AbortSignal.abort() }), { name: "AbortError" });
    assert.deepEqual(fake.calls, []);
  });

  test("the deadline holds, and the service is told of it", async () => {
    fake.script("prove", () => {}, hang);
    const target = await overGrpc();
    await target.prove("fake", WITNESS); // so that to connect takes no part of the time

    await assert.rejects(target.prove("fake", WITNESS, { timeoutMs: 400 }), DeadlineError);
    assert.match(fake.headers[1]!.get("grpc-timeout")!, /^\d+m$/);
  });

  test("an error in a progress callback reaches the caller", async () => {
    const mistake = new Error("a mistake of the application");
    const onProgress = () => {
      throw mistake;
    };

    await assert.rejects((await overGrpc()).prove("fake", WITNESS, { onProgress, transfer: "unary" }), mistake);
  });

  test("a witness over the service's message limit goes in pieces instead", async () => {
    fake.script("prove", fail(Code.ResourceExhausted, "MESSAGE_TOO_LARGE"));

    assert.deepEqual((await (await overGrpc()).prove("fake", WITNESS)).publicSignals, SIGNALS);
    assert.deepEqual(fake.calls.slice(0, 2), ["prove", "proveStream"]);
  });

  test("the API key and headers go out with each call", async () => {
    client = connect({ target: await fake.start("grpc"), ...QUICK, apiKey: "secret", headers: { "x-session": "one" } });
    await client.prove("fake", WITNESS);
    await client.verify("fake", [], {} as never);

    assert.deepEqual(
      fake.headers.map((header) => header.get("authorization")),
      ["Bearer secret", "Bearer secret"],
    );
    assert.deepEqual(
      fake.headers.map((header) => header.get("x-session")),
      ["one", "one"],
    );
  });
});

describe("a stream", () => {
  test("nothing but the header goes out before the service admits it", async () => {
    fake.script("proveStream", fail(Code.InvalidArgument, "WITNESS_LENGTH"));

    await assert.rejects((await overGrpc(SMALL)).prove("fake", WITNESS), WitnessError);
    assert.deepEqual(
      fake.calls.filter((call) => call !== "deleteUpload"),
      ["proveStream"],
    );
  });

  test("it goes on where it stopped after a lost connection", async () => {
    fake.script(
      "chunk",
      () => {},
      () => {},
      () => fake.cut(),
    );
    const seen: Progress[] = [];
    const result = await (await overGrpc(SMALL)).prove("fake", WITNESS, { onProgress: (progress) => seen.push(progress) });

    assert.deepEqual(result.publicSignals, SIGNALS);
    assert.equal(fake.count("proveStream"), 2);
    assert.equal(fake.count("chunk"), 4, "three chunks before the loss, and the last one");
    assert.equal(seen.at(-1)!.phase, "running");
    assert.equal(seen.at(-1)!.stage, "ntt");
    assert.equal(seen.at(-1)!.estimatedWaitMs, 1000);
    assert(seen.some(({ phase, sentBytes }) => phase === "sending" && sentBytes === WITNESS.length));
  });

  test("an abort gives up what was sent", async () => {
    fake.script("chunk", hang);
    const controller = new AbortController();
    const target = await overGrpc(SMALL);
    const proving = target.prove("fake", WITNESS, { signal: controller.signal });
    while (fake.count("chunk") === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();

    await assert.rejects(proving, { name: "AbortError" });
    while (fake.uploads.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});

for (const transfer of ["upload", "job"] as Transfer[]) {
  describe(`an upload from a browser, transfer "${transfer}"`, () => {
    test("goes in pieces that the service takes", async () => {
      const sent = new Set<number>();
      const onProgress = ({ phase, sentBytes }: Progress) => phase === "sending" && sent.add(sentBytes);
      const result = await (await overWeb(SMALL)).prove("fake", WITNESS, { transfer, onProgress });

      assert.deepEqual(result.publicSignals, SIGNALS);
      assert.deepEqual([...sent], [100, 200, 300, 350]);
    });

    test("goes on after a lost connection with what the service has", async () => {
      fake.script(
        "writeUpload",
        () => {},
        () => fake.cut(),
        () => {},
        fail(Code.Unavailable, "", undefined),
      );
      const result = await (await overWeb(SMALL)).prove("fake", WITNESS, { transfer });

      assert.deepEqual(result.publicSignals, SIGNALS);
      assert.equal(fake.count("createUpload"), 1);
      assert(fake.count("getUpload") >= 2, "asked how far it was after each failure");
    });

    test("begins anew when the service has forgotten it, but not for ever", async () => {
      fake.script(
        "writeUpload",
        () => {},
        () => fake.uploads.clear(),
      );
      const target = await overWeb(SMALL);
      assert.deepEqual((await target.prove("fake", WITNESS, { transfer })).publicSignals, SIGNALS);
      assert.equal(fake.count("createUpload"), 2);

      fake.script("writeUpload", ...Array.from({ length: 10 }, () => fail(Code.NotFound, "UPLOAD_UNKNOWN")));
      await assert.rejects(
        target.prove("fake", WITNESS, { transfer }),
        (error) => error instanceof RequestError && error.reason === "UPLOAD_UNKNOWN",
      );
    });

    test("is wiped at the service when the call is given up", async () => {
      fake.script("writeUpload", () => {}, hang);
      const controller = new AbortController();
      const proving = (await overWeb(SMALL)).prove("fake", WITNESS, { transfer, signal: controller.signal });
      while (fake.count("writeUpload") < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      controller.abort();

      await assert.rejects(proving, { name: "AbortError" });
      while (fake.uploads.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    });
  });
}

describe("a job from a browser", () => {
  const prove = async (onProgress: (progress: Progress) => void, options = QUICK) =>
    (await overWeb(options)).prove("fake", WITNESS, { onProgress });

  test("tells of the queue and of each step, and is forgotten at the end", async () => {
    const seen: string[] = [];
    const result = await prove(({ phase, jobsAhead, stage }) => seen.push(`${phase} ${jobsAhead} ${stage}`));

    assert.deepEqual(result.publicSignals, SIGNALS);
    assert.deepEqual(seen, ["connecting 0 ", "sending 0 ", "sending 0 ", "queued 3 ", "running 0 msm_a"]);
    while (fake.count("deleteJob") === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test("is found again after a lost connection", async () => {
    fake.script("jobRuns", () => fake.cut());
    const result = await prove(() => {});

    assert.deepEqual(result.publicSignals, SIGNALS);
    assert.deepEqual([fake.count("createJob"), fake.count("watchJob")], [1, 2]);
  });

  test("is made again when its process has gone", async () => {
    fake.script("watchJob", () => fake.jobs.clear());

    assert.deepEqual((await prove(() => {})).publicSignals, SIGNALS);
    assert.equal(fake.count("createJob"), 2);
  });

  test("is done without when the gateway leads to another replica", async () => {
    fake.script("watchJob", fail(Code.Unavailable, "WRONG_INSTANCE"));

    assert.deepEqual((await prove(() => {})).publicSignals, SIGNALS);
    assert.deepEqual([fake.count("createJob"), fake.count("prove")], [1, 1]);
  });

  test("is cancelled when the call is given up", async () => {
    fake.script("jobRuns", hang);
    const controller = new AbortController();
    const proving = (await overWeb()).prove("fake", WITNESS, {
      signal: controller.signal,
      onProgress: ({ phase }) => phase === "running" && controller.abort(),
    });

    await assert.rejects(proving, { name: "AbortError" });
    while (fake.count("cancelJob") === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test("without a listener, a small witness needs no job", async () => {
    await (await overWeb()).prove("fake", WITNESS);

    assert.deepEqual(fake.calls, ["prove"]);
  });

  test("that stands alone is watched over a lost connection, and not made twice", async () => {
    fake.script("jobRuns", () => fake.cut());
    const { jobs } = await overWeb();
    const { name } = await jobs.create({ circuit: "fake", wtns: WITNESS });
    const states: string[] = [];
    for await (const { state } of jobs.watch(name)) states.push(state);

    // What was on its way when the connection broke may be lost.
    assert.deepEqual(states.slice(-3), ["queued", "running", "succeeded"]);
    assert.deepEqual([fake.count("createJob"), fake.count("watchJob")], [1, 2]);
  });

  test("that stands alone is waited for as long as the caller says", async () => {
    fake.script("jobRuns", hang);
    const { jobs } = await overWeb();
    const { name } = await jobs.create({ circuit: "fake", wtns: WITNESS });

    await assert.rejects(jobs.result(name, { timeoutMs: 300 }), DeadlineError);
  });

  test("a gateway that cannot be reached is unavailable", async () => {
    const target = await fake.start("http1");
    await fake.stop();
    const proving = connectWeb({ target, ...QUICK, retry: { attemptsMax: 2, backoffFirstMs: 1 } }).prove("fake", WITNESS);

    await assert.rejects(proving, UnavailableError);
    await fake.start("http1");
  });
});
