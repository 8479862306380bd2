-- Requests that a server on SwiftNIO answers (NIOHTTP1, which programs have linked into them): each is a server span, from its head to the
-- end of its answer, below the span that the request's `traceparent` names. One that the client leaves is an error.
patch { id = "preset.nio.http", api = 1 }

local request = "args.data._storage.other.head._storage."
local answer = "args.data._storage.other.head._storage.status"

-- Cases of HTTPResponseStatus.
local codes = {
  continue = 100, switchingProtocols = 101, processing = 102, earlyHints = 103, ok = 200, created = 201, accepted = 202,
  nonAuthoritativeInformation = 203, noContent = 204, resetContent = 205, partialContent = 206, multiStatus = 207, alreadyReported = 208,
  imUsed = 226, multipleChoices = 300, movedPermanently = 301, found = 302, seeOther = 303, notModified = 304, useProxy = 305,
  temporaryRedirect = 307, permanentRedirect = 308, badRequest = 400, unauthorized = 401, paymentRequired = 402, forbidden = 403,
  notFound = 404, methodNotAllowed = 405, notAcceptable = 406, proxyAuthenticationRequired = 407, requestTimeout = 408, conflict = 409,
  gone = 410, lengthRequired = 411, preconditionFailed = 412, payloadTooLarge = 413, uriTooLong = 414, unsupportedMediaType = 415,
  rangeNotSatisfiable = 416, expectationFailed = 417, imATeapot = 418, misdirectedRequest = 421, unprocessableEntity = 422, locked = 423,
  failedDependency = 424, upgradeRequired = 426, preconditionRequired = 428, tooManyRequests = 429, requestHeaderFieldsTooLarge = 431,
  unavailableForLegalReasons = 451, internalServerError = 500, notImplemented = 501, badGateway = 502, serviceUnavailable = 503,
  gatewayTimeout = 504, httpVersionNotSupported = 505, variantAlsoNegotiates = 506, insufficientStorage = 507, loopDetected = 508,
  notExtended = 510, networkAuthenticationRequired = 511,
}
local failed = {}
for case, code in pairs(codes) do
  if code >= 500 then failed[#failed + 1] = answer .. " == '." .. case .. "'" end
end

span {
  on = "NIOHTTP1.HTTPServerPipelineHandler.channelRead(context:data:)", optional = true, wait = true,
  where = "args.data._storage.other == 'head'",
  name = "{" .. request .. "method.rawValue()}", kind = "server", parent = "args.data._storage.other.head.headers.headers",
  attributes = {
    ["http.request.method"] = request .. "method.rawValue()", ["url.path"] = { path = request .. "uri", url = "path" },
    -- Values of secrets are masked. Behind TLS, write https.
    ["url.query"] = { path = request .. "uri", url = "query" }, ["url.scheme"] = "'http'",
  },
  ends = {
    on = "NIOHTTP1.HTTPServerPipelineHandler.write(context:data:promise:)", where = "args.data._storage.other == 'end'",
    attributes = { ["http.response.status_code"] = { path = answer, map = codes } }, error = table.concat(failed, " or "),
  },
  cancels = { on = "NIOHTTP1.HTTPServerPipelineHandler.channelInactive(context:)" },
}
