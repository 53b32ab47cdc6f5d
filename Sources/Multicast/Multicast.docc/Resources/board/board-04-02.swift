import Multicast

let prices = TopicHub<String, Int>(retention: .last(100), epoch: 1)

let seen = prices.publish(450, to: "prices.TEA")!
prices.publish(120, to: "prices.RICE")
prices.publish(455, to: "prices.TEA")
prices.finish()
