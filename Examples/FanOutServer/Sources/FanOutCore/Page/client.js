// A client of the server for browsers.
//
//     import { subscribe, publish } from "http://localhost:8080/client.js";
//
//     const subscription = subscribe(["news", "sport.*"], {
//       event: ({ topic, id, type, data }) => console.log(topic, data),
//       missed: ({ topic, reason, count }) => console.warn("events are missing", topic, reason, count),
//     });
//     await publish("news", "hello");
//     subscription.close();
//
// All topics of a subscription share one connection.

const server = new URL(".", import.meta.url);

/// Subscribes to topics and patterns: `*` stands for one part of a name between dots, `>` at the end for
/// one or more. After an interruption, the subscription continues after its last event.
///
/// handlers:
///   event({ topic, id, type, data })  an event; `type` is "message" unless the publisher sets one
///   missed({ topic, reason, … })      events are missing here: "slow" with `count`, or "history" with
///                                     the ids `after` and `through`; without `topic`, of any topic
///   state(state)                      "open", "waiting" for the server, or "disconnected", as a reader
///                                     that is too slow with the policy "disconnect"; that is the end
/// options:
///   types       the types of events that publishers set, for example ["price"]
///   policy      dropOldest, latest or disconnect; with a pattern, only dropOldest
///   lastEventId  the id after which it begins
///   token       a JSON web token for the query, or a function that returns a new one
///   url         the server; without it, the one that serves this module
export function subscribe(topics, handlers, options = {}) {
  const stream = new Stream(topics, handlers, options);
  return {
    close() { stream.close(); },
    /// For `lastEventId` of a later subscription, also to other topics.
    get lastEventId() { return stream.lastID; },
  };
}

/// Publishes an event, and returns { id, subscribers }. options: type, retry, url, token, and id: the
/// publisher's own, so that the event is published once if this is called again.
export async function publish(topic, data, { type, retry, id, url, token } = {}) {
  const target = address(url, `topics/${encodeURIComponent(topic)}`, { event: type, retry, id });
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const response = await fetch(target, { method: "POST", body: data, headers });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function address(url, path, parameters) {
  const target = new URL(path, url ?? server);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) target.searchParams.set(name, value);
  }
  return target;
}

class Stream {
  constructor(topics, handlers, options) {
    Object.assign(this, { topics, handlers, options, lastID: options.lastEventId });
    this.open();
  }

  open() {
    const { topics, handlers, options: { url, policy, token, types = [] } } = this;
    const target = address(url, "events", {
      policy, lastEventId: this.lastID, begin: 1,
      access_token: typeof token === "function" ? token() : token,
    });
    for (const topic of topics) target.searchParams.append("topic", topic);
    const source = new EventSource(target);
    this.source = source;
    source.onopen = () => handlers.state?.("open");
    source.onerror = () => {
      // EventSource gives up after a response that is not a stream, such as 503. Before the handler, which may
      // close the subscription.
      if (source.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.open(), 2000);
      handlers.state?.("waiting");
    };
    // The first id, which counts until there is an event.
    source.addEventListener("begin", ({ lastEventId }) => { this.lastID = lastEventId || this.lastID; });
    for (const type of ["message", ...types]) {
      source.addEventListener(type, ({ lastEventId, data }) => {
        this.lastID = lastEventId;
        handlers.event?.({ id: lastEventId, type, ...JSON.parse(data) });
      });
    }
    source.addEventListener("missed", ({ data }) => handlers.missed?.(JSON.parse(data)));
    source.addEventListener("disconnected", () => {
      this.close();
      handlers.state?.("disconnected");
    });
  }

  close() {
    clearTimeout(this.timer);
    this.source.close();
  }
}
