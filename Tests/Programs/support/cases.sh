# Sourced by suites whose checks are one program of the package: builds it in -Onone and in -O and runs both.
#
#     . "$(dirname "${BASH_SOURCE[0]}")/../support/cases.sh"
#     run_cases hook-cases

. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"
need_swift

# run_cases PRODUCT ARGUMENT…
run_cases() {
  local level program
  for level in debug release; do
    program=$(built_product $level "$1")
    echo "== $level"
    "$program" "${@:2}"
  done
}
