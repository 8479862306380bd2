-- Where the program does not go on: the main thread, event loops and the pool of tasks, with the stack of what holds them.
patch { id = "preset.stalls", api = 1, permissions = { "stacks" } }
stalls { main = "250ms", loops = "250ms", pool = "250ms" }
