# syntax=docker/dockerfile:1
# The image of the service. docs/operating.md says how to run it.
#
#   docker build -t proofmill .                                                with CUDA, for every card that it can run on
#   docker build -t proofmill --build-arg CUDA_ARCHITECTURES='90-real' .       for an H100 or H200 alone: minutes less, and smaller
#   docker build -t proofmill:0.1.0-cpu --target cpu .                         without CUDA
#
# The steps are those of deploy/image.sh, which tests/fresh/image.sh runs in clean Debian roots, without Docker.
ARG CUDA_IMAGE=nvidia/cuda:13.0.1-devel-ubuntu24.04

FROM ${CUDA_IMAGE} AS toolkit

FROM debian:12 AS source
WORKDIR /src
COPY deploy/packages.txt deploy/image.sh deploy/
COPY deploy/lib deploy/lib
RUN deploy/image.sh packages build
COPY . .
ARG REVISION=unknown
ENV PROOFMILL_REVISION=${REVISION}

FROM source AS build-cpu
RUN deploy/image.sh build cpu /out

FROM source AS build-cuda
# The toolkit alone: compiler, headers and the static runtime. Nothing of it is in the final image but what is linked in.
COPY --from=toolkit /usr/local/cuda-13.0 /usr/local/cuda
ARG CUDA_ARCHITECTURES=all
RUN deploy/image.sh build cuda /out "${CUDA_ARCHITECTURES}"

FROM debian:12-slim AS runtime
RUN --mount=type=bind,source=deploy,target=/run/src/deploy /run/src/deploy/image.sh packages runtime
RUN --mount=type=bind,source=deploy,target=/run/src/deploy /run/src/deploy/image.sh user
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="proofmill" \
      org.opencontainers.image.description="A gRPC service that makes zero-knowledge proofs on GPUs and CPUs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
USER 10001:10001
# proofs, administration and health, metrics
EXPOSE 50051 50052 9464
STOPSIGNAL SIGTERM
# Ready, that is. An orchestrator does better with the three states of grpc.health.v1: see docs/operating.md.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10m --retries=3 \
  CMD ["proofmill", "client", "health", "--target", "127.0.0.1:50052"]
ENTRYPOINT ["proofmill"]
CMD ["serve", "--circuits", "/circuits", "--state_dir", "/var/lib/proofmill"]

FROM runtime AS cpu
COPY --from=build-cpu /out /

FROM runtime AS cuda
# What NVIDIA's container runtime is to put into the container, and no cache of compiled kernels: there is none to compile.
ENV NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    CUDA_CACHE_DISABLE=1
COPY --from=build-cuda /out /
