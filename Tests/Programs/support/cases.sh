# Sourced by suites whose checks are one program of the package: builds it in -Onone and in -O and runs both.
#
#     . "$(dirname "${BASH_SOURCE[0]}")/../support/cases.sh"
#     run_cases hook-cases

set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)

# run_cases PRODUCT ARGUMENT…
run_cases() {
  local level
  swift build --package-path "$root" --product "$1" >&2
  swift build --package-path "$root" -c release --product "$1" >&2
  for level in debug release; do
    echo "== $level"
    "$root/.build/$level/$1" "${@:2}"
  done
}
