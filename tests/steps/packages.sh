# Installs the Debian packages that building and testing need.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. deploy/lib/packages.sh

install_packages build quickstart test
record passed 1 "packages installed"
