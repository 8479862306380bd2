/// The mangling of a type without substitutions, as `swift_getTypeByMangledNameInContext` accepts it.
/// - Returns: nil when the type holds generic parameters or parts the model does not know.
package func mangled(_ type: TypeSyntax) -> [UInt8]? { nil }
