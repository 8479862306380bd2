// HostVersion — the release of all parts, which are built together.

package enum HostVersion {
  package static let text = "0.1.0"
}
