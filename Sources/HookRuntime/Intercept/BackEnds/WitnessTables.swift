// WitnessTables — the words of conformances' tables through which a method is called as a protocol's requirement.
//
// A table is part of the image that declares the conformance, or made by the runtime: one alone for a type that is not
// generic, which the runtime finds again, or one for each set of generic arguments, which it does not list.
private import SwiftMangling

enum WitnessTables {
  static func plan(_ family: Family, in image: ImageCatalog) -> Result<SlotPlan, BackEndRefusal> {
    let witnesses = image.witnesses(of: family)
    if witnesses.isEmpty { return .failure(.noWitness) }
    if family.declaration.hasCoroutineRecord { return .failure(.coroutineRecord) }
    var plan = SlotPlan(backEnd: .witness)
    for witness in witnesses {
      let entry = image.asyncEntries.record(at: witness.address - image.bias).map { $0.address + image.bias }
      do throws(BackEndRefusal) {
        for word in try words(holding: entry ?? witness.address, of: witness, in: image) {
          plan.entries.append(
            .init(word: SlotWord(address: word, former: entry ?? witness.address, isAsync: entry != nil), body: Body(witness)))
        }
      } catch {
        guard witnesses.count > 1 else { return .failure(error) }
        plan.mayMiss.append("calls through '\(witness.protocolName)' on '\(witness.conformer)': \(error)")
      }
    }
    return plan.entries.isEmpty ? .failure(.noWitness) : .success(plan)
  }

  /// Where the tables of the witness's conformance hold it.
  private static func words(holding value: UInt64, of witness: Witness, in image: ImageCatalog) throws(BackEndRefusal) -> [UInt64] {
    var found: [UInt64] = []
    var isGeneric = false
    for record in image.conformances["\(PrivateNames.stripped("\(witness.conformer)"))"] ?? []
    where record.protocolName == witness.protocolName {
      guard let descriptor = record.protocolDescriptor(in: image) else { continue }
      if record.isTableMade, record.isGeneric(in: image) {
        isGeneric = true
        continue
      }
      guard let table = table(record, descriptor, in: image) else { continue }
      for index in 1...max(descriptor.requirementCount, 1) where index <= descriptor.requirementCount {
        let place = table + 8 * index
        if SlotPatcher.former(of: place.load(as: UInt64.self)) == value { found.append(UInt64(UInt(bitPattern: place))) }
      }
    }
    if found.isEmpty, isGeneric { throw .genericConformance("\(witness.conformer)", to: witness.protocolName) }
    return found
  }

  /// The table of a conformance in memory; nil where the runtime has not made it and the type is not known.
  private static func table(_ record: ConformanceRecord, _ descriptor: ProtocolDescriptor, in image: ImageCatalog) -> UnsafeRawPointer? {
    if !record.isTableMade { return record.witnessTable.flatMap { UnsafeRawPointer(bitPattern: UInt($0 + image.bias)) } }
    // The selector names the type, so its accessor may run.
    return record.type.flatMap { TypeCatalog.shared.descriptor($0) }?.metadata()?.conformance(to: descriptor)
  }
}

extension Witness {
  var protocolName: String { PrivateNames.stripped(requirement.context?.description ?? requirement.module) }
}

extension ConformanceRecord {
  fileprivate func isGeneric(in image: ImageCatalog) -> Bool {
    type.flatMap { TypeCatalog.shared.descriptor($0) }?.isGeneric ?? true
  }

  /// The protocol, in memory: the descriptor's first word leads there, through a pointer where its low bit is set.
  fileprivate func protocolDescriptor(in image: ImageCatalog) -> ProtocolDescriptor? {
    guard let place = UnsafeRawPointer(bitPattern: UInt(descriptor + image.bias)) else { return nil }
    let distance = place.load(as: Int32.self)
    let target = place + Int(distance & ~1)
    return (distance & 1 == 0 ? target : target.load(as: UnsafeRawPointer?.self)).map(ProtocolDescriptor.init)
  }
}
