// ConsolePrelude — the part of the console that is a script: it runs a snippet, keeps the last values, and shows values.
//
// It shows stored fields and elements only, which runs no code of the program.

enum ConsolePrelude {
  /// Answers three functions: run(chunk), page(from), which shows the last value, and names(path).
  static let text = """
    local most, deepest, longest = 40, 4, 200
    local secrets = { "password", "passwd", "token", "secret", "authorization", "cookie", "apikey", "api_key", "privatekey" }
    local words = { ["and"]=1, ["break"]=1, ["do"]=1, ["else"]=1, ["elseif"]=1, ["end"]=1, ["false"]=1, ["for"]=1, ["function"]=1, ["goto"]=1,
      ["if"]=1, ["in"]=1, ["local"]=1, ["nil"]=1, ["not"]=1, ["or"]=1, ["repeat"]=1, ["return"]=1, ["then"]=1, ["true"]=1, ["until"]=1, ["while"]=1 }
    local pairs, ipairs, pcall, type, tostring, rawget, rawlen = pairs, ipairs, pcall, type, tostring, rawget, rawlen
    local format, concat, pack, tablesort, upper = string.format, table.concat, table.pack, table.sort, string.upper
    local utf8len = utf8.len
    local host, G = swift, _G
    local function secret(name)
      name = tostring(name):lower()
      for _, word in ipairs(secrets) do if name:find(word, 1, true) then return true end end
      return false
    end
    local function escaped(text)
      local parts, from = {}, 1
      while true do
        local count, bad = utf8len(text, from)
        if count then break end
        parts[#parts + 1] = text:sub(from, bad - 1) .. format("\\\\%03d", text:byte(bad))
        from = bad + 1
      end
      return concat(parts) .. text:sub(from)
    end
    local function quoted(text)
      local shown = text
      if #text > longest then
        local last = longest
        while last > longest - 4 and (text:byte(last + 1) & 0xC0) == 0x80 do last = last - 1 end
        shown = text:sub(1, last)
      end
      shown = escaped(format("%q", shown):gsub("\\\\\\n", "\\\\n"))
      if #text > longest then shown = shown .. format("… (%d bytes)", #text) end
      return shown
    end
    local show
    local function lines(open, close, items, more, indent)
      if more then items[#items + 1] = more end
      if #items == 0 then return open .. close end
      local flat = concat(items, ", ")
      if #flat + #indent < 76 and not flat:find("\\n", 1, true) then return open .. " " .. flat .. " " .. close end
      return open .. "\\n" .. indent .. "  " .. concat(items, ",\\n" .. indent .. "  ") .. "\\n" .. indent .. close
    end
    local function entry(name, value, depth, seen, indent)
      local key = name
      if type(name) ~= "string" then key = "[" .. tostring(name) .. "]"
      elseif words[name] or not name:find("^[%a_][%w_]*$") then key = "[" .. quoted(name) .. "]" end
      if type(name) == "string" and secret(name) and (type(value) == "string" or type(value) == "userdata") then return key .. " = <masked>" end
      return key .. " = " .. show(value, depth + 1, seen, indent .. "  ")
    end
    local function within(value, seen)
      for index = 1, #seen do if seen[index] == value then return true end end
      return false
    end
    local function showtable(value, depth, seen, indent, from)
      if within(value, seen) then return "<cycle>" end
      if depth >= deepest then return "{…}" end
      seen[#seen + 1] = value
      local items, count, length = {}, 0, rawlen(value)
      for index = from, length do
        if #items >= most then break end
        items[#items + 1] = show(rawget(value, index), depth + 1, seen, indent .. "  ")
      end
      local left = length - from + 1 - #items
      local keys = {}
      for key in pairs(value) do
        if not (math.type(key) == "integer" and key >= 1 and key <= length) then count = count + 1; if #keys < 400 then keys[#keys + 1] = key end end
      end
      tablesort(keys, function(a, b) return tostring(a) < tostring(b) end)
      local shown = 0
      for _, key in ipairs(keys) do
        if #items >= most then break end
        shown = shown + 1
        items[#items + 1] = entry(key, rawget(value, key), depth, seen, indent)
      end
      left = (left > 0 and left or 0) + count - shown
      seen[#seen] = nil
      return lines("{", "}", items, left > 0 and format("… %d more", left) or nil, indent)
    end
    local function showhandle(value, depth, seen, indent, from)
      local known, name = pcall(host.type, value)
      if not known then return tostring(value) end
      if within(value, seen) then return "<" .. name .. ", shown above>" end
      local plain, simple = pcall(host.value, value)
      if plain and type(simple) ~= "userdata" then return name .. " " .. show(simple, depth + 1, seen, indent) end
      if depth >= deepest then return "<" .. name .. ">" end
      seen[#seen + 1] = value
      local text
      if name:find("^Swift%.Array<") or name:find("^Swift%.Dictionary<") or name:find("^Swift%.Set<") or name:find("^Swift%.ArraySlice<") then
        local _, count = pcall(function() return #value end)
        local items = {}
        pcall(function()
          if name:find("^Swift%.Dictionary<") then
            for key, each in pairs(value) do
              if #items >= most then break end
              items[#items + 1] = entry(type(key) == "userdata" and tostring(key) or key, each, depth, seen, indent)
            end
          elseif name:find("^Swift%.Set<") then
            for _, each in pairs(host.table(value, most)) do items[#items + 1] = show(each, depth + 1, seen, indent .. "  ") end
          else
            for index = from, count do
              if #items >= most then break end
              items[#items + 1] = show(value[index], depth + 1, seen, indent .. "  ")
            end
          end
        end)
        local left = count - from + 1 - #items
        text = name .. format(" (%d) ", count)
          .. lines("[", "]", items, left > 0 and format("… %d more, from %d", left, from + #items) or nil, indent)
      else
        local isenum, case = pcall(host.case, value)
        if isenum then
          local items = {}
          for index = 1, most do
            local read, found = pcall(function() return value[index] end)
            if not read or found == nil then break end
            items[#items + 1] = show(found, depth + 1, seen, indent .. "  ")
          end
          text = name .. "." .. tostring(case) .. (#items > 0 and "(" .. concat(items, ", ") .. ")" or "")
        else
          local hasfields, fields = pcall(host.fields, value)
          local items = {}
          if hasfields then
            for _, field in ipairs(fields) do
              if #items >= most then break end
              local read, found = pcall(function() return value[words[field] and field .. "_" or field] end)
              if read then items[#items + 1] = entry(field, found, depth, seen, indent)
              else items[#items + 1] = field .. " = <not readable>" end
            end
          end
          if #items == 0 then text = tostring(value)
          else text = name .. " " .. lines("{", "}", items, #fields > #items and format("… %d more", #fields - #items) or nil, indent) end
        end
      end
      seen[#seen] = nil
      return text
    end
    show = function(value, depth, seen, indent, from)
      local kind = type(value)
      if kind == "string" then return quoted(value) end
      if kind == "table" then return showtable(value, depth, seen, indent, from or 1) end
      if kind == "userdata" then return showhandle(value, depth, seen, indent, from or 1) end
      if kind == "function" then return "function" end
      return tostring(value)
    end
    local function top(value, from) return show(value, 0, {}, "", from) end
    local function run(chunk)
      local found = pack(chunk())
      if found.n == 0 then return nil end
      G._3, G._2, G._1, G._ = G._2, G._1, found[1], found[1]
      local shown = {}
      for index = 1, found.n < 16 and found.n or 16 do shown[index] = top(found[index]) end
      return concat(shown, "\\t")
    end
    local function names(path)
      local value = G
      for name in path:gmatch("[^.]+") do
        if type(value) == "table" then value = rawget(value, name)
        elseif type(value) == "userdata" then
          local read, found = pcall(function() return value[name] end)
          value = read and found or nil
        else return nil end
      end
      if type(value) == "table" then
        local found = {}
        for key in pairs(value) do if type(key) == "string" then found[#found + 1] = key end end
        return concat(found, "\\n"), nil
      elseif type(value) == "userdata" then
        local known, name = pcall(host.type, value)
        local hasfields, fields = pcall(host.fields, value)
        -- Handles of the host say what they are: method "…", hook (…).
        if not known then name = (tostring(value):match("^%a+") or ""):gsub("^%l", upper) end
        return hasfields and concat(fields, "\\n") or "", name
      end
      return nil
    end
    -- The value stays here: a handle that is given out and in again would be two, which both let go of what it keeps.
    local function page(from) return top(rawget(G, "_"), from) end
    return run, page, names
    """
}
