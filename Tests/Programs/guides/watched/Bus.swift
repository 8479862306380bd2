public struct Answer { public var status: Int }
public enum Part {
  case request(String)
  case answer(Answer)
  case end
}
public final class Line {
  public private(set) var kept: [Part] = []
  public init() {}
  @inline(never) public func take(_ part: Part) { kept = [part] }
  @inline(never) public func give(_ part: Part) { kept.append(part) }
  @inline(never) public func close() { kept = [] }
  public func ride() {
    take(.request("/"))
    give(.answer(Answer(status: 200)))
    give(.end)
    close()
  }
}
