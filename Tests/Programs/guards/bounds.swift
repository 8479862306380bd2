// Foundation's reference collections under random indices, good and bad.
//
//   bounds good SEED    calls every bounds-checked method with indices within bounds; prints a digest of the results
//   bounds bad SEED     calls each of them in a child process with an index out of bounds, and prints how the child ended
//   bounds list         the names of the cases
import Foundation

struct Random {
  var state: UInt64
  mutating func next(_ range: ClosedRange<Int>) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return range.lowerBound + Int((state >> 33) % UInt64(range.upperBound - range.lowerBound + 1))
  }
}

/// What a case is given: an index, a second one, a range, a set of indices.
struct Given {
  var index = 0, other = 0
  var range = NSRange(location: 0, length: 0)
  var set = IndexSet()
}

/// What must hold of a case's argument.
enum Kind { case element, position, range, set, newSet, two, size }

struct Case {
  let name: String
  let kind: Kind
  let run: (Given) -> Any
}

let size = 8
@inline(never) func array() -> NSArray { NSArray(array: (0..<size).map { $0 }) }
@inline(never) func mutable() -> NSMutableArray { NSMutableArray(array: (0..<size).map { $0 }) }
@inline(never) func ordered() -> NSMutableOrderedSet { NSMutableOrderedSet(array: (0..<size).map { $0 }) }
@inline(never) func text() -> NSString { NSString(string: "abcdefgh") }
@inline(never) func mutableText() -> NSMutableString { NSMutableString(string: "abcdefgh") }
@inline(never) func attributed() -> NSAttributedString { NSAttributedString(string: "abcdefgh") }
@inline(never) func mutableAttributed() -> NSMutableAttributedString { NSMutableAttributedString(string: "abcdefgh") }
@inline(never) func data() -> NSData { NSData(data: Data([0, 1, 2, 3, 4, 5, 6, 7])) }
@inline(never) func mutableData() -> NSMutableData { NSMutableData(data: Data([0, 1, 2, 3, 4, 5, 6, 7])) }

