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

const server = new URL(".", import.meta.url);
const current = async token => typeof token === "function" ? token() : token;

/// Subscribes to topics and patterns with one connection: `*` stands for one part of a name between dots,
/// `>` at the end for one or more. After an interruption, the subscription continues after its last event.
///
/// handlers:
///   event({ topic, id, type, data })  an event; `type` is "message" unless the publisher sets one
///   missed({ topic, reason, … })      events are missing here: "slow" with `count`, or "history" with
///                                     the ids `after` and `through`; without `topic`, of any topic
///   state(state, error)               "open", "waiting" for the server, or with the error of a token; or
///                                     "disconnected", too slow for the policy "disconnect": the end
/// options, of which one that is null counts as none:
///   types        the types of events that publishers set, for example ["price"]
///   policy       dropOldest, latest or disconnect; with a pattern, only dropOldest
///   lastEventId  the id after which it begins
///   token        a JSON web token for the query, or a function, also asynchronous, that gets a new one
///   credentials  true sends cookies also to a server of another origin
///   url          the server; without it, the one that serves this module
export function subscribe(topics, handlers, options = {}) {
  const stream = new Stream(topics, handlers, options);
  return {
    close() { stream.close(); },
    /// For `lastEventId` of a later subscription, also to other topics.
    get lastEventId() { return stream.lastID; },
  };
}

/// Publishes an event, and returns { id, subscribers }. options: type, retry, url, token, credentials, and
/// id: the publisher's own, so that the event is published once if this is called again.
export async function publish(topic, data, { type, retry, id, url, token, credentials } = {}) {
  const target = address(url, `topics/${encodeURIComponent(topic)}`, { event: type, retry, id });
  const bearer = await current(token);
  const headers = bearer ? { Authorization: `Bearer ${bearer}` } : {};
  const cookies = credentials ? "include" : "same-origin";
  const response = await fetch(target, { method: "POST", body: data, headers, credentials: cookies });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
  return answer;
}

function address(url, path, query) {
  const target = new URL(path, url ?? server);
  for (const [name, value] of Object.entries(query)) if (value != null) target.searchParams.set(name, value);
  return target;
}

class Stream {
  constructor(topics, handlers, options) {
    Object.assign(this, { handlers, options, lastID: options.lastEventId });
    this.target = address(options.url, "events", { policy: options.policy, begin: 1 });
    for (const topic of topics) this.target.searchParams.append("topic", topic);
    this.open();
  }

  async open() {
    const { handlers, options: { token, credentials, types } } = this;
    let access_token;
    try { access_token = await current(token); } catch (error) { return this.wait(error); }
    if (this.isClosed) return;
    const target = address(undefined, this.target, { lastEventId: this.lastID, access_token });
    const source = this.source = new EventSource(target, { withCredentials: credentials === true });
    // A publisher may use these types too: such an event has data.
    source.onopen = ({ data }) => { if (data === undefined) handlers.state?.("open"); };
    source.onerror = ({ data }) => { if (data === undefined) this.wait(); };
    // The first id, which counts until there is an event.
    source.addEventListener("begin", ({ lastEventId }) => { this.lastID = lastEventId || this.lastID; });
    for (const type of new Set(["message", ...types ?? []])) source.addEventListener(type, ({ lastEventId, data }) => {
      if (data === undefined) return;
      this.lastID = lastEventId;
      handlers.event?.({ id: lastEventId, type, ...JSON.parse(data) });
    });
    source.addEventListener("missed", ({ lastEventId, data }) => {
      // A lower one if ids have begun again.
      this.lastID = lastEventId || this.lastID;
      handlers.missed?.(JSON.parse(data));
    });
    source.addEventListener("disconnected", () => { this.close(); handlers.state?.("disconnected"); });
  }

  wait(error) {
    if (this.isClosed) return;
    // EventSource gives up after a response such as 401. Before the handler, which may close the subscription.
    if (this.source?.readyState !== EventSource.CONNECTING) this.timer = setTimeout(() => this.open(), 2000);
    this.handlers.state?.("waiting", error);
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.source?.close();
  }
}
