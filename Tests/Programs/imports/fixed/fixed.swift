// The program around it.
@_silgen_name("fixed_run") func run() -> Int32
print("fixed:", run())
