// swift-tools-version: 6.2
// A program that hooks itself: ScriptHost as a library. In a package of your own:
//
//   .package(url: "https://…/ScriptHost.git", from: "…")
import PackageDescription

let package = Package(
  name: "till",
  dependencies: [.package(name: "ScriptHost", path: "../..")],
  targets: [
    .target(name: "Shop"),
    .executableTarget(name: "till", dependencies: ["Shop", .product(name: "ScriptHost", package: "ScriptHost")]),
  ]
)
