-- Walks every value, changes it, and puts it back together: what is printed stays what it was.
patch { id = "soak", version = "1", api = 1 }

local function walk(v, depth)
  if type(v) ~= "userdata" or v == swift.null or depth > 4 then return tostring(v) end
  tostring(v)
  local kind = swift.type(v)
  if kind:find("^Swift.Array") or kind:find("^Swift.Dict") or kind:find("^Swift.Set") or kind:find("Price$") or kind:find("Line$") or kind:find("Big$") then
    for key, part in pairs(v) do walk(key, depth + 1) walk(part, depth + 1) end
  elseif kind:find("Shape$") or kind:find("Tree$") then walk(v.payload, depth + 1) walk(v[1], depth + 1)
  elseif kind:find("Item$") or kind:find("Special$") then
    for _, name in ipairs(swift.fields(v)) do walk(v[name], depth + 1) end
  end
end
local function around(name, f)
  method("static Shop.Calls." .. name):around(function(call, ...)
    for i = 1, #call.args do walk(call.args[i], 0) end
    local result = f(call, ...)
    walk(result, 0)
    return result
  end)
end
around("price(_:)", function(call, p)
  local q = swift.with(p, { cents = 1, note = "a note that is long enough for the heap" })
  call.args[1] = q
  call.args[1] = swift.with(q, { cents = p.cents, note = swift.null })
  return call:original()
end)
around("line(_:)", function(call, l)
  local k = swift.keep(l.item)
  local r = call:original({ item = k, price = { cents = l.price.cents, currency = l.price.currency }, amounts = l.amounts:table(), secret = l.secret })
  swift.release(k)
  return swift.with(r, { item = l.item })
end)
around("big(_:)", function(call, b) return swift.with(call:original(swift.with(b, { a = b.a .. "" })), { c = b.c }) end)
around("shape(_:)", function(call, s)
  if not s.payload then return call:original(s.case) end
  local r = call:original(s[2] and swift.case(s.case, s[1], s[2]) or { [s.case] = s[1] })
  return s[2] and { [s.case] = s.payload } or r
end)
around("tree(_:)", function(call, t) return call:original(swift.case("node", t[1], { node = { t[2][1], { leaf = 3 } } })) end)
around("only(_:)", function(call, o) return call:original({ only = o.payload }) end)
around("list(_:)", function(call, l) call.args[1] = {} return call:original(l:table()) end)
around("lines(_:)", function(call, l) return call:original({ l[1], swift.with(l[2], {}) }) end)
around("optionals(_:)", function(call, l) return call:original(l:table()) end)
around("slice(_:)", function(call, l) return call:original() end)
around("contiguous(_:)", function(call, l) return call:original({ l[1], l[2] }) end)
around("set(_:)", function(call, s) return call:original(s:table()) end)
around("map(_:)", function(call, m) return call:original(m:table()) end)
around("prices(_:)", function(call, m)
  local t = {}
  for price, items in pairs(m) do t[price] = items:table() end
  return call:original(t)
end)
around("bytes(_:)", function(call, b) return call:original(swift.data(tostring(b))) end)
around("texts(_:_:_:_:)", function(call, a, b, c, d) return call:original(a .. "", b, c, d) end)
around("any(_:)", function(call, v) return call:original(v) end)
around("anyMap(_:)", function(call, m)
  local t = m:table()
  t.none = nil
  call:original(t)
  return m
end)
around("shown(_:)", function(call, v) return call:original(v) end)
around("held(_:)", function(call, v) local w = swift.weak(v) return call:original(w()) end)
around("hashable(_:)", function(call, v) return call:original(v) end)
around("error(_:)", function(call, e) local k = swift.keep(e.value) local r = call:original(k) swift.release(k) return r end)
around("item(_:_:)", function(call, a, b) swift.keep(a) return call:original(swift.keep(a), b) end)
method("static Shop.Calls.fails(_:)"):around(function(call, n)
  local ok, r = call:try()
  if not ok then
    if r.case == "code" then call:throw(r.value) end
    call:throw(swift.keep(r))
  end
  return r
end)
method("static Shop.Calls.change(_:_:)"):around(function(call, list, p)
  local items = call.args[1]:table()
  call:original()
  local q = call.args[2]
  call.args[1] = items
  call.args[1] = {}
  call.args[2] = { cents = q.cents, currency = q.currency }
end)
method("Shop.Item.rename(_:)"):around(function(call, to)
  local self = call.self
  local extra, tags, next = self.extra, self.tags, self.next
  self.extra, self.tags, self.next = { 1, { a = "text" } }, { "a new tag that is long enough for the heap" }, self
  self.extra, self.tags, self.next = extra, tags, next
  self.shelf = self.shelf
  return call:original()
end)
