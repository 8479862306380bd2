-- Commands of the argument parser as spans: each command's `run` is one.
patch { id = "preset.argument-parser", api = 1 }
span { on = "ArgumentParser.ParsableCommand.run()", optional = true }
span { on = "ArgumentParser.AsyncParsableCommand.run()", optional = true }
