-- Requests that a language server answers (SourceKit-LSP and what else is made with its transport): each is a server span, from the request
-- to its answer. An answer that is an error makes it one.
patch { id = "preset.lsp", api = 1 }

local connection = "LanguageServerProtocolTransport.JSONRPCConnection."

span {
  on = connection .. "handle(_: JSONRPCMessage)", optional = true, wait = true,
  where = "args.1 == 'request'", key = { "self", "args.1.request.id" },
  name = "{args.1.request.0.@type}", kind = "server",
  attributes = { ["rpc.system"] = "'jsonrpc'", ["rpc.method"] = "args.1.request.0.@type" },
  ends = {
    on = connection .. "send(_: JSONRPCMessage)", where = "args.1 == 'response' or args.1 == 'errorResponse'",
    key = { "self", "args.1.response.id ?? args.1.errorResponse.id" },
    attributes = { ["rpc.response.status_code"] = "args.1.errorResponse.0.code.rawValue", message = "args.1.errorResponse.0.message" },
    error = "args.1 == 'errorResponse'",
  },
  cancels = { on = connection .. "close()" },
}
