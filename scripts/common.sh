# Sourced by the scripts beside it: where the project is, how it speaks, what it needs.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
products=$root/.build/release
# Debug builds of the tests have a place of their own, so that they can be made beside the release products.
tests_scratch=$root/.build/tests
# How all of them are built: other options would build everything once more. As users build without the optimiser: docs/hooks.md tells what hooks
# see of such code, and whole modules differ in that.
tests_options=(--package-path "$root" --scratch-path "$tests_scratch")

# One line of progress on stderr.
step() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
[ -t 2 ] && [ -z "${NO_COLOR:-}" ] || step() { printf '==> %s\n' "$*" >&2; }

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# The Swift toolchain comes from PATH; its own programs lie beside the real swift.
need_swift() {
  command -v swift >/dev/null || fail "no 'swift' in PATH; install Swift 6.3 from swift.org and add its usr/bin to PATH"
}

# Prints where the toolchain's programs are: `swift` in PATH may be a link, or the front of a version manager.
toolchain_bin() {
  local directory compiler
  directory=$(dirname "$(readlink -f "$(command -v swift)")")
  if [ ! -x "$directory/swift-format" ]; then
    compiler=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)\/lib\/swift".*/\1/p')
    directory=$compiler/bin
  fi
  [ -x "$directory/clang" ] || fail "the toolchain of '$(command -v swift)' has no clang; install a complete Swift toolchain"
  printf '%s\n' "$directory"
}

# built_product LEVEL PRODUCT: builds one of the package's programs, debug or release, and prints where it is. scripts/test has built them
# already (SCRIPTHOST_DEBUG_IS_BUILT, SCRIPTHOST_RELEASE_IS_BUILT).
built_product() {
  if [ "$1" = release ]; then
    [ "${SCRIPTHOST_RELEASE_IS_BUILT:-}" ] || swift build --package-path "$root" -c release --product "$2" >&2
    printf '%s\n' "$root/.build/release/$2"
  else
    [ "${SCRIPTHOST_DEBUG_IS_BUILT:-}" ] || swift build "${tests_options[@]}" --product "$2" >&2
    printf '%s\n' "$tests_scratch/debug/$2"
  fi
}
