// PartCount — into how many values the optimiser would take a value apart (TypeConverter::countNumberOfFields).

extension TypeInfo {
  /// Stored properties all the way down; of an enum those of its largest payload.
  var partCount: Int { max(1, innerParts) }

  private var innerParts: Int {
    switch kind {
    case .tuple: return fields.reduce(0) { $0 + ((try? $1.type.get())?.innerParts ?? 1) }
    case .optional, .enumeration:
      return cases.filter { $0.hasPayload && !$0.isIndirect }.map { ($0.payload)?.innerParts ?? 1 }.max() ?? 0
    case .string: return 2
    default:
      guard case .structure = metadata.kind else { return 0 }
      // A property without parts counts for one.
      return fields.reduce(0) { $0 + max(1, $1.reference == .value ? (try? $1.type.get())?.innerParts ?? 1 : 1) }
    }
  }
}
