import Changes
for round in 1...14 {
  print("round \(round)")
  print("=", Mix.mix(1, "passed", Pair(2, "a pair that is passed"), 0.5, 0.25, false, small: 3, wide: 4))
}
