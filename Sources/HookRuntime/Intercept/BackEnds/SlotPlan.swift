// SlotPlan — the words that one back end would change for a selector, and what calls through them go on to.

/// Found out, nothing prepared or changed.
struct SlotPlan {
  struct Entry {
    var word: SlotWord
    /// What the word holds, as a body of the selector; a thunk is a body too, of the convention of what it stands for.
    var body: Body
  }
  var backEnd: BackEnd
  var entries: [Entry] = []
  /// What the hook may miss, in whole sentences.
  var mayMiss: [String] = []
}
