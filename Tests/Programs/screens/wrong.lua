=== no base
> screen: needs 'base'
screen { appear = "viewDidAppear(_:)" }
=== no such base
> no type 'Toolkit.ViewControler' in this program; did you mean 'Toolkit.ViewController'?
screen { base = "Toolkit.ViewControler", appear = "viewDidAppear(_:)", disappear = "viewDidDisappear(_:)" }
=== no such method
> did you mean 'viewDidAppear(_:)'?
screen { base = "Toolkit.ViewController", appear = "viewDidApear(_:)", disappear = "viewDidDisappear(_:)" }
=== no such path of the name
> 'titel'
screen { base = "Toolkit.ViewController", appear = "viewDidAppear(_:)", disappear = "viewDidDisappear(_:)", name = "self.titel" }
=== a field that is not known
> unknown field 'disapear'; did you mean 'disappear'?
screen { base = "Toolkit.ViewController", appear = "viewDidAppear(_:)", disapear = "viewDidDisappear(_:)" }
=== a control without an action
> control: needs 'action'
control { base = "Toolkit.Control", send = "sendAction(_:to:for:)" }
=== no such requirement
> delegate 'list(_:didSelect:)'
delegate { on = "Toolkit.ListView.delegate", call = "list(_:didSelect:)" }
=== an exposure without a place
> exposure: needs 'frame'
exposure { base = "Toolkit.View" }
=== an exposure that knows no method
> needs 'on', a method of 'Toolkit.View'
exposure { base = "Toolkit.View", frame = "self.superview.frame" }
=== a share that is none
> 'area' is the share
exposure { base = "Toolkit.View", on = "layout()", frame = "self.frame", area = 3 }
=== rage that is no number in a time
> 'rage' is a number of taps in a time
control { base = "Toolkit.Control", send = "sendAction(_:to:for:)", action = "args.1", rage = "often" }
=== what tells an action
> 'same': 'result' is known when the call is over
track "t" { on = "Toolkit.Control.sendAction(_:to:for:)", same = "result" }
