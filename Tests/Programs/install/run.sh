#!/usr/bin/env bash
# What scripts/install and scripts/package put somewhere else works there: the command, its libraries, pages and completions.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"

# works NAME DIRECTORY: the command below DIRECTORY traces a program and finds the sidecar.
works() {
  local there=$2/bin/scripthost
  capture version "$there" --version
  check "$1: it names the compiler it fits" grep -qE '^scripthost [0-9.]+ \(Swift [0-9.]+, LLVM [0-9a-f]+, x86_64 Linux\)$' version.out
  printf 'let x = 1\n' >t.swift
  capture trace "$there" trace -c -e 'SwiftFormat.PrettyPrinter.*' -- swift-format t.swift
  check "$1: a program runs under it" grep -q 'prettyPrint()' trace.err
  capture query "$there" query --state state 'SELECT 1 AS one'
  check "$1: the sidecar is found" grep -qx 1 query.out
}

check 'install' "$root/scripts/install" --prefix "$work/there"
works 'installed' "$work/there"
for page in there/share/man/man1/*.1; do
  capture page man --warnings -l "$page"
  check "${page##*/}: a page without warnings" [ ! -s page.err ]
done
check 'each command has a page' [ "$(ls there/share/man/man1/scripthost-*.1 | wc -l)" -eq "$("$scripthost" --help | sed -n '/^COMMANDS/,/^$/p' | grep -c '^  ')" ]
# Each shell reads its own, and answers what may follow `scripthost pa`.
bash=there/share/bash-completion/completions/scripthost zsh=there/share/zsh/vendor-completions fish=there/share/fish/vendor_completions.d/scripthost.fish
check 'bash: no mistake of syntax' bash -n "$bash"
check 'zsh: no mistake of syntax' zsh -n "$zsh/_scripthost"
check 'fish: no mistake of syntax' fish --no-execute "$fish"
capture bash bash --norc -c '. "$1"; COMP_WORDS=(scripthost pa) COMP_CWORD=1 COMP_LINE="scripthost pa" COMP_POINT=13; $(complete -p scripthost | sed "s/.*-F \([^ ]*\).*/\1/") scripthost pa scripthost; printf "%s\n" "${COMPREPLY[@]}"' - "$bash"
check 'bash completes a command' grep -qx 'patch *' bash.out
# completes WORD…: what bash makes of the last word.
completes() { bash --norc -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _scripthost; printf "%s\n" "${COMPREPLY[@]}"' "$bash" "$@"; }
same 'bash completes the page that is asked for' <(echo patch) <(completes scripthost help patc)
same 'bash completes a preset' <(echo nio.http) <(completes scripthost run --preset nio.h)
mkfifo waits
"$scripthost" run -- swift-format <waits >/dev/null 2>&1 &
exec 5>waits
for ((round = 0; round < 200; round++)); do "$scripthost" ps --json 2>/dev/null | grep -q pid && break; sleep 0.1; done
same 'bash completes the number of a hosted process' <(echo $!) <(PATH=$work/there/bin:$PATH completes scripthost attach '')
exec 5>&-
wait $!
# What compinit makes of the directory; and what the function hands on, in the place of the line editor.
capture zsh zsh -fc 'fpath=($1 $fpath); autoload -Uz compinit && compinit -D -u; print -r -- ${_comps[scripthost]}; _describe() { print -rl -- ${(P)@[-1]}; }; _files() { :; }; words=(scripthost pa) CURRENT=2; _scripthost' - "$work/$zsh"
check 'zsh: compinit finds it by its first line' grep -qx _scripthost zsh.out
check 'zsh completes a command, with what it does' grep -qx 'patch:load, replace and remove patches of a running process' zsh.out
capture fish fish --no-config -c "source $fish; complete -C 'scripthost pa'"
check 'fish completes a command, with what it does' grep -qx "patch$(printf '\t')load, replace and remove patches of a running process" fish.out
for shell in bash zsh fish; do check "$shell: loading it says nothing" [ ! -s "$shell.err" ]; done
check 'fish completion has every command' [ "$(grep -c -- '-a [a-z-]* -d' "$fish")" -ge 12 ]
capture relative "$root/scripts/install" --prefix there
check 'a relative prefix is refused' grep -q "needs an absolute path; found 'there'" relative.err

# The default compressor takes a minute of processor time.
check 'package' env DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1 "$root/scripts/package" "$work"
deb=$(ls ./*.deb)
check 'its dependencies are declared' [ "$(dpkg-deb -f "$deb" Depends | grep -c 'liblua5.4-0.*libcurl4.*libsqlite3-0.*libzydis4.0')" -eq 1 ]
dpkg-deb -x "$deb" unpacked
works 'packaged' "$work/unpacked/usr"

# A root of its own that holds the packages which are declared and what they need, and nothing else; dpkg installs into it, and asks whether they are all there.
fresh=$work/fresh
mkdir -p "$fresh"/{usr/{bin,sbin,lib,lib64},var/lib/dpkg/{info,updates},proc,dev,tmp}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$fresh/$name"; done
needed() { dpkg-query -W -f '${Pre-Depends}, ${Depends}\n' "$@" | tr , '\n' | sed 's/^ *//; s/[[:space:](|:].*//; /^$/d'; }
declared=$(dpkg-deb -f "$deb" Depends | tr , '\n' | sed 's/^ *//; s/ .*//')
closure=$(printf '%s\n' $declared | sort -u) before=
while [ "$closure" != "$before" ]; do
  before=$closure
  closure=$({ needed $before; printf '%s\n' $before; } | sort -u)
done
dpkg-query -s $closure >"$fresh/var/lib/dpkg/status"
dpkg-query -L $closure | sort -u | while read -r path; do if [ -L "$path" ] || [ -f "$path" ]; then printf '%s\0' "$path"; fi; done |
  tar -C / --null -T - -cf - 2>"$work/.tar" | tar -C "$fresh" --keep-directory-symlink -xf -
check 'dpkg installs it into a fresh root, where the packages it declares are' dpkg --root="$fresh" --log="$work/dpkg.log" -i "$deb"
check 'and calls it installed' [ "$(dpkg-query --admindir="$fresh/var/lib/dpkg" -W -f '${Status}' scripthost)" = 'install ok installed' ]
cat >greet.swift <<'SWIFT'
public struct Greeter {
  public init() {}
  @inline(never) public func greet(_ name: String) -> String { "Hello, " + name }
}
print(Greeter().greet(CommandLine.arguments[0]))
SWIFT
swiftc -O -module-name Greet -Xlinker -rpath -Xlinker '$ORIGIN' -o "$fresh/tmp/greet" greet.swift
# The program brings the runtime it was built with.
ldd "$fresh/tmp/greet" | sed -n 's/.* => \(.*\/lib\/swift\/linux\/.*\) (.*/\1/p' | xargs -I{} cp {} "$fresh/tmp/"
inside() {
  unshare --mount sh -c 'mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && exec env -i HOME=/tmp PATH=/usr/bin:/usr/sbin chroot "$@"' - "$fresh" "$@"
}
cat >"$fresh/tmp/louder.lua" <<'LUA'
patch { id = "louder" }
method "Greet.Greeter.greet(_:)":around(function(call) return call:original():upper() .. "!" end)
LUA
capture fresh inside scripthost --version
check 'there it answers' grep -qE '^scripthost [0-9.]+ \(Swift ' fresh.out
capture fresh inside scripthost run --patches /tmp/louder.lua -- /tmp/greet
check 'there a patch changes a program' grep -qx 'HELLO, /TMP/GREET!' fresh.out
capture fresh inside scripthost query 'SELECT 40 + 2 AS answer'
check 'there the sidecar runs' grep -qx 42 fresh.out
check 'and it is removed without a rest' sh -c 'dpkg --root="$1" --log="$2" -r scripthost && ! find "$1/usr" -name "*scripthost*" | grep .' - "$fresh" "$work/dpkg.log"

for program in unpacked/usr/bin/scripthost unpacked/usr/lib/scripthost/scripthost-export; do
  ldd "$program" >needed
  check "${program##*/}: every library is the system's or its own" [ "$(grep -c '=> /' needed)" -eq "$(grep -cE '=> (/lib|/usr/lib|.*unpacked/)' needed)" ]
  check "${program##*/}: none is missing" [ "$(grep -c 'not found' needed)" -eq 0 ]
done
finish
