patch { id = "calls", version = "1.0.0", api = 1 }
-- Methods of which the code tells what they do with their self. The last letter stands for the type.
local told = {
-- names
}
local done = {}
local offers = {
  B = "offer", G = "offerBig", D = "offerDuo", E = "offerCase", S = "offerSlim", M = "offerDuet", X = "offerMixed", W = "offerWide",
  K = "offerDeep", H = "offerTree",
}
for letter, offer in pairs(offers) do
  method("Things." .. offer .. "(_:_:)"):before(function(call, value, n)
    for _, name in ipairs(told) do
      if name:sub(-1) == letter then
        local ran, problem = pcall(swift.send, value, name .. "(_:)", n)
        -- A body that looks at nothing of its self is not called on one.
        local refused = tostring(problem):find("the body does not take it", 1, true)
        if not ran and not refused and not tostring(problem):find("Problem", 1, true) then error(name .. ": " .. tostring(problem)) end
        if not done[name] then log.info("called " .. name) end
        done[name] = true
      end
    end
    -- Lets the collector end what the methods returned.
    for i = 1, 4 * collectgarbage("count") do local garbage = string.rep("x", 1000) .. i end
  end)
end
