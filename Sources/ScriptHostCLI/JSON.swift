// JSON — texts of JSON objects, escaped as events are.
internal import Journal

enum JSON {
  static func string(_ text: String) -> String {
    var out = ""
    EventText.append(json: text, to: &out)
    return out
  }

  static func strings(_ texts: [String]) -> String { "[" + texts.map(string).joined(separator: ",") + "]" }
}
