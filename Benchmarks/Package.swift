// swift-tools-version: 6.2
// Benchmarks of ScriptHost, apart from its package: `scripts/bench` builds and runs them.
//
//   bench          runs everything, prints the table
//   bench-subject  an ordinary release program, measured with ScriptHost inside and without
//   Subject        what the patches hook; a module of its own, so that the optimiser cannot see through it
//   bench-kinds    the same for every kind of value, calls from scripts, closures and async functions
//   Kinds          what is hooked there
//   bench-client   requests of URLSession
//   Sampling       the clock and the loops around what is measured
//
// What needs the runtime's inner interfaces is in Engine/ and Subjects/, built by the root package as `engine-bench`.
import PackageDescription

let swift: [SwiftSetting] = [.swiftLanguageMode(.v6)]

let package = Package(
  name: "Benchmarks",
  targets: [
    .target(name: "Subject", swiftSettings: swift),
    .target(name: "Kinds", swiftSettings: swift),
    .target(name: "Sampling", swiftSettings: swift),
    .executableTarget(name: "bench-subject", dependencies: ["Sampling", "Subject"], swiftSettings: swift),
    .executableTarget(name: "bench-kinds", dependencies: ["Kinds", "Sampling"], swiftSettings: swift),
    .executableTarget(name: "bench-client", dependencies: ["Sampling"], swiftSettings: swift),
    .executableTarget(name: "bench", swiftSettings: swift),
  ]
)
