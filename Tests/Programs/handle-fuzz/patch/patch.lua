patch { id = "fuzz", version = "1.0.0", api = 1 }
-- A generator of its own: the seed decides everything. run.sh puts it here.
local seed = tonumber(SEED) or 1
local function random(n)
  seed = (seed * 6364136223846793005 + 1442695040888963407)
  return ((seed >> 33) % n) + 1
end
local pool, spare, operations, failures = {}, {}, 0, 0
local function pick() return pool[random(math.max(1, #pool))] end
local function put(v)
  if v == nil then return end
  if #pool < 60 then pool[#pool + 1] = v else pool[random(60)] = v end
end
local names = { "name", "tags", "next", "back", "owner", "loose", "weakly", "always", "strong", "number", "node", "nodes", "byName", "any", "maybe", "work",
  "pair", "text", "case", "payload", 1, 2, "x", "y", "message", "value", "type" }
local function name() return names[random(#names)] end
local acts = {
  function() put(pick()[name()]) end,
  function() put(pick()[name()][name()]) end,
  function() return tostring(pick()) end,
  function() return #pick() end,
  function() for k, v in pairs(pick()) do put(v) if random(4) == 1 then break end end end,
  function() for _, v in ipairs(pick()) do put(v) end end,
  function() put(pick():table(5)) end,
  function() put(swift.keep(pick())) end,
  function() swift.release(pick()) end,
  function() put(swift.weak(pick())) end,
  function() put(pick()()) end,
  function() put(pick()(random(9))) end,
  function() put(swift.with(pick(), { [name()] = pick() })) end,
  function() put(swift.value(pick())) end,
  function() pick()[name()] = pick() end,
  function() return pick() == pick() end,
  function() put(pick():rename("from the fuzz " .. random(99))) end,
  function() put(pick():first()) end,
  function() put(swift.new("Toys.Node", "init(_:)", "made by the fuzz")) end,
  function() put(swift.case("leaf", "a leaf")) end,
  function() put(swift.case("node", pick())) end,
  function() put(coroutine.wrap(function() local v = pick() coroutine.yield(v) return tostring(v) end)()) end,
  function() spare[#spare + 1] = coroutine.create(function(...) local v = pick() while true do pcall(tostring, v) pcall(function() put(v[name()]) end) coroutine.yield() end end) end,
  function() if #spare > 0 then coroutine.resume(spare[random(#spare)]) end if #spare > 20 then spare = {} end end,
  function() collectgarbage() end,
  function() return swift.type(pick()) end,
  function() put(swift.call("Toys.link(_:_:)", pick(), pick())) end,
}
-- Calls into the program are hooked themselves.
local nested = 0
local function play(call, steps)
  if nested > 1 then return end
  nested = nested + 1
  for i = 1, #call.args do put(call.args[i]) end
  pcall(function() put(call.self) end)
  put(call.args)
  if random(5) == 1 then put(call) end
  for _ = 1, steps do
    operations = operations + 1
    if not pcall(acts[random(#acts)]) then failures = failures + 1 end
  end
  if #call.args > 0 and random(3) == 1 then pcall(function() call.args[random(#call.args)] = pick() end) end
  if #call.args > 1 and random(4) == 1 then pcall(function() call.args[1], call.args[2] = call.args[2], call.args[1] end) end
  nested = nested - 1
end
local function around(call)
  if nested > 1 then return call:original() end
  play(call, 6)
  local runs = random(3)
  local result
  for _ = 1, runs do
    local ok, r = pcall(call.original, call)
    if ok then result = r put(r) else put(r) end
    play(call, 4)
  end
  if random(4) == 1 then pcall(function() call.result = pick() end) end
  return call.result
end
local function before(call) play(call, 8) end
local function after(call)
  pcall(function() put(call.result) end)
  pcall(function() put(call.error) end)
  play(call, 8)
  if random(4) == 1 then pcall(function() call.result = pick() end) end
end
for _, f in ipairs { "link(_:_:)", "bag(_:_:_:)", "change(_:_:_:)", "raw(_:_:)", "call(_:_:_:)", "consume(_:_:)", "Node.rename(_:)", "Node.first()", "errors(_:_:)" } do
  local selector = "Toys." .. f
  method(selector):before(before)
  method(selector):around(around)
  method(selector):after(after)
end
method "Toys.Node.deinit":before(before)
method "Toys.finish(_:)":before(function()
  print("@ fuzz " .. operations .. " operations, " .. failures .. " refused")
end)
