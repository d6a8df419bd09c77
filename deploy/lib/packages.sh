# Installs what deploy/packages.txt lists. Source it; needs PROJECT_ROOT.
#
#   install_packages SECTION...   installs what is missing of these sections; touches no network when nothing is

# Prints the missing packages of the sections given, one a line.
missing_packages() {
  local section="" package command wanted=" $* "
  while read -r package command; do
    case ${package} in
      '' | '#'*) continue ;;
      '['*']') section=${package:1:-1} && continue ;;
    esac
    [[ ${wanted} == *" ${section} "* ]] || continue
    if [[ -n ${command} ]] && command -v "${command}" >/dev/null; then continue; fi
    if [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "${package}" 2>/dev/null) == 'ii '* ]]; then continue; fi
    echo "${package}"
  done <"${PROJECT_ROOT}/deploy/packages.txt"
}

# as_root COMMAND...: runs it as root, by sudo if need be.
as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "must be root, or have sudo, to run: $*" >&2
    return 1
  fi
}

apt_update() {
  as_root apt-get -q -o Acquire::Retries=3 update
}

install_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "needs a Debian or Ubuntu system: apt-get and dpkg-query were not found" >&2
    return 1
  fi
  mapfile -t missing < <(missing_packages "$@")
  if [[ ${#missing[@]} -eq 0 ]]; then
    echo "every package of the sections \"$*\" is there already"
    return 0
  fi
  echo "installing ${#missing[@]} packages: ${missing[*]}"
  apt_update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
    install --no-install-recommends "${missing[@]}" </dev/null | apt_progress
}

# Keeps one line in twenty of apt's output: progress without the noise.
apt_progress() {
  awk '/^(E:|W:|Err)/ { print; next } /newly installed|^Fetched|^Need to get/ { print; next }
       /^Setting up/ { if (++n % 50 == 0) print "  " n " packages set up"; fflush() }'
}
