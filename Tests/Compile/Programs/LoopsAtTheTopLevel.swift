// Loops over the sequences of hubs at the top level of a program, which Swift 6.3 optimises
// differently from those in functions.

import Multicast

struct Reading: Hashable, Sendable {
  var sensor: String
  var value: Double
}

let texts = EventHub<String>()
let textEvents = texts.events()
texts.send("a")
texts.finish()
for await text in textEvents { print(text) }

let readings = EventHub<Reading>()
let readingEvents = readings.events(buffering: .bounded(8, whenFull: .dropOldest))
readings.finish()
for await reading in readingEvents { print(reading) }

let noted = readings.events(buffering: .latest).notingDrops()
for await note in noted { print(note) }

let topics = TopicHub<String, Reading>()
let topicEvents = topics.allTopics.events()
topics.finish()
for await element in topicEvents { print(element.topic, element.event) }

let state = StateHub<Reading, Double>(Reading(sensor: "a", value: 1)) { $0.value = $1 }
let values = state.values(of: \.value)
state.finish()
for await value in values { print(value) }
