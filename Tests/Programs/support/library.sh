# Sourced after checks.sh: programs that use HookRuntime as a library.
#
#     against_library MODULE.swift… -o program      compiles and links them with the products' own objects

against_library() {
  grep -E '/(HookRuntime|SwiftMangling|CHookTrampoline)\.build/' "$products/scripthost.product/Objects.LinkFileList" >"$work/.objects"
  swiftc -swift-version 6 -suppress-warnings -I "$products/Modules" -Xcc "-fmodule-map-file=$products/CHookTrampoline.build/module.modulemap" \
    -Xcc "-I$root/Sources/CHookTrampoline/include" -Xlinker -rpath -Xlinker '$ORIGIN' -lZydis "@$work/.objects" "$@"
}
