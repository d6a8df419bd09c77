# Every C++ and CUDA file is as clang-format writes it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mapfile -t files < <(git ls-files '*.cc' '*.h' '*.cu' '*.cuh')
echo "${#files[@]} files"
check "clang-format" xargs -P "${JOBS}" -n 32 clang-format --dry-run -Werror <<<"$(printf '%s\n' "${files[@]}")"
