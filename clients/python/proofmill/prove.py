"""One proof, over all of its attempts: what was sent of the witness survives a lost connection."""

import dataclasses
import datetime
import hashlib
import queue
from typing import Optional

import grpc

from proofmill.errors import from_rpc, make_error
from proofmill.retry import Retrier
from proofmill.v1 import jobs_pb2, prover_pb2, uploads_pb2

CHUNK_BYTES_MAX = 1 << 20  # of a stream: larger chunks gain nothing
PIECE_BYTES = 128 << 10  # of an upload
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

    def __init__(self, prover, uploads, metadata, policy, deadline, spec, proof_input, on_progress):
        self._prover = prover
        self._uploads = uploads
        self._metadata = metadata
        self._deadline = deadline
        self._spec = spec
        self._input = proof_input
        self._data = proof_input.data
        self._on_progress = on_progress
        self._retrier = Retrier(policy, deadline)
        self._progress = Progress("connecting", 0, len(self._data))
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
        request = self._input.request(self._spec)
        self._report(phase="running")
        return self._prover.Prove(request, timeout=self._deadline.timeout(), metadata=self._metadata).result

    def job(self, jobs, unary_bytes_max, timeout):
        """Makes a job of it, and leaves it to itself. `timeout`, in seconds, is what the job may take, None for the most."""
        def attempt():
            self._report(phase="connecting")
            upload = "" if len(self._data) <= unary_bytes_max else self._send_upload()
            request = jobs_pb2.CreateJobRequest(request=self._input.request(self._spec, upload))
            if timeout is not None:
                request.timeout.FromTimedelta(datetime.timedelta(seconds=timeout))
            return jobs.CreateJob(request, timeout=self._deadline.timeout(), metadata=self._metadata).job

        try:
            return self._retrier.run(lambda: self._with_restarts(attempt), self._report_wait)
        except BaseException:
            self._give_up()
            raise

    def _send_upload(self):
        options = {"timeout": self._deadline.timeout(), "metadata": self._metadata}
        if self._upload:
            upload = self._uploads.GetUpload(uploads_pb2.GetUploadRequest(name=self._upload), **options).upload
        else:
            request = uploads_pb2.CreateUploadRequest(circuit=self._spec.circuit, size_bytes=len(self._data),
                                                      sha256=hashlib.sha256(self._data).digest())
            upload = self._uploads.CreateUpload(request, **options).upload
        while True:
            before = self._committed
            self._upload, self._committed = upload.name, min(upload.committed_bytes, len(self._data))
            self._report(phase="sending", sent_bytes=self._committed)
            if self._committed > before:
                self._retrier.note_progress()
            if self._committed == len(self._data):
                return self._upload
            piece = self._data[self._committed:self._committed + min(max(upload.chunk_bytes_max, 1), PIECE_BYTES)]
            # The whole has its SHA-256, so that a piece needs no checksum of its own.
            request = uploads_pb2.WriteUploadRequest(name=self._upload, offset_bytes=self._committed, data=piece.tobytes())
            upload = self._uploads.WriteUpload(request, timeout=self._deadline.timeout(), metadata=self._metadata).upload

    def _attempt_stream_with_restarts(self):
        return self._with_restarts(self._attempt_stream)

    def _with_restarts(self, attempt):
        while True:
            try:
                return attempt()
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
        committed = min(admitted.committed_bytes, len(self._data))
        if committed > self._committed:
            self._retrier.note_progress()
        self._committed = committed
        self._report(sent_bytes=committed)

    def _requests(self, admissions):
        """Only the header until the service admits it, so that a refusal costs nothing. Runs on a thread of gRPC's."""
        header = prover_pb2.StreamHeader(spec=self._spec, size_bytes=len(self._data), sha256=hashlib.sha256(self._data).digest(),
                                         upload=self._upload, whir_claims=self._input.claims)
        yield prover_pb2.ProveStreamRequest(header=header)
        admitted = admissions.get()
        if admitted is None:
            return
        chunk_bytes = min(max(admitted.chunk_bytes_max, 1), CHUNK_BYTES_MAX)
        for offset in range(self._committed, len(self._data), chunk_bytes):
            data = self._data[offset:offset + chunk_bytes].tobytes()
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
