method "traps.Till.price(_:)":contain(function() error("no answer") end)
