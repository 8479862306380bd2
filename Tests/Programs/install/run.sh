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
check 'bash completion loads' bash -n there/share/bash-completion/completions/scripthost
check 'fish completion has every command' [ "$(grep -c -- '-a [a-z-]* -d' there/share/fish/vendor_completions.d/scripthost.fish)" -ge 12 ]
capture relative "$root/scripts/install" --prefix there
check 'a relative prefix is refused' grep -q "needs an absolute path; found 'there'" relative.err

check 'package' "$root/scripts/package" "$work"
deb=$(ls ./*.deb)
check 'its dependencies are declared' [ "$(dpkg-deb -f "$deb" Depends | grep -c 'liblua5.4-0.*libzydis4.0.*libsqlite3-0')" -eq 1 ]
dpkg-deb -x "$deb" unpacked
works 'packaged' "$work/unpacked/usr"
for program in unpacked/usr/bin/scripthost unpacked/usr/lib/scripthost/scripthost-export; do
  ldd "$program" >needed
  check "${program##*/}: every library is the system's or its own" [ "$(grep -c '=> /' needed)" -eq "$(grep -cE '=> (/lib|/usr/lib|.*unpacked/)' needed)" ]
  check "${program##*/}: none is missing" [ "$(grep -c 'not found' needed)" -eq 0 ]
done
finish
