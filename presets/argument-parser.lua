-- Commands of the argument parser: each command's `run` is a screen, with its duration, and a span.
patch { id = "preset.argument-parser", api = 1 }
screen { base = "ArgumentParser.ParsableCommand", during = "run()", fields = { error = "error" }, optional = true }
screen { base = "ArgumentParser.AsyncParsableCommand", during = "run()", fields = { error = "error" }, optional = true }
span { on = "ArgumentParser.ParsableCommand.run()", optional = true }
span { on = "ArgumentParser.AsyncParsableCommand.run()", optional = true }