let key = NSAttributedString.Key("k")
let cases: [Case] = [
  Case(name: "NSArray.object(at:)", kind: .element) { array().object(at: $0.index) },
  Case(name: "NSArray[]", kind: .element) { array()[$0.index] },
  Case(name: "NSArray.subarray(with:)", kind: .range) { array().subarray(with: $0.range) },
  Case(name: "NSArray.objects(at:)", kind: .set) { array().objects(at: $0.set) },
  Case(name: "NSArray.index(of:in:)", kind: .range) { array().index(of: 99, in: $0.range) },
  Case(name: "NSArray.indexOfObjectIdentical(to:in:)", kind: .range) { array().indexOfObjectIdentical(to: NSString("x"), in: $0.range) },
  Case(name: "NSArray.index(of:inSortedRange:)", kind: .range) {
    array().index(of: 3, inSortedRange: $0.range, options: [.insertionIndex]) { ($0 as! Int) < ($1 as! Int) ? .orderedAscending : .orderedDescending }
  },
  Case(name: "NSMutableArray.insert(_:at:)", kind: .position) { let a = mutable(); a.insert("n", at: $0.index); return a },
  Case(name: "NSMutableArray.insert(_:at: set)", kind: .newSet) { let a = mutable(); a.insert($0.set.map { $0 + 100 }, at: $0.set); return a },
  Case(name: "NSMutableArray.removeObject(at:)", kind: .element) { let a = mutable(); a.removeObject(at: $0.index); return a },
  Case(name: "NSMutableArray.removeObjects(in:)", kind: .range) { let a = mutable(); a.removeObjects(in: $0.range); return a },
  Case(name: "NSMutableArray.removeObjects(at:)", kind: .set) { let a = mutable(); a.removeObjects(at: $0.set); return a },
  Case(name: "NSMutableArray.replaceObject(at:with:)", kind: .element) { let a = mutable(); a.replaceObject(at: $0.index, with: "n"); return a },
  Case(name: "NSMutableArray.replaceObjects(at:with:)", kind: .set) {
    let a = mutable(); a.replaceObjects(at: $0.set, with: $0.set.map { "n\($0)" }); return a
  },
  Case(name: "NSMutableArray.replaceObjects(in:withObjectsFrom:)", kind: .range) {
    let a = mutable(); a.replaceObjects(in: $0.range, withObjectsFrom: (0...size).map { "n\($0)" }); return a
  },
  Case(name: "NSMutableArray.replaceObjects(in:withObjectsFrom:range:)", kind: .range) {
    let a = mutable(); a.replaceObjects(in: $0.range, withObjectsFrom: (0..<size).map { "n\($0)" }, range: $0.range); return a
  },
  Case(name: "NSMutableArray.exchangeObject(at:withObjectAt:)", kind: .two) {
    let a = mutable(); a.exchangeObject(at: $0.index, withObjectAt: $0.other); return a
  },
  Case(name: "NSMutableArray[] =", kind: .element) { let a = mutable(); a[$0.index] = "n"; return a },
  Case(name: "NSMutableArray.remove(_:in:)", kind: .range) { let a = mutable(); a.remove(99, in: $0.range); return a },
  Case(name: "NSOrderedSet.object(at:)", kind: .element) { ordered().object(at: $0.index) },
  Case(name: "NSOrderedSet[]", kind: .element) { ordered()[$0.index] },
  Case(name: "NSOrderedSet.init(array:range:copyItems:)", kind: .range) {
    NSOrderedSet(array: (0..<size).map { $0 }, range: $0.range, copyItems: false).array
  },
  Case(name: "NSOrderedSet.init(orderedSet:range:copyItems:)", kind: .range) {
    NSOrderedSet(orderedSet: ordered(), range: $0.range, copyItems: false).array
  },
  Case(name: "NSMutableOrderedSet.init(array:range:copyItems:)", kind: .range) {
    NSMutableOrderedSet(array: (0..<size).map { $0 }, range: $0.range, copyItems: false).array
  },
  Case(name: "NSMutableOrderedSet.init(orderedSet:range:copyItems:)", kind: .range) {
    NSMutableOrderedSet(orderedSet: ordered(), range: $0.range, copyItems: false).array
  },
  Case(name: "NSOrderedSet.objects(at:)", kind: .set) { ordered().objects(at: $0.set) },
  Case(name: "NSMutableOrderedSet.insert(_:at:)", kind: .position) { let a = ordered(); a.insert("n", at: $0.index); return a.array },
  Case(name: "NSMutableOrderedSet.removeObject(at:)", kind: .element) { let a = ordered(); a.removeObject(at: $0.index); return a.array },
  Case(name: "NSMutableOrderedSet.replaceObject(at:with:)", kind: .element) { let a = ordered(); a.replaceObject(at: $0.index, with: "n"); return a.array },
  Case(name: "NSMutableOrderedSet.setObject(_:at:)", kind: .position) { let a = ordered(); a.setObject("n", at: $0.index); return a.array },
  Case(name: "NSMutableOrderedSet.exchangeObject(at:withObjectAt:)", kind: .two) {
    let a = ordered(); a.exchangeObject(at: $0.index, withObjectAt: $0.other); return a.array
  },
  Case(name: "NSMutableOrderedSet.removeObjects(at:)", kind: .set) { let a = ordered(); a.removeObjects(at: $0.set); return a.array },
  Case(name: "NSMutableOrderedSet.moveObjects(at:to:)", kind: .set) { let a = ordered(); a.moveObjects(at: $0.set, to: 0); return a.array },
  Case(name: "NSMutableOrderedSet.insert(_:at: set)", kind: .newSet) { let a = ordered(); a.insert($0.set.map { $0 + 100 }, at: $0.set); return a.array },
  Case(name: "NSMutableOrderedSet.replaceObjects(at:with:)", kind: .set) {
    let a = ordered(); a.replaceObjects(at: $0.set, with: $0.set.map { "n\($0)" }); return a.array
  },
  Case(name: "NSString.enumerateSubstrings(in:)", kind: .range) { given in
    var n = 0
    text().enumerateSubstrings(in: given.range, options: .byComposedCharacterSequences) { _, _, _, _ in n += 1 }
    return n
  },
  Case(name: "NSString.getLineStart(for:)", kind: .range) { given in
    var (start, end, contents) = (0, 0, 0)
    text().getLineStart(&start, end: &end, contentsEnd: &contents, for: given.range)
    return [start, end, contents]
  },
  Case(name: "NSString.getParagraphStart(for:)", kind: .range) { given in
    var (start, end, contents) = (0, 0, 0)
    text().getParagraphStart(&start, end: &end, contentsEnd: &contents, for: given.range)
    return [start, end, contents]
  },
  Case(name: "NSString.rangeOfComposedCharacterSequences(for:)", kind: .range) { text().rangeOfComposedCharacterSequences(for: $0.range) },
  Case(name: "NSArray.enumerateObjects(at:)", kind: .set) { given in
    var n = 0
    array().enumerateObjects(at: given.set, options: []) { _, _, _ in n += 1 }
    return n
  },
  Case(name: "NSMutableOrderedSet.removeObjects(in:)", kind: .range) { let a = ordered(); a.removeObjects(in: $0.range); return a.array },
  Case(name: "NSString.character(at:)", kind: .element) { text().character(at: $0.index) },
  Case(name: "NSString.substring(from:)", kind: .position) { text().substring(from: $0.index) },
  Case(name: "NSString.substring(to:)", kind: .position) { text().substring(to: $0.index) },
  Case(name: "NSString.substring(with:)", kind: .range) { text().substring(with: $0.range) },
  Case(name: "NSString.range(of:options:range:)", kind: .range) { text().range(of: "d", options: [], range: $0.range) },
  Case(name: "NSString.rangeOfCharacter(from:options:range:)", kind: .range) {
    text().rangeOfCharacter(from: .decimalDigits, options: [], range: $0.range)
  },
  Case(name: "NSString.lineRange(for:)", kind: .range) { text().lineRange(for: $0.range) },
  Case(name: "NSString.paragraphRange(for:)", kind: .range) { text().paragraphRange(for: $0.range) },
  Case(name: "NSString.replacingCharacters(in:with:)", kind: .range) { text().replacingCharacters(in: $0.range, with: "-") },
  Case(name: "NSString.replacingOccurrences(of:with:options:range:)", kind: .range) {
    text().replacingOccurrences(of: "d", with: "-", options: [], range: $0.range)
  },
  Case(name: "NSString.compare(_:options:range:)", kind: .range) { text().compare("cde", options: [], range: $0.range).rawValue },
  Case(name: "NSString.rangeOfComposedCharacterSequence(at:)", kind: .element) { text().rangeOfComposedCharacterSequence(at: $0.index) },
  Case(name: "NSString.getCharacters(_:range:)", kind: .range) { given in
    var room = [unichar](repeating: 0, count: 1000)
    text().getCharacters(&room, range: given.range)
    return room[0]
  },
  Case(name: "NSMutableString.insert(_:at:)", kind: .position) { let a = mutableText(); a.insert("-", at: $0.index); return a },
  Case(name: "NSMutableString.deleteCharacters(in:)", kind: .range) { let a = mutableText(); a.deleteCharacters(in: $0.range); return a },
  Case(name: "NSMutableString.replaceCharacters(in:with:)", kind: .range) { let a = mutableText(); a.replaceCharacters(in: $0.range, with: "-"); return a },
  Case(name: "NSMutableString.replaceOccurrences(of:with:options:range:)", kind: .range) {
    let a = mutableText(); _ = a.replaceOccurrences(of: "d", with: "-", options: [], range: $0.range); return a
  },
  Case(name: "NSAttributedString.attributes(at:effectiveRange:)", kind: .element) { attributed().attributes(at: $0.index, effectiveRange: nil).count },
  Case(name: "NSAttributedString.attribute(_:at:effectiveRange:)", kind: .element) {
    attributed().attribute(key, at: $0.index, effectiveRange: nil) ?? "none"
  },
  Case(name: "NSAttributedString.attributedSubstring(from:)", kind: .range) { attributed().attributedSubstring(from: $0.range).string },
  Case(name: "NSMutableAttributedString.addAttribute(_:value:range:)", kind: .range) {
    let a = mutableAttributed(); a.addAttribute(key, value: 1, range: $0.range); return a.string
  },
  Case(name: "NSMutableAttributedString.setAttributes(_:range:)", kind: .range) {
    let a = mutableAttributed(); a.setAttributes([key: 1], range: $0.range); return a.string
  },
  Case(name: "NSMutableAttributedString.insert(_:at:)", kind: .position) {
    let a = mutableAttributed(); a.insert(NSAttributedString(string: "-"), at: $0.index); return a.string
  },
  Case(name: "NSMutableAttributedString.replaceCharacters(in:with:)", kind: .range) {
    let a = mutableAttributed(); a.replaceCharacters(in: $0.range, with: "-"); return a.string
  },
  Case(name: "NSMutableAttributedString.deleteCharacters(in:)", kind: .range) {
    let a = mutableAttributed(); a.deleteCharacters(in: $0.range); return a.string
  },
  Case(name: "NSAttributedString.attribute(_:at:longestEffectiveRange:in:)", kind: .range) {
    attributed().attribute(key, at: 0, longestEffectiveRange: nil, in: $0.range) ?? "none"
  },
  Case(name: "NSAttributedString.attributes(at:longestEffectiveRange:in:)", kind: .element) {
    attributed().attributes(at: $0.index, longestEffectiveRange: nil, in: NSRange(location: 0, length: size)).count
  },
  Case(name: "NSAttributedString.enumerateAttributes(in:)", kind: .range) { given in
    var ranges: [NSRange] = []
    attributed().enumerateAttributes(in: given.range) { _, range, _ in ranges.append(range) }
    return ranges
  },
  Case(name: "NSAttributedString.enumerateAttribute(_:in:)", kind: .range) { given in
    var ranges: [NSRange] = []
    attributed().enumerateAttribute(key, in: given.range) { _, range, _ in ranges.append(range) }
    return ranges
  },
  Case(name: "NSMutableAttributedString.addAttributes(_:range:)", kind: .range) {
    let a = mutableAttributed(); a.addAttributes([key: 1], range: $0.range); return a.string
  },
  Case(name: "NSMutableAttributedString.removeAttribute(_:range:)", kind: .range) {
    let a = mutableAttributed(); a.removeAttribute(key, range: $0.range); return a.string
  },
  // What can be wrong where nothing has an index: sizes, numbers of keys and objects, keys that are operators, costs.
  Case(name: "NSDictionary.description(withLocale:indent:)", kind: .size) { NSDictionary(dictionary: ["a": 1]).description(withLocale: nil, indent: $0.index) },
  Case(name: "NSDictionary.init(objects:forKeys:)", kind: .size) { given in
    let keys = (0..<3).map { NSString(string: "k\($0)") }
    return NSDictionary(objects: given.index < 0 ? [1] : [1, 2, 3], forKeys: keys).count
  },
  Case(name: "NSDictionary.value(forKey:)", kind: .size) { NSDictionary(dictionary: ["a": 1]).value(forKey: $0.index < 0 ? "@count" : "a") ?? "none" },
  Case(name: "NSCache.setObject(_:forKey:cost:)", kind: .size) { given in
    let cache = NSCache<NSString, NSString>()
    cache.setObject("a", forKey: "a", cost: given.index < 0 ? .max : given.index)
    cache.setObject("b", forKey: "b", cost: given.index < 0 ? .max : given.index)
    return cache.object(forKey: "b") ?? "none"
  },
  Case(name: "NSMutableData.length =", kind: .size) { let a = mutableData(); a.length = $0.index; return a },
  Case(name: "NSMutableData.increaseLength(by:)", kind: .size) { let a = mutableData(); a.increaseLength(by: $0.index); return a },
  Case(name: "NSMutableData.init(length:)", kind: .size) { NSMutableData(length: $0.index) ?? NSMutableData() },
  Case(name: "NSString.padding(toLength:)", kind: .size) { text().padding(toLength: $0.index, withPad: "x", startingAt: 0) },
  Case(name: "NSString.padding(withPad:)", kind: .size) { text().padding(toLength: 20, withPad: $0.index < 0 ? "" : "x", startingAt: 0) },
  Case(name: "NSData.subdata(with:)", kind: .range) { data().subdata(with: $0.range) },
  Case(name: "NSData.getBytes(_:range:)", kind: .range) { given in
    var room = [UInt8](repeating: 0, count: 1000)
    data().getBytes(&room, range: given.range)
    return room.prefix(8).map { $0 }
  },
  Case(name: "NSData.getBytes(_:length:)", kind: .position) { given in
    var room = [UInt8](repeating: 0, count: 1000)
    data().getBytes(&room, length: given.index)
    return room.prefix(8).map { $0 }
  },
  Case(name: "NSData.range(of:options:in:)", kind: .range) { data().range(of: Data([3]), options: [], in: $0.range) },
  Case(name: "NSMutableData.replaceBytes(in:withBytes:length:)", kind: .range) {
    let a = mutableData(); a.replaceBytes(in: $0.range, withBytes: [9, 9] as [UInt8], length: 2); return a
  },
  Case(name: "NSMutableData.resetBytes(in:)", kind: .range) { let a = mutableData(); a.resetBytes(in: $0.range); return a },
]

