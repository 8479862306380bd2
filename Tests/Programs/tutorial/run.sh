#!/usr/bin/env bash
# The tutorial: its commands are run as they stand on the page, and print what the page says.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL
export PATH="$products:$PATH"
mkdir "$work/page"
judged '' python3 "$here/page.py" "$root/docs/tutorial.md" "$work/page"
finish
