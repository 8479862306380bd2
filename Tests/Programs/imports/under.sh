# Sourced by the suites of C functions.

# run NAME COMMAND…: under the patch of that name; NAME.said is what its handlers printed, NAME$tag.events what rules recorded.
run() {
  capture "$1" timeout 60 "$scripthost" run -v --state state --events "$1$tag.events" --patches "$here/patches/$1" -- "${@:2}"
  sed -n "s/^scripthost: [^ ]*patch.lua:[0-9]*: //p" "$1.err" | sed "s|[a-z]*/patch.lua:|patch.lua:|" >"$1.said"
}
