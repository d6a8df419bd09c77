// A page that proves: the witness is computed here or comes from a file, the service proves it, and the proof is checked here.

import { connect, ProofmillError, type CircuitInfo, type Progress, type ProofResult } from "@proofmill/client";

// The page comes from its gateway, so that the client needs no address.
const client = connect();

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const bytesOf = async (file: File): Promise<Uint8Array> => new Uint8Array(await file.arrayBuffer());

const WORDS: Record<Progress["phase"], string> = {
  computing_witness: "Computing the witness",
  connecting: "Connecting",
  sending: "Sending the witness",
  queued: "Waiting in the queue",
  running: "Proving",
  waiting_to_retry: "Waiting to try again",
};
// How full the bar is when a phase begins, and when it ends.
const BAR: Record<Progress["phase"], [number, number]> = {
  computing_witness: [0, 0.2],
  connecting: [0.2, 0.25],
  sending: [0.25, 0.5],
  queued: [0.5, 0.6],
  running: [0.6, 0.98],
  waiting_to_retry: [0.25, 0.25],
};
// Of a proof; the service tells when one ends, in an order of its own.
const STAGE_COUNT = 9;
const stagesDone = new Set<string>();

function shareDone({ phase, sentBytes, sizeBytes, stage }: Progress): number {
  if (phase === "sending") return sentBytes / sizeBytes;
  if (stage !== "") stagesDone.add(stage);
  return phase === "running" ? Math.min(1, stagesDone.size / STAGE_COUNT) : 0;
}

function describe({ phase, sentBytes, sizeBytes, jobsAhead, stage, retryReason, retryDelayMs = 0 }: Progress): string {
  if (phase === "sending") return `${WORDS[phase]}: ${sentBytes} of ${sizeBytes} bytes`;
  if (phase === "queued") return `${WORDS[phase]}: ${jobsAhead} ahead`;
  if (phase === "running" && stage !== "") return `${WORDS[phase]}: ${stage} done`;
  if (phase === "waiting_to_retry") return `${WORDS[phase]} in ${(retryDelayMs / 1000).toFixed(1)} s: ${retryReason}`;
  return WORDS[phase];
}

function show(progress: Progress): void {
  const [from, to] = BAR[progress.phase];
  element<HTMLProgressElement>("bar").value = from + (to - from) * shareDone(progress);
  element("phase").textContent = `${describe(progress)} …`;
  const step = document.createElement("li");
  step.className = "done";
  step.textContent = describe(progress);
  element("steps").append(step);
}

async function prove(signal: AbortSignal): Promise<ProofResult> {
  const circuit = element<HTMLSelectElement>("circuit").value;
  const options = { signal, onProgress: show };
  const witness = element<HTMLInputElement>("witness").files?.[0];
  if (witness !== undefined) return client.prove(circuit, await bytesOf(witness), options);
  const wasm = element<HTMLInputElement>("wasm").files?.[0];
  if (wasm === undefined) throw new Error("Choose a witness, or a witness calculator.");
  const input = JSON.parse(element<HTMLTextAreaElement>("input").value);
  return client.fullProve(input, await bytesOf(wasm), circuit, options);
}

async function showResult({ circuit, proof, publicSignals, queueWaitMs, stages, device }: ProofResult): Promise<void> {
  const { verificationKey } = await client.circuit(circuit);
  const valid = await client.groth16.verify(verificationKey!, publicSignals, proof);
  element("verdict").className = valid ? "valid" : "invalid";
  element("verdict").textContent = valid ? "The proof holds: checked in this page." : "The proof does not hold.";
  element<HTMLProgressElement>("bar").value = 1;
  element("phase").textContent = `Done: proved by ${device} in ${stages.length} steps, after ${queueWaitMs} ms in the queue.`;
  element("result").textContent = JSON.stringify({ proof, publicSignals }, null, 1);
  element("result").hidden = false;
}

function showError(error: unknown, outcome: string): void {
  const known = error instanceof ProofmillError ? `${[error.name, error.reason].filter(Boolean).join(" ")}: ` : "";
  element("error").textContent = `${known}${(error as Error).message}`;
  element("phase").textContent = outcome;
}

// Why this page cannot prove a circuit; "" if it can.
function obstacleOf({ state, proofSystem, failure }: CircuitInfo): string {
  if (proofSystem !== "groth16") return `proofs of ${proofSystem} are not for this page`;
  if (state === "failed") return `failed: ${failure}`;
  return state === "ready" ? "" : state;
}

function showCircuits(circuits: CircuitInfo[]): void {
  for (const circuit of circuits) {
    const obstacle = obstacleOf(circuit);
    const option = new Option(circuit.id, circuit.id);
    option.disabled = obstacle !== "";
    element<HTMLSelectElement>("circuit").append(option);
    if (obstacle === "") continue;
    const note = document.createElement("li");
    note.textContent = `${circuit.id}: ${obstacle}`;
    element("unusable").append(note);
  }
  const some = circuits.some((circuit) => obstacleOf(circuit) === "");
  element("phase").textContent = some ? "Ready." : "The service has no circuit that this page can prove.";
  element<HTMLButtonElement>("prove").disabled = !some;
}

let controller = new AbortController();
element("cancel").addEventListener("click", () => controller.abort());
element("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  for (const id of ["steps", "verdict", "error", "result"]) element(id).textContent = "";
  element("result").hidden = true;
  stagesDone.clear();
  element<HTMLButtonElement>("prove").disabled = true;
  element<HTMLButtonElement>("cancel").disabled = false;
  controller = new AbortController();
  try {
    await showResult(await prove(controller.signal));
  } catch (error) {
    showError(error, "Not proved.");
  }
  element<HTMLButtonElement>("prove").disabled = false;
  element<HTMLButtonElement>("cancel").disabled = true;
});

client.circuits().then(showCircuits, (error) => showError(error, "No circuits. Reload this page when the service is there."));
