-- Checks that a patch makes, one line for each; put in the place of `-- checks` by `checked` (checks.sh).
local function same(name, got, want)
  if got == want then print("ok      " .. name)
  else print(("WRONG   %s: got %s, expected %s"):format(name, tostring(got), tostring(want))) end
end
-- fails NAME FUNCTION TEXT: it raises, and the message holds the text.
local function fails(name, f, text)
  local ok, err = pcall(f)
  err = tostring(err)
  if ok then print("WRONG   " .. name .. ": no error")
  elseif err:find(text, 1, true) then print("ok      " .. name)
  else print(("WRONG   %s: said %s, expected %s"):format(name, err, text)) end
end
