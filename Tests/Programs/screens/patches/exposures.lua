patch { id = "exposures", api = 1 }
exposure { base = "Toolkit.View", on = "layout()", frame = "self.frame", within = "self.superview.bounds()", area = 0.5, dwell = "200ms", again = "session",
  where = "self.isHidden == false", fields = { hidden = "self.isHidden" } }
exposure { base = "App.Card", on = "layout()", name = "card", frame = "self.frame", within = "self.superview.bounds()", area = "90%", dwell = "200ms",
  again = "always", key = "self.name", where = "self.isHidden == false", fields = { name = "self.name" } }
