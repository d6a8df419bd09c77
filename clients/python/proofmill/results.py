"""What the service makes and holds, as the client gives it."""

import dataclasses
import datetime
import json
from typing import Optional, Union

import grpc

from proofmill.errors import ProofmillError, make_error
from proofmill.inputs import answers, to_claim
from proofmill.v1 import circuits_pb2, common_pb2, jobs_pb2


@dataclasses.dataclass(frozen=True)
class ProofResult:
    """A proof with what belongs to it. `proof` and `public_signals` are proof.json and public.json of snarkjs."""

    proof: dict
    public_signals: list
    circuit: str
    circuit_version: str
    request_id: str
    device: str  # such as "cpu" or "cuda:0"
    stages: dict  # seconds by step; steps may overlap
    queue_wait: float  # in seconds
    run_time: float  # in seconds: how long the device had it, the check included


@dataclasses.dataclass(frozen=True)
class WhirResult:
    """A proof of values of a polynomial, with what belongs to it. It is NOT hiding: it reveals values of the polynomial."""

    commitment: bytes
    claims: list  # [{"point": [element, ...], "value": element}, ...] in the order of the request
    proof: bytes
    circuit: str
    circuit_version: str
    request_id: str
    device: str
    stages: dict
    queue_wait: float
    run_time: float


@dataclasses.dataclass(frozen=True)
class Job:
    """A proof on its way, or done, as the service last told of it."""

    name: str  # finds the job, from anywhere, until it expires
    state: str  # "queued", "running", "succeeded", "failed" or "cancelled"
    circuit: str
    circuit_version: str
    request_id: str
    jobs_ahead: int  # in the queue
    stage: str  # the step of the proof that ended last
    create_time: Optional[datetime.datetime]
    deadline: Optional[datetime.datetime]
    end_time: Optional[datetime.datetime]
    expire_time: Optional[datetime.datetime]
    result: Union[ProofResult, WhirResult, None]  # its proof, if it succeeded; not in a list
    error: Optional[ProofmillError]  # why it has none, if it failed or was cancelled

    @property
    def has_ended(self):
        return self.state in ("succeeded", "failed", "cancelled")


@dataclasses.dataclass(frozen=True)
class Circuit:
    """A circuit that the service holds."""

    id: str
    system: str  # "groth16" or "whir"
    version: str
    aliases: list
    state: str  # "loading", "ready", "failed" or "unloading"
    failure: str
    warnings: list
    witness_bytes: int  # of the witness, or of the polynomial's values
    verification_key: Optional[dict]  # verification_key.json of snarkjs; from Client.circuit() only


def _seconds(duration):
    return duration.seconds + duration.nanos / 1e9


def _facts(message):
    return {
        "circuit": message.circuit,
        "circuit_version": message.circuit_version,
        "request_id": message.request_id,
        "device": message.device,
        "stages": {stage.stage: stage.duration_seconds for stage in message.stages},
        "queue_wait": _seconds(message.queue_wait),
        "run_time": _seconds(message.run_time),
    }


def to_result(message):
    if not message.snarkjs_proof_json or not message.snarkjs_public_json:
        raise make_error("expected a Groth16 proof in the answer of the service, got none", grpc.StatusCode.INTERNAL)
    return ProofResult(proof=json.loads(message.snarkjs_proof_json), public_signals=json.loads(message.snarkjs_public_json),
                       **_facts(message))


def to_whir_result(message, asked=None):
    """`asked` are the claims, as messages, that the proof must be of."""
    whir = message.whir
    if message.WhichOneof("proof") != "whir" or (asked is not None and not answers(whir.claims, asked)):
        raise make_error("expected a WHIR proof of the claims of the request in the answer of the service, got none",
                         grpc.StatusCode.INTERNAL)
    return WhirResult(commitment=whir.commitment, claims=[to_claim(claim) for claim in whir.claims], proof=whir.proof,
                      **_facts(message))


def _enum_name(enum, value, prefix):
    return enum.Name(value).removeprefix(prefix).lower() if value in enum.values() else "unknown"


def to_job(message):
    outcome = message.WhichOneof("outcome")
    times = {name: getattr(message, name).ToDatetime(datetime.timezone.utc) if message.HasField(name) else None
             for name in ("create_time", "deadline", "end_time", "expire_time")}
    result = error = None
    if outcome == "result":
        result = (to_whir_result if message.result.WhichOneof("proof") == "whir" else to_result)(message.result)
    elif outcome == "error":
        error = _to_error(message.error)
    return Job(name=message.name, state=_enum_name(jobs_pb2.Job.State, message.state, "STATE_"), circuit=message.circuit,
               circuit_version=message.circuit_version, request_id=message.request_id, jobs_ahead=message.jobs_ahead,
               stage=message.stage, result=result, error=error, **times)


def _to_error(item):
    codes = {code.value[0]: code for code in grpc.StatusCode}
    delay = _seconds(item.retry_delay) if item.HasField("retry_delay") else None
    return make_error(item.message, codes.get(item.code, grpc.StatusCode.UNKNOWN), item.reason, delay)


def to_circuit(message):
    systems = {common_pb2.PROOF_SYSTEM_GROTH16_BN254: "groth16", common_pb2.PROOF_SYSTEM_WHIR_BABYBEAR: "whir"}
    return Circuit(
        id=message.id,
        system=systems.get(message.proof_system, "unknown"),
        version=message.version,
        aliases=list(message.aliases),
        state=_enum_name(circuits_pb2.Circuit.State, message.state, "STATE_"),
        failure=message.failure,
        warnings=list(message.warnings),
        witness_bytes=message.limits.witness_bytes,
        verification_key=json.loads(message.verification_key_json) if message.verification_key_json else None,
    )
