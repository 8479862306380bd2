// AbbreviationTable — what the entries of one unit look like.
//
// Each entry of .debug_info starts with a code; the table tells which attributes
// follow and in which form. Steps are prepared so that walking past an entry costs
// one addition per run of attributes of known size.

struct AbbreviationTable {
  /// The shape of the entries with one code.
  struct Abbreviation {
    let tag: UInt64
    /// Its rows in `attributes` and in `steps`.
    let attributes: Range<Int>
    let steps: Range<Int>
    /// Where DW_AT_abstract_origin lies behind the code when everything before it has a fixed size; -1 when not.
    let originOffset: Int
    let originForm: UInt64
    /// It has a DW_AT_low_pc: of a function, its code.
    let hasAddress: Bool
  }

  private struct AttributeRow {
    let name: UInt64
    let form: UInt64
  }

  /// `skip` bytes, then, unless `form` is 0, one value of that form.
  private struct Step {
    var skip: Int
    var form: UInt64
  }

  private var attributes: [AttributeRow] = []
  private var steps: [Step] = []
  /// By code, which compilers count from 1.
  private var dense: [Abbreviation?] = [nil]
  private var sparse: [UInt64: Abbreviation] = [:]

  /// The table a unit refers to, up to the first damage.
  init(_ section: ByteView, _ unit: DebugInfo.Unit) {
    guard unit.abbreviationOffset < UInt64(section.count) else { return }
    var cursor = DWARFCursor(section, from: Int(unit.abbreviationOffset))
    while true {
      let code = cursor.readULEB()
      guard code != 0, !cursor.isDamaged else { return }
      let tag = cursor.readULEB()
      _ = cursor.read(UInt8.self)  // has children: entries are walked in file order, so it does not matter
      guard let abbreviation = readShape(tag, unit, &cursor) else { return }
      if code == UInt64(dense.count) { dense.append(abbreviation) } else { sparse[code] = abbreviation }
    }
  }

  private mutating func readShape(_ tag: UInt64, _ unit: DebugInfo.Unit, _ cursor: inout DWARFCursor) -> Abbreviation? {
    let firstAttribute = attributes.count
    let firstStep = steps.count
    var pending = 0
    var originOffset = -1
    var originForm: UInt64 = 0
    var hasAddress = false
    while true {
      let name = cursor.readULEB()
      let form = cursor.readULEB()
      if form == Form.implicitConst { _ = cursor.readULEB() }
      guard !cursor.isDamaged else { return nil }
      if name == 0, form == 0 { break }
      attributes.append(AttributeRow(name: name, form: form))
      if name == Attribute.lowPC { hasAddress = true }
      if name == Attribute.abstractOrigin {
        originForm = form
        if steps.count == firstStep { originOffset = pending }
      }
      if let size = Form.fixedSize(form, unit) {
        pending += size
      } else {
        steps.append(Step(skip: pending, form: form))
        pending = 0
      }
    }
    if pending > 0 { steps.append(Step(skip: pending, form: 0)) }
    return Abbreviation(
      tag: tag, attributes: firstAttribute..<attributes.count, steps: firstStep..<steps.count, originOffset: originOffset,
      originForm: originForm, hasAddress: hasAddress)
  }

  @inline(__always)
  subscript(code: UInt64) -> Abbreviation? {
    code < UInt64(dense.count) ? dense[Int(code)] : sparse[code]
  }

  /// Moves past all values of an entry.
  @inline(__always)
  func skip(_ abbreviation: Abbreviation, _ unit: DebugInfo.Unit, _ cursor: inout DWARFCursor) {
    for at in abbreviation.steps {
      cursor.skip(steps[at].skip)
      switch steps[at].form {
      case 0: break
      case 0x18: cursor.skip(cursor.readULEB())
      case 0x0f: _ = cursor.readULEB()
      default: Form.skip(steps[at].form, unit, &cursor)
      }
    }
  }

  /// Calls `body` with name and form of each attribute; it reads the value and answers true, or leaves it and answers false.
  func forEachAttribute(
    of abbreviation: Abbreviation, _ unit: DebugInfo.Unit, _ cursor: inout DWARFCursor,
    _ body: (UInt64, UInt64, inout DWARFCursor) -> Bool
  ) {
    for at in abbreviation.attributes {
      let row = attributes[at]
      if !body(row.name, row.form, &cursor) { Form.skip(row.form, unit, &cursor) }
      if cursor.isDamaged { return }
    }
  }
}
