// Calls requirements of each type; before each kind of call it says which.
import Shop

for r in [Screen(), SubScreen(), Plain(), SubPlain()] as [any Reporter & Priced] {
  mark("\(type(of: r)) changed")
  _ = change(r)
  mark("\(type(of: r)) told")
  _ = await tell(r)
  mark("\(type(of: r)) size")
  grow(r)
  mark("\(type(of: r)) kind")
  _ = kind(r)
  mark("\(type(of: r)) worth")
  _ = price(r)
}
for r in [Next(Older()), Upward()] as [any Reporter] {
  mark("\(type(of: r)) changed")
  _ = change(r)
}
mark("Whole worth")
_ = price(Whole())
mark("Journal write")
_ = note(Journal())
mark("Journal write bytes")
_ = Journal().write([1])
mark("Sentry watched")
_ = await watch(Sentry())
mark("Sentry looks \(await look(Sentry()))")
mark("Mint make")
_ = made(Mint(Plain()))
_ = made(by: Mint(Plain()))
mark("Press make")
_ = made(press())
mark("end")
