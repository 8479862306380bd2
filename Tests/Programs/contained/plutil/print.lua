-- An indentation of less than nothing is a trap, deep in what prints.
local print = method "plutil.PrintCommand.prettyPrint(_:indent:spacing:)"
print:before(function(call) call.args.indent = -5 end)
print:contain(function(call, reason) return "(not printed)" end)