// MARK: Arguments

func good(_ kind: Kind, _ random: inout Random) -> Given {
  var given = Given()
  switch kind {
  case .element: given.index = random.next(0...size - 1)
  case .position: given.index = random.next(0...size)
  case .two: (given.index, given.other) = (random.next(0...size - 1), random.next(0...size - 1))
  case .size: given.index = random.next(0...20)
  case .range:
    let start = random.next(0...size)
    given.range = NSRange(location: start, length: random.next(0...size - start))
  case .set: for _ in 0..<random.next(0...4) { given.set.insert(random.next(0...size - 1)) }
  case .newSet:
    // Each is within what is there when its turn comes.
    for added in 0..<random.next(0...3) { given.set.insert(random.next(0...size) + added) }
    while let last = given.set.last, last >= size + given.set.count { given.set.remove(last) }
  }
  return given
}

func bad(_ kind: Kind, _ random: inout Random) -> Given {
  var given = Given()
  let beyond = [random.next(size + 1...size + 20), -1 - random.next(0...20), NSNotFound, 1 << 40][random.next(0...3)]
  switch kind {
  case .element: given.index = random.next(0...3) == 0 ? size : beyond
  case .position: given.index = beyond
  case .two: (given.index, given.other) = random.next(0...1) == 0 ? (beyond, 0) : (1, beyond)
  case .size: given.index = -1 - random.next(0...20)
  case .range:
    switch random.next(0...3) {
    case 0: given.range = NSRange(location: size - 2, length: random.next(3...20))
    case 1: given.range = NSRange(location: max(beyond, size + 1), length: 1)
    case 2: given.range = NSRange(location: 0, length: random.next(size + 1...size + 20))
    default: given.range = NSRange(location: NSNotFound, length: 1)
    }
  case .set: given.set = [1, random.next(size...size + 20)]
  case .newSet: given.set = [1, random.next(size + 3...size + 20)]
  }
  return given
}

