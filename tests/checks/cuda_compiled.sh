#!/bin/bash
# Fails where a CUDA toolkit is present and the build has nothing compiled for sm_90. Passes where there is no toolkit.
# usage: cuda_compiled.sh BUILD_FOLDER
set -Eeuo pipefail
build=$1

toolkit=""
for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
  if [[ -n ${folder} && -x ${folder}/bin/nvcc ]]; then toolkit=${folder}/bin && break; fi
done
if [[ -z ${toolkit} ]]; then toolkit=$(dirname "$(command -v nvcc || true)"); fi
if [[ ! -x ${toolkit}/nvcc ]]; then
  echo "no CUDA toolkit here: nothing to compile for a GPU"
  exit 0
fi

found=0
while read -r file; do
  cubins=$("${toolkit}/cuobjdump" --list-elf "${file}" 2>/dev/null | grep -c 'sm_90' || true)
  echo "${file#"${build}"/}: ${cubins} cubins for sm_90"
  found=$((found + cubins))
done < <(find "${build}" -name '*cuda*.a' -o -type f -name proofmill -perm -u+x)
if [[ ${found} -eq 0 ]]; then
  echo "a CUDA toolkit is in ${toolkit}, but nothing in ${build} was compiled for sm_90" >&2
  exit 1
fi
