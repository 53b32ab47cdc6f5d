import Multicast

let prices = TopicHub<String, Int>(retention: .last(100), epoch: 1)