/// Dictionaries and sets have no order to print.
func shown(_ value: Any) -> String { "\(value)" }

/// Runs `body` in a child process and answers how it ended.
func fork_child(_ body: () -> Void) -> Int32 {
  typealias Fork = @convention(c) () -> Int32
  let fork = unsafeBitCast(dlsym(nil, "fork")!, to: Fork.self)
  let child = fork()
  if child == 0 {
    // What it says when it dies is of no interest.
    close(2)
    body()
    fflush(stdout)
    _exit(0)
  }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return status
}

setvbuf(stdout, nil, _IOLBF, 0)
let words = CommandLine.arguments
switch words.count > 1 ? words[1] : "" {
case "list": for each in cases { print(each.name) }
case "good":
  var random = Random(state: UInt64(words[2])!)
  let rounds = words.count > 3 ? Int(words[3])! : 200
  for each in cases {
    var digest: UInt64 = 14_695_981_039_346_656_037
    for _ in 0..<rounds {
      for byte in shown(each.run(good(each.kind, &random))).utf8 { digest = (digest ^ UInt64(byte)) &* 1_099_511_628_211 }
    }
    print("\(each.name) \(digest)")
  }
  // Keys of every kind, there and not there.
  let dictionary = NSMutableDictionary()
  let cache = NSCache<NSString, NSString>()
  let set = NSMutableSet()
  for _ in 0..<rounds {
    let key = random.next(0...20)
    switch random.next(0...4) {
    case 0: dictionary.setObject(key, forKey: key as NSNumber)
    case 1: dictionary.removeObject(forKey: key as NSNumber)
    case 2: cache.setObject("v", forKey: "\(key)" as NSString); _ = cache.object(forKey: "\(key + 1)" as NSString)
    case 3: set.add(key); set.remove(key + 1)
    default: _ = dictionary.object(forKey: key as NSNumber); _ = dictionary.value(forKey: "\(key)"); _ = set.member(key)
    }
  }
  print("dictionary \(dictionary.count) set \(set.count)")
case "bad":
  // The outcome of each case in a child of its own: what it does is no affair of the next.
  var random = Random(state: UInt64(words[2])!)
  for each in cases {
    for _ in 0..<(words.count > 3 ? Int(words[3])! : 3) {
      let given = bad(each.kind, &random)
      fflush(stdout)
      let child = fork_child { print("\(each.name): \(shown(each.run(given)).prefix(60))") }
      print(child == 0 ? "\(each.name) came back" : "\(each.name) died")
    }
  }
default:
  // One process, many bad calls: what contains them must contain them all.
  var random = Random(state: UInt64(words[2])!)
  let rounds = Int(words[3])!
  for each in cases {
    for _ in 0..<rounds { _ = shown(each.run(bad(each.kind, &random))) }
    print("\(each.name) \(rounds)")
  }
}
