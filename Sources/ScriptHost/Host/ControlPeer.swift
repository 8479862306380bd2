// ControlPeer — who made a connection to the control socket, as the kernel says.
package import Glibc

/// The user and the process that made a connection.
package struct ControlPeer: Sendable {
  package let user: uid_t
  package let process: pid_t
}
