// A client of the server for browsers.
//
//     import { subscribe, publish } from "http://localhost:8080/client.js";
//
//     const subscription = subscribe(["news", "sport"], {
//       event: ({ topic, id, type, data }) => console.log(topic, data),
//       missed: ({ topic, reason, count }) => console.warn("events are missing", topic, reason, count),
//     });
//     await publish("news", "hello");
//     subscription.close();
//
// A browser opens six connections to a server with HTTP/1.1, and each topic takes one.

const server = new URL(".", import.meta.url);

/// Subscribes to topics. After an interruption, each continues after its last event.
///
/// handlers:
///   event({ topic, id, type, data })  an event; `type` is "message" unless the publisher sets one
///   missed({ topic, reason, … })      events are missing here: "slow" with `count`, or "history" with
///                                     the ids `after` and `through`
///   state({ topic, state })           "open", "waiting" for the server, or "disconnected", as a reader
///                                     that is too slow with the policy "disconnect"; that is the end
/// options:
///   types       the types of events that publishers set, for example ["price"]
///   policy      dropOldest, latest or disconnect
///   lastEventIds  an object with the id after which each topic begins
///   token       a JSON web token for the query, or a function that returns a new one
///   url         the server; without it, the one that serves this module
export function subscribe(topics, handlers, options = {}) {
  const streams = topics.map(topic => new Stream(topic, handlers, options));
  return {
    close() { for (const stream of streams) stream.close(); },
    /// For `lastEventIds` of a later subscription.
    get lastEventIds() {
      return Object.fromEntries(streams.map(stream => [stream.topic, stream.lastID]));
    },
  };
}

/// Publishes an event, and returns { id, subscribers }. options: type, retry, url, token.
export async function publish(topic, data, { type, retry, url, token } = {}) {
  const target = address(url, topic, "", { event: type, retry });
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const response = await fetch(target, { method: "POST", body: data, headers });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function address(url, topic, rest, parameters) {
  const target = new URL(`topics/${encodeURIComponent(topic)}${rest}`, url ?? server);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) target.searchParams.set(name, value);
  }
  return target;
}

class Stream {
  constructor(topic, handlers, options) {
    Object.assign(this, { topic, handlers, options, lastID: options.lastEventIds?.[topic] });
    this.open();
  }

  open() {
    const { topic, options: { url, policy, token, types = [] } } = this;
    const source = new EventSource(address(url, topic, "/events", {
      policy, lastEventId: this.lastID, access_token: typeof token === "function" ? token() : token,
    }));
    this.source = source;
    source.onopen = () => this.tell("open");
    source.onerror = () => {
      this.tell("waiting");
      // EventSource gives up after a response that is not a stream, such as 503.
      if (source.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.open(), 2000);
    };
    for (const type of ["message", ...types]) {
      source.addEventListener(type, ({ lastEventId, data }) => {
        this.lastID = lastEventId;
        this.handlers.event?.({ topic, id: lastEventId, type, data });
      });
    }
    source.addEventListener("missed", ({ data }) =>
      this.handlers.missed?.({ topic, ...JSON.parse(data) }));
    source.addEventListener("disconnected", () => {
      this.close();
      this.tell("disconnected");
    });
  }

  tell(state) { this.handlers.state?.({ topic: this.topic, state }); }

  close() {
    clearTimeout(this.timer);
    this.source.close();
  }
}
