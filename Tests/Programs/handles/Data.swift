import Foundation

@inline(never) public func take(_ bytes: Data, _ id: UUID, _ when: Date) -> Data {
  print("take", Array(bytes), id, when.timeIntervalSince1970)
  return bytes
}
@inline(never) public func object(_ tree: [String: Any]) -> Int { tree.count }

@main struct Main {
  static func main() throws {
    let id = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
    print(Array(take(Data([1, 2, 255]), id, Date(timeIntervalSince1970: 5))))
    print(take(Data(repeating: 65, count: 100_000), id, Date(timeIntervalSince1970: 6)).count)
    print(object(try JSONSerialization.jsonObject(with: Data(#"{"a":1,"b":null}"#.utf8)) as! [String: Any]))
  }
}
