# Sourced after checks.sh: programs that use our modules as a library.
#
#     against_library MODULE.swift… -o program      compiles and links them with HookRuntime, from the products' own objects
#     against_host MODULE.swift… -o program         with ScriptHost

against_library() { against 'HookRuntime|SwiftMangling|CHookTrampoline|CFrame' "$@"; }
against_host() { against 'ScriptHost|HookRuntime|SwiftMangling|CHookTrampoline|CFrame|LuaBridge|CLuaShim|Journal|CCrash|CHandler' "$@"; }

# against MODULES ARGUMENTS…: MODULES are separated by bars.
against() {
  local modules=$1 module maps=()
  shift
  grep -E "/($modules)\.build/" "$products/scripthost.product/Objects.LinkFileList" >"$work/.objects"
  for module in ${modules//|/ }; do
    [ ! -f "$products/$module.build/module.modulemap" ] \
      || maps+=(-Xcc "-fmodule-map-file=$products/$module.build/module.modulemap" -Xcc "-I$root/Sources/$module/include")
  done
  swiftc -swift-version 6 -suppress-warnings -I "$products/Modules" "${maps[@]}" -Xlinker -rpath -Xlinker '$ORIGIN' -lZydis "@$work/.objects" "$@"
}
