// A module with names that another one has, too.
public enum Pick {
  @inline(never) public static func value(_ n: Int) -> String { "other" }
}
