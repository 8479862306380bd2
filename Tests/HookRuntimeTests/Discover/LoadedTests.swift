import Glibc
import Testing

@testable import HookRuntime

@Suite("Loaded images", .serialized)
struct DiscoverLoadedTests {
  @Test("this process's images are found, verified, and without the vdso")
  func snapshot() throws {
    let images = LoadedImages.snapshot()
    let main = try #require(images.images.first { $0.isMainProgram })
    #expect(main.path == shell("readlink /proc/\(getpid())/exe").split(separator: "\n").first.map(String.init))
    #expect(main.file != nil)
    #expect(images.images.contains { $0.path.hasSuffix("libswiftCore.so") && $0.fileState == .verified })
    #expect(!images.images.contains { $0.path.contains("vdso") })
    for image in images.images where !image.path.contains("HookRuntimeTests") && !image.path.hasSuffix(".xctest") {
      #expect(image.fileState == .verified || image.fileState == .unverified, "\(image.path)")
    }
  }

  @Test("an address leads to its image, and bias leads to the symbol")
  func addresses() throws {
    let images = LoadedImages.snapshot()
    let retain = try #require(dlsym(nil, "swift_retain"))
    let address = UInt(bitPattern: retain)
    let image = try #require(images.image(containing: address))
    #expect(image.path.hasSuffix("libswiftCore.so"))
    let symbols = SymbolTable(try #require(image.file))
    #expect(symbols.symbols(at: UInt64(address - image.bias)).contains { $0.nameText == "swift_retain" })
    #expect(images.image(containing: 0) == nil)
    #expect(images.image(containing: .max) == nil)
  }

  @Test("a library replaced or removed after loading is recognised; the counter tells of each load")
  func replaced() throws {
    let folder = TemporaryDirectory()
    folder.write("a.c", Array("int a(void) { return 1; }".utf8))
    folder.write("b.c", Array("int b(void) { return 2; } int c(void) { return 3; }".utf8))
    shell(
      "cd \(folder.path) && for n in a b; do clang -shared -fPIC -Wl,--build-id=sha1 $n.c -o $n.so; clang -shared -fPIC -Wl,--build-id=none $n.c -o plain-$n.so; done 2>log"
    )
    for (name, other, good) in [("a.so", "b.so", LoadedImage.FileState.verified), ("plain-a.so", "plain-b.so", .unverified)] {
      let before = LoadedImages.changeCount
      let handle = try #require(dlopen(folder.path + "/" + name, RTLD_NOW | RTLD_LOCAL))
      #expect(LoadedImages.changeCount > before)
      func state() -> LoadedImage.FileState? { LoadedImages.snapshot().images.first { $0.path.hasSuffix("/" + name) }?.fileState }
      #expect(state() == good)
      shell("cd \(folder.path) && mv \(other) \(name)")
      #expect(state() == .fileReplaced)
      unlink(folder.path + "/" + name)
      #expect(state() == .fileMissing)
      dlclose(handle)
    }
  }
}
