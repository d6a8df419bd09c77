"""A client of proofmill, a service that makes zero-knowledge proofs.

    with proofmill.Client("127.0.0.1:50051") as client:
        result = client.prove("my-circuit", "witness.wtns")
        assert client.verify("my-circuit", result.public_signals, result.proof)
"""

from proofmill.client import Client, RetryPolicy
from proofmill.errors import (AuthenticationError, BusyError, CircuitError, DeadlineError, ProofmillError, RequestError, ServiceError,
                              UnavailableError, WitnessError)
from proofmill.prove import Progress
from proofmill.results import Circuit, Job, ProofResult, WhirResult

__all__ = ["AuthenticationError", "BusyError", "Circuit", "CircuitError", "Client", "DeadlineError", "Job", "ProofResult",
           "ProofmillError", "Progress", "RequestError", "RetryPolicy", "ServiceError", "UnavailableError", "WhirResult", "WitnessError"]
