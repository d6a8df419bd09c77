"""Makes the messages and services of the API from proto/ while the package is built: they are not committed.

Takes protoc with gRPC's plugin where both are on PATH (Debian: protobuf-compiler, protobuf-compiler-grpc), else grpcio-tools.
"""

import pathlib
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
API = ["common", "circuits", "prover", "uploads", "jobs"]


def protoc():
    plugin = shutil.which("grpc_python_plugin")
    if plugin and shutil.which("protoc"):
        return ["protoc", f"--plugin=protoc-gen-grpc_python={plugin}"]
    return [sys.executable, "-m", "grpc_tools.protoc"]


class BuildWithMessages(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib).resolve()
        files = [f"proofmill/v1/{name}.proto" for name in API]
        subprocess.run([*protoc(), "-I", ROOT / "proto", f"--python_out={target}", f"--grpc_python_out={target}", *files], check=True)
        (target / "proofmill/v1/__init__.py").touch()
        # Only descriptions, for a pool of our own: another package may bring messages of the same names.
        subprocess.run([*protoc(), "-I", ROOT / "third_party/googleapis", "--include_imports",
                        f"--descriptor_set_out={target / 'proofmill/google_rpc.binpb'}", "google/rpc/status.proto", "google/rpc/error_details.proto"],
                       check=True)


setup(cmdclass={"build_py": BuildWithMessages})
