method "traps.Till.price(_:)":contain { value = -1, limit = 2 }
