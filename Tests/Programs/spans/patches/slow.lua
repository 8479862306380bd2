patch { id = "slow", api = 1 }
span { on = "Trip.linger(_:)", name = "linger {args.1}", slow = "50ms" }
span { on = "Trip.crawl(_:)", name = "crawl {args.1}", slow = "50ms" }
span { on = "Trip.rest(_:)", name = "rest" }
span { on = "Trip.fail(_:)", name = "fail", slow = "10min" }
