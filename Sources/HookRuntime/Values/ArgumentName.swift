// ArgumentName — how sentences call an argument.

/// `2 'price'`, or `2` for an argument without a label.
/// - Parameter position: counts from 0.
package func argumentName(_ position: Int, _ label: String?) -> String {
  label.map { "\(position + 1) '\($0)'" } ?? "\(position + 1)"
}
