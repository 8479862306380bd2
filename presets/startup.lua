-- The stages of the program's start: process, loader, host, main, and the first span.
patch { id = "preset.startup", api = 1 }
startup {}
