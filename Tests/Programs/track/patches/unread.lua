patch { id = "unread", api = 1 }
track "put" { on = "Shop.Shelf.put()", same = "self", dedupe = "10min", fields = { looks = "self.look()" } }
track "take" { on = "Shop.Shelf.take()", rate = "1/h", fields = { looks = "self.look()" } }
