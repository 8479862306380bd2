-- Foundation's own async function, compiled by others.
patch { id = "download", api = 1 }

local began, ended = 0, 0
method "FoundationNetworking.URLSession.data(from:delegate:)":around(function(call, url)
  began = began + 1
  local ok, result = call:try()
  ended = ended + 1
  if ended == 21 then print(began .. " " .. ended) end
  if not ok then
    print("failed: " .. tostring(began == 22))
    error(result)
  end
  return result
end)
