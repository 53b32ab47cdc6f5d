import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("The buffer of a mailbox behaves as an array of elements and numbers of dropped ones")
struct ItemBufferTests {
  /// What an element is: an event in a word, or an object.
  private enum Content: Equatable {
    case word(UInt64)
    case object(Int)
  }

  /// An element as the buffer returns it.
  private struct Element: Equatable {
    var content: Content
    var dropped: Int

    init(_ content: Content, _ dropped: Int) {
      self.content = content
      self.dropped = dropped
    }

    init(_ item: MailboxState.Item) {
      let box = item.element.object as? EventBox<RecordingObserver>
      content = box.map { .object($0.event.id) } ?? .word(item.element.word)
      dropped = item.dropped
    }
  }

  /// Numbers of dropped elements around the largest one that a mark counts.
  private static let numbersOfDropped = [0, 0, 0, 1, 125, 126, 127, 128, 1 << 40]

  /// An element, a word or an object in turn, with some number of dropped ones.
  private func makeElement(
    _ step: Int, _ tracker: LifetimeTracker
  ) -> (element: Element, item: MailboxState.Item) {
    let dropped = Self.numbersOfDropped.randomElement()!
    if Bool.random() {
      // All bits of a word are the event's.
      let word = UInt64(truncatingIfNeeded: step) &* 0x9e37_79b9_7f4a_7c15
      return (
        Element(.word(word), dropped),
        MailboxState.Item(element: Envelope(word: word), dropped: dropped)
      )
    }
    let envelope = Envelope(event: RecordingObserver(step, tracker: tracker))
    return (
      Element(.object(step), dropped), MailboxState.Item(element: envelope, dropped: dropped)
    )
  }

  @Test("appended, read, replaced and popped elements; each is destroyed once")
  func againstAnArray() {
    let tracker = LifetimeTracker()
    do {
      var buffer = ItemBuffer()
      var array: [Element] = []
      for step in 0..<20_000 {
        if Int.random(in: 0..<100) < (step / 2000 % 2 == 0 ? 60 : 40) {
          let new = makeElement(step, tracker)
          buffer.append(new.item)
          array.append(new.element)
        } else {
          let element = buffer.popFirst().map(Element.init)
          #expect(element == (array.isEmpty ? nil : array.removeFirst()))
        }
        let (count, isEmpty) = (buffer.count, buffer.isEmpty)
        #expect(count == array.count && isEmpty == array.isEmpty)
        guard let offset = array.indices.randomElement() else { continue }
        let element = Element(buffer[offset])
        #expect(element == array[offset])
        switch step % 6 {
        case 0:
          let new = makeElement(-step, tracker)
          buffer[offset] = new.item
          array[offset] = new.element
        case 1:
          buffer[offset].dropped += 1
          array[offset].dropped += 1
        case 2:
          buffer.addDroppedBeforeFirst(step)
          array[0].dropped += step
        case 3:
          let dropped = buffer.takeDroppedBeforeFirst()
          #expect(dropped == array[0].dropped)
          array[0].dropped = 0
        case 4:
          let new = makeElement(-step, tracker)
          let old = buffer.replaceElement(at: offset, by: new.item.element)
          let content = Element(MailboxState.Item(element: old, dropped: 0)).content
          #expect(content == array[offset].content)
          array[offset] = Element(new.element.content, array[offset].dropped + 1)
        default: break
        }
        let (first, expected) = (Element(buffer[0]), array[0])
        #expect(first == expected)
      }
      #expect(tracker.live == array.count { if case .object = $0.content { true } else { false } })
      // The rest is destroyed with the buffer.
    }
    #expect(tracker.live == 0)
  }

  @Test("moving the first elements: they follow those of the other buffer, with their numbers")
  func moving() {
    let tracker = LifetimeTracker()
    do {
      var buffer = ItemBuffer()
      var other = ItemBuffer()
      var (array, moved): ([Element], [Element]) = ([], [])
      for step in 0..<5000 {
        let new = makeElement(step, tracker)
        buffer.append(new.item)
        array.append(new.element)
        if step % 3 == 0 {
          buffer.addDroppedBeforeFirst(1000)
          array[0].dropped += 1000
        }
        if Int.random(in: 0..<4) == 0 {
          let share = Int.random(in: 0...array.count)
          buffer.moveFirst(share, to: &other)
          moved += array.prefix(share)
          array.removeFirst(share)
        }
        for _ in 0..<Int.random(in: 0..<3) {
          let element = other.popFirst().map(Element.init)
          #expect(element == (moved.isEmpty ? nil : moved.removeFirst()))
        }
        let counts = (buffer.count, other.count)
        #expect(counts.0 == array.count && counts.1 == moved.count)
      }
      while let element = other.popFirst().map(Element.init) {
        #expect(element == moved.removeFirst())
      }
      while let element = buffer.popFirst().map(Element.init) {
        #expect(element == array.removeFirst())
      }
      #expect(array.isEmpty && moved.isEmpty)
    }
    #expect(tracker.live == 0)
  }

  @Test("an element that is taken over was retained by the caller, and is not retained again")
  func takingOver() {
    let tracker = LifetimeTracker()
    do {
      var buffer = ItemBuffer()
      for dropped in [0, 126, 127, 1 << 40] {
        let envelope = Envelope(event: RecordingObserver(dropped, tracker: tracker))
        buffer.append(taking: envelope.retained(times: 1), dropped: dropped)
      }
      #expect(tracker.live == 4)
      let first = buffer.popFirst().map(Element.init)
      #expect(first == Element(.object(0), 0))
      #expect(tracker.live == 3)
      let last = Element(buffer[2])
      #expect(last == Element(.object(1 << 40), 1 << 40))
    }
    #expect(tracker.live == 0)
  }

  @Test("a replaced element is counted, however often, and returned with its retain")
  func replacedOften() {
    let tracker = LifetimeTracker()
    do {
      var state = MailboxState(limit: 2, whenFull: .dropOldest, isIdle: false)
      var position: Int?
      for number in 0..<1000 {
        let envelope = Envelope(event: RecordingObserver(number, tracker: tracker))
        let (next, effects) = state.replace(position, with: envelope)
        position = next
        let garbage = effects.garbage.map { $0.event(RecordingObserver.self).id }
        #expect(garbage == (number == 0 ? nil : number - 1))
      }
      #expect(tracker.live == 1)
      var batch = ItemBuffer()
      _ = state.take(1, into: &batch)
      let only = Element(batch[0])
      #expect(only == Element(.object(999), 999))
    }
    #expect(tracker.live == 0)
  }

  @Test("the oldest are dropped: the first that waits counts them all, however many they are")
  func manyDropped() {
    var state = MailboxState(limit: 2, whenFull: .dropOldest, isIdle: false)
    for number in 0..<1000 { _ = state.append(Envelope(event: number)) }
    var batch = ItemBuffer()
    _ = state.take(1, into: &batch)
    let first = batch.popFirst().map(Element.init)
    #expect(first == Element(.word(998), 998))
    _ = state.finishTaken(delivered: 1)
    _ = state.append(Envelope(event: 1000))
    _ = state.append(Envelope(event: 1001))
    _ = state.take(2, into: &batch)
    let rest = [Element(batch[0]), Element(batch[1])]
    #expect(rest == [Element(.word(1000), 1), Element(.word(1001), 0)])
  }
}
