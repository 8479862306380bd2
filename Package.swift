// swift-tools-version: 6.2
// One package, dependencies point one way only. ARCHITECTURE.md draws them, and Tests/Architecture holds the drawing against this file.
//
// Everything that is opened inside a program (all but the command) imports Glibc
// and Synchronization, never Foundation: ARCHITECTURE.md says why.
//
// No unsafe flags: packages that depend on this one by URL and version could not be built. The package manager keeps frame
// pointers by itself; Tests/Programs/warnings has the C compiler's warnings.
import PackageDescription

let swift: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "ScriptHost",
  products: [
    .library(name: "ScriptHost", targets: ["ScriptHost"]),
    .library(name: "HookRuntime", targets: ["HookRuntime"]),
    .library(name: "ScriptHostBoot", type: .dynamic, targets: ["ScriptHostBoot"]),
    .executable(name: "scripthost", targets: ["ScriptHostCLI"]),
    .executable(name: "scripthost-export", targets: ["ScriptHostExport"]),
  ],
  targets: [
    // The layout of saved registers, for those that fill frames and those that read them.
    .target(name: "CFrame"),
    .target(
      name: "CHookTrampoline", dependencies: ["CFrame"],
      linkerSettings: [.linkedLibrary("Zydis")]),
    .target(name: "SwiftMangling", swiftSettings: swift),
    .target(
      name: "HookRuntime", dependencies: ["CHookTrampoline", "SwiftMangling"],
      swiftSettings: swift),
    .target(name: "Journal", swiftSettings: swift),
    .target(name: "CLuaShim", dependencies: ["CFrame"]),
    // Lua's grammar, for tools: nothing of ours is under it.
    .target(name: "LuaSyntax", swiftSettings: swift),
    .target(name: "CCrash"),
    // The path of every call of a Lua handler.
    .target(name: "CHandler", dependencies: ["CCrash", "CHookTrampoline", "CLuaShim"]),
    .target(name: "LuaBridge", dependencies: ["CLuaShim"], swiftSettings: swift),
    .target(
      name: "ScriptHost", dependencies: ["HookRuntime", "Journal", "LuaBridge", "CHandler", "CHookTrampoline", "CLuaShim", "CCrash", "SwiftMangling"],
      swiftSettings: swift),
    .target(name: "ScriptHostBoot", dependencies: ["ScriptHost"], swiftSettings: swift),
    .executableTarget(name: "ScriptHostCLI", dependencies: ["ScriptHost", "HookRuntime", "Journal", "LuaSyntax", "SwiftMangling"], swiftSettings: swift),
    // Out of process: what reads journals and hands them on. The sidecar alone links Foundation.
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "Exporters", dependencies: ["HookRuntime", "Journal", "CSQLite"], swiftSettings: swift),
    .executableTarget(name: "ScriptHostExport", dependencies: ["Exporters", "Journal", "ScriptHost"], swiftSettings: swift),
    .executableTarget(name: "start-steps", dependencies: ["ScriptHost"], path: "Tests/Fixtures/start-steps", swiftSettings: swift),
    .executableTarget(name: "record-sample", dependencies: ["Journal"], path: "Tests/Fixtures/record-sample", swiftSettings: swift),
    .target(name: "Checks", path: "Tests/Support/Checks", swiftSettings: [.swiftLanguageMode(.v6)]),
    .target(name: "HookSubjects", path: "Tests/Support/HookSubjects", swiftSettings: swift),
    .target(name: "ClosureHooks", dependencies: ["HookRuntime", "CHookTrampoline"], path: "Tests/Support/ClosureHooks", swiftSettings: swift),
    .executableTarget(
      name: "hook-cases", dependencies: ["Checks", "HookRuntime", "CHookTrampoline", "HookSubjects", "ClosureHooks"], path: "Tests/Support/HookCases",
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "guard-cases", dependencies: ["Checks", "HookRuntime", "ScriptHost", "HookSubjects"], path: "Tests/Support/GuardCases",
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "misuse-cases", dependencies: ["HookRuntime", "HookSubjects", "ClosureHooks"], path: "Tests/Support/MisuseCases",
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "import-cases", dependencies: ["Checks", "HookRuntime", "CHookTrampoline", "ClosureHooks"], path: "Tests/Support/ImportCases",
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .target(name: "SlotSubjects", path: "Tests/Support/SlotSubjects", swiftSettings: swift),
    .executableTarget(
      name: "slot-cases", dependencies: ["Checks", "HookRuntime", "CHookTrampoline", "SlotSubjects"], path: "Tests/Support/SlotCases",
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .target(name: "ReachKit", path: "Tests/Support/ReachKit", swiftSettings: swift),
    .executableTarget(
      name: "reach-cases", dependencies: ["HookRuntime", "CHookTrampoline", "ReachKit"], path: "Tests/Support/ReachCases",
      swiftSettings: [.swiftLanguageMode(.v6), .define("REACH_OUTSIDE")]),
    .target(name: "EngineSubjects", path: "Tests/Support/EngineSubjects", swiftSettings: swift),
    .executableTarget(
      name: "engine-cases", dependencies: ["Checks", "HookRuntime", "CHookTrampoline", "EngineSubjects", "Sampling"], path: "Tests/Support/EngineCases",
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .testTarget(
      name: "SwiftManglingTests", dependencies: ["SwiftMangling"], swiftSettings: swift),
    .testTarget(
      name: "HookRuntimeTests", dependencies: ["HookRuntime", "CHookTrampoline", "intercept-cases"],
      swiftSettings: swift),
    .executableTarget(
      name: "intercept-cases", dependencies: ["CHookTrampoline"], path: "Tests/Fixtures/intercept-cases"),
    // For scripts/bench; the rest of the benchmarks is a package of its own, and shares the clock and the loops.
    .target(name: "Sampling", path: "Benchmarks/Sources/Sampling", swiftSettings: swift),
    .target(name: "BenchSubjects", path: "Benchmarks/Subjects", swiftSettings: swift),
    .executableTarget(
      name: "engine-bench", dependencies: ["HookRuntime", "CHookTrampoline", "Sampling", "BenchSubjects"], path: "Benchmarks/Engine",
      swiftSettings: swift),
    .executableTarget(
      name: "call-plans", dependencies: ["HookRuntime", "SwiftMangling"], path: "Tests/Fixtures/call-plans",
      swiftSettings: swift),
    // Empty unless scripts/fuzz builds it.
    .executableTarget(
      name: "fuzz-cases", dependencies: ["ScriptHost", "HookRuntime", "Journal", "LuaSyntax"], path: "Tests/Support/FuzzCases", swiftSettings: swift),
    .testTarget(name: "LuaSyntaxTests", dependencies: ["LuaSyntax", "LuaBridge"], swiftSettings: swift),
    // The stock Lua library without ScriptHost around it, to hold scripts against.
    .target(name: "CStockLua", path: "Tests/Support/CStockLua", linkerSettings: [.linkedLibrary("lua5.4")]),
    .target(name: "LuaKit", dependencies: ["LuaBridge", "CLuaShim"], path: "Tests/Support/LuaKit", swiftSettings: swift),
    .testTarget(name: "LuaBridgeTests", dependencies: ["LuaBridge", "CLuaShim", "CStockLua", "LuaKit"], swiftSettings: swift),
    .testTarget(
      name: "ScriptHostTests", dependencies: ["ScriptHost", "ScriptHostCLI", "HookRuntime", "Journal", "LuaSyntax", "CLuaShim", "LuaKit"],
      swiftSettings: swift),
  ]
)
