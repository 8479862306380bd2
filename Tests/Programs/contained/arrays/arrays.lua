patch { id = "arrays" }
method "arrays.Shelf.change(_:_:)":contain { value = -1, limit = 0 }
