"""One proof, over all of its attempts: what was sent of the witness survives a lost connection."""

import dataclasses
import hashlib
import queue
from typing import Optional

import grpc

from proofmill.errors import from_rpc, make_error
from proofmill.retry import Retrier
from proofmill.v1 import prover_pb2, uploads_pb2

CHUNK_BYTES_MAX = 1 << 20  # of a stream: larger chunks gain nothing
RESTARTS_MAX = 3


@dataclasses.dataclass(frozen=True)
class Progress:
    """What a proof is waiting for, as far as the service tells."""

    phase: str  # "connecting", "sending", "queued", "running" or "waiting_to_retry"
    sent_bytes: int  # of the witness
    size_bytes: int  # of the witness
    jobs_ahead: int = 0  # in the queue
    stage: str = ""  # the step of the proof that ended last
    retry_reason: str = ""  # why the last attempt failed
    retry_delay: Optional[float] = None  # until the next attempt, in seconds


class ProveCall:
    """`prover` and `uploads` are stubs, `metadata` goes out with each call."""

    def __init__(self, prover, uploads, metadata, policy, deadline, spec, wtns, on_progress):
        self._prover = prover
        self._uploads = uploads
        self._metadata = metadata
        self._deadline = deadline
        self._spec = spec
        self._wtns = memoryview(wtns)
        self._on_progress = on_progress
        self._retrier = Retrier(policy, deadline)
        self._progress = Progress("connecting", 0, len(wtns))
        self._upload = ""  # its name, once there is one
        self._committed = 0
        self._restarts = 0

    def unary(self):
        """Proves by one message."""
        return self._retrier.run(self._attempt_unary, self._report_wait)

    def stream(self):
        """Proves by a stream, which goes on where it stopped. When it fails, what was sent is given up."""
        try:
            return self._retrier.run(self._attempt_stream_with_restarts, self._report_wait)
        except BaseException:
            self._give_up()
            raise

    def _attempt_unary(self):
        self._report(phase="connecting")
        request = prover_pb2.ProveRequest(spec=self._spec, groth16=prover_pb2.Groth16Input(wtns=self._wtns.tobytes()))
        self._report(phase="running")
        return self._prover.Prove(request, timeout=self._deadline.timeout(), metadata=self._metadata).result

    def _attempt_stream_with_restarts(self):
        while True:
            try:
                return self._attempt_stream()
            except grpc.RpcError as rpc_error:
                error = from_rpc(rpc_error)
            if not self._upload or error.reason not in ("UPLOAD_UNKNOWN", "UPLOAD_CHECKSUM"):
                raise error
            self._upload, self._committed = "", 0
            self._restarts += 1
            if self._restarts > RESTARTS_MAX:
                raise error

    def _attempt_stream(self):
        self._report(phase="connecting")
        admissions = queue.SimpleQueue()
        result = None
        call = self._prover.ProveStream(self._requests(admissions), timeout=self._deadline.timeout(), metadata=self._metadata)
        try:
            for response in call:
                kind = response.WhichOneof("message")
                if kind == "admitted":
                    self._take_admission(response.admitted)
                    admissions.put(response.admitted)
                elif kind == "progress":
                    running = response.progress.state == prover_pb2.JobProgress.STATE_RUNNING
                    self._report(phase="running" if running else "queued", stage=response.progress.stage,
                                 jobs_ahead=response.progress.jobs_ahead)
                elif kind == "result":
                    result = response.result
        finally:
            admissions.put(None)  # gRPC's thread that sends waits for it
            call.cancel()
        if result is None:
            raise make_error("expected a proof on the stream, got its end", grpc.StatusCode.INTERNAL)
        return result

    def _take_admission(self, admitted):
        self._upload = admitted.upload
        committed = min(admitted.committed_bytes, len(self._wtns))
        if committed > self._committed:
            self._retrier.note_progress()
        self._committed = committed
        self._report(sent_bytes=committed)

    def _requests(self, admissions):
        """Only the header until the service admits it, so that a refusal costs nothing. Runs on a thread of gRPC's."""
        header = prover_pb2.StreamHeader(spec=self._spec, size_bytes=len(self._wtns), sha256=hashlib.sha256(self._wtns).digest(),
                                         upload=self._upload)
        yield prover_pb2.ProveStreamRequest(header=header)
        admitted = admissions.get()
        if admitted is None:
            return
        chunk_bytes = min(max(admitted.chunk_bytes_max, 1), CHUNK_BYTES_MAX)
        for offset in range(self._committed, len(self._wtns), chunk_bytes):
            data = self._wtns[offset:offset + chunk_bytes].tobytes()
            yield prover_pb2.ProveStreamRequest(chunk=prover_pb2.Chunk(offset_bytes=offset, data=data))
            self._report(phase="sending", sent_bytes=offset + len(data))

    def _report(self, **changes):
        self._progress = dataclasses.replace(self._progress, **changes)
        if self._on_progress is not None:
            self._on_progress(self._progress)

    def _report_wait(self, error, delay):
        self._report(phase="waiting_to_retry", retry_reason=error.reason or error.message, retry_delay=delay)

    def _give_up(self):
        """Spares the service what it would keep until it expires; what fails here does expire."""
        if not self._upload:
            return
        try:
            self._uploads.DeleteUpload(uploads_pb2.DeleteUploadRequest(name=self._upload), timeout=2, metadata=self._metadata)
        except grpc.RpcError:
            pass
