/*
 * A subscriber that reads the log of a hub of topics: TopicHub.events(for:from:buffering:).
 *
 * Stands for TopicHub.publish on the side of two senders, TopicLogReader.begin, EventConsumer.next with
 * TopicLogReader and TopicLog.read on the side of the consumer, StreamMailbox.signal, sleep and end, and
 * TopicHub.finish of a topic and of the hub.
 *
 * Everything that the log's lock guards is one step, as is everything that the mailbox's lock guards.
 * A topic is registered, and ends, by one store each. So interleaving the steps gives every behaviour.
 *
 * The subscriber has two topics, of each of which the log retains one event, and reads one event at
 * once. With TRIMS the oldest event leaves at any time, because of the events of other topics. With
 * LIMIT so many events may wait: more are dropped, or end the subscription if DISCONNECTS. With FINISHES
 * a topic finishes, and then the hub.
 *
 * Checked for every interleaving: each event after the start is received or reported as missing once,
 * an event is received only after all before it, and the count of a range is exact; when nothing is
 * under way, the subscriber has everything, and has ended if the hub has. Each of the other names, when
 * defined, misplaces or omits a step; see `check`.
 */

/* Of each sender. */
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef SENDERS
#define SENDERS 2
#endif
#define ALL (SENDERS * EVENTS)
#define NONE 255

#ifdef FINISHES
#define FINISHERS 1
#else
#define FINISHERS 0
#endif
#ifdef TRIMS
#define TRIMMERS 1
#else
#define TRIMMERS 0
#endif
#ifndef LIMIT
#define LIMIT NONE
#endif

/* TopicLog: the newest number, and of each topic the retained event, the last that has left, and the
 * number of events. */
byte newest;
byte topicOf[ALL + 1];
byte kept[2], trimmed[2], arrived[2];

/* TopicHub: the subscriptions to the topics, and their ends. */
bool registered[2], topicEnded[2], finished;
byte endedTopics;

/* StreamMailbox: whether a signal waits, whether the consumer sleeps, and why it has ended. */
bool fresh, sleeping;
byte closed;
#define FINISHED 1
#define DISCONNECTED 2

/* TopicCursor, and the goal of TopicLogReader. */
byte start, number, goal;
byte seen[2], begun[2], reported[2];
byte rest = NONE;
bool isBehind, hasRead, got, over, placed;

/* What the subscriber was told of each event: RECEIVED or MISSED. */
byte told[ALL + 1];
#define RECEIVED 1
#define MISSED 2

/* When the hub finished, this was the newest event. */
byte newestAtEnd = ALL;
byte ready;
/* Used inside of one step. */
hidden byte n, after, through, counted, waiting, to, drop0, drop1;

#define WAITS_AFTER(t, n) (kept[t] > n -> 1 : 0)
/* KeptTopic.unread */
#define UNREAD(t) (trimmed[t] <= number -> WAITS_AFTER(t, number) : arrived[t] - seen[t])

/* MailboxState.signal */
inline signal() {
  atomic {
    if
    :: !closed && !fresh -> fresh = true; sleeping = false
    :: else
    fi
  }
}

/* StreamMailbox.end */
inline close(reason) {
  atomic {
    if
    :: !closed ->
#ifndef ENDS_UNREAD
       fresh = (reason == FINISHED);
#endif
       closed = reason;
       sleeping = false
    :: else
    fi
  }
}

/* TopicSignals.topicHasEnded, of one topic */
inline endTopic(t) {
  atomic {
    if
    :: registered[t] && !topicEnded[t] ->
       topicEnded[t] = true;
       endedTopics++;
#ifdef ENDS_WITH_FIRST
       isLast = (endedTopics == 1)
#else
       isLast = (endedTopics == 2)
#endif
    :: else
    fi
  };
  if :: isLast -> isLast = false; close(FINISHED) :: else fi
}

/* TopicLog.append */
inline append(t) {
  d_step {
    newest++;
    topicOf[newest] = t;
    if :: kept[t] > 0 -> trimmed[t] = kept[t] :: else fi;
    kept[t] = newest;
    arrived[t]++
  }
}

proctype Sender() {
  byte sent, topic;
  do
  :: sent < EVENTS && !finished ->
     if :: topic = 0 :: topic = 1 fi;
#ifndef SIGNALLED_BEFORE_LOGGED
     append(topic);
#endif
     if
     :: registered[topic] && !topicEnded[topic] -> signal()
     :: else
     fi;
#ifdef SIGNALLED_BEFORE_LOGGED
     append(topic);
#endif
     atomic { sent++; topic = 0 }
  :: else -> break
  od;
  ready++
}

/* TopicLog.trimOldest */
proctype Trimmer() {
  d_step {
    if
    :: kept[0] > 0 && (kept[1] == 0 || kept[0] < kept[1]) -> trimmed[0] = kept[0]; kept[0] = 0
    :: kept[1] > 0 && (kept[0] == 0 || kept[1] < kept[0]) -> trimmed[1] = kept[1]; kept[1] = 0
    :: else
    fi
  };
  ready++
}

/* TopicHub.finish */
proctype Finisher() {
  bool isLast;
  endTopic(0);
  atomic { finished = true; newestAtEnd = newest };
  endTopic(0);
  endTopic(1);
  ready++
}

/* TopicLog.cursor */
inline place() {
  d_step {
    start = number;
    seen[0] = arrived[0] - WAITS_AFTER(0, number);
    seen[1] = arrived[1] - WAITS_AFTER(1, number);
    begun[0] = arrived[0];
    begun[1] = arrived[1];
#ifndef COUNTS_WHAT_LEFT_BEFORE
    isBehind = (trimmed[0] > number || trimmed[1] > number)
#endif
  };
  placed = true
}

/* TopicHub.withHub(of:) */
inline register(t) {
  registered[t] = true;
#ifndef REGISTERS_UNCHECKED
  if :: finished -> endTopic(t) :: else fi
#endif
}

/* TopicLogReader.begin */
proctype Subscriber() {
  bool isLast;
#ifndef NOT_SIGNALLED
  fresh = true;
#endif
#ifndef REGISTERED_LAST
  register(0);
  register(1);
#endif
  atomic {
    if :: number = newest :: number = 0 fi;
    place()
  };
#ifdef REGISTERED_LAST
  register(0);
  register(1);
#endif
  ready++
}

/* Marks the events of a topic in a range as missing, and counts them. */
inline miss(t, from, last) {
  counted = 0;
  n = from + 1;
  do
  :: n <= last ->
     if
     :: topicOf[n] == t -> assert(told[n] == 0); told[n] = MISSED; counted++
     :: else
     fi;
     n++
  :: else -> break
  od
}

/* What left the log: TopicLog.takeMissing */
inline takeTrimmed(t) {
  after = (number > reported[t] -> number : reported[t]);
  if
  :: trimmed[t] > after ->
     miss(t, after, trimmed[t]);
     if
     :: hasRead ->
        assert(counted == arrived[t] - WAITS_AFTER(t, 0) - seen[t]);
        seen[t] = seen[t] + counted
     :: else
     fi;
#ifndef REPORTS_TWICE
     reported[t] = trimmed[t];
#endif
     got = true
  :: else
  fi
}

/* What a limit drops: TopicLog.takeOverflow */
inline takeDropped(t, dropped) {
  if
  :: dropped > 0 ->
     after = (number > reported[t] -> number : reported[t]);
#ifdef DROPS_WITHOUT_TRIMMED
     through = to;
#else
     through = (to > trimmed[t] -> to : trimmed[t]);
#endif
     miss(t, after, through);
     assert(counted == dropped);
     reported[t] = through
  :: else
  fi
}

inline takeOverflow() {
  waiting = (kept[0] > 0 -> 1 : 0) + (kept[1] > 0 -> 1 : 0);
  if
  :: rest == NONE && (hasRead || !isBehind) && seen[0] >= begun[0] && seen[1] >= begun[1] && UNREAD(0) + UNREAD(1) > LIMIT ->
     /* TopicLog.start(beforeLast:in:), of one topic's event or of the newer one */
     if
     :: waiting == 0 -> to = newest
     :: waiting == 2 && LIMIT < 2 -> to = (kept[0] > kept[1] -> kept[0] : kept[1]) - 1
     :: waiting == 2 && LIMIT >= 2 -> to = (kept[0] < kept[1] -> kept[0] : kept[1]) - 1
     :: waiting == 1 -> to = kept[0] + kept[1] - 1
     fi;
     if :: to < number -> to = number :: else fi;
#ifdef DISCONNECTS
     rest = (trimmed[0] <= number && trimmed[1] <= number -> LIMIT : 0)
#else
     drop0 = UNREAD(0) - WAITS_AFTER(0, to);
     drop1 = UNREAD(1) - WAITS_AFTER(1, to);
     takeDropped(0, drop0);
     takeDropped(1, drop1);
     number = to;
     got = true
#endif
  :: else
  fi
}

/* TopicLog.readEvents */
inline receive() {
  n = 0;
  if :: kept[0] > number -> n = kept[0] :: else fi;
  if :: kept[1] > number && (n == 0 || kept[1] < n) -> n = kept[1] :: else fi;
  if
  :: n > 0 ->
     assert(told[n] == 0 && n > start);
     told[n] = RECEIVED;
     number = n;
     n--;
     do
     :: n > start -> assert(told[n] != 0); n--  /* No gap before it. */
     :: else -> break
     od;
     if :: rest < NONE -> rest-- :: else fi;
     got = true
  :: else -> number = newest
  fi
}

/* TopicLog.read */
inline read() {
  d_step {
    got = false;
    takeOverflow();
    if
    :: !got && rest > 0 ->
#ifndef TRIMMED_UNREPORTED
       takeTrimmed(0);
       takeTrimmed(1);
#endif
       receive()
    :: else
    fi;
    seen[0] = arrived[0] - WAITS_AFTER(0, number);
    seen[1] = arrived[1] - WAITS_AFTER(1, number);
    hasRead = true;
    /* TopicLogReader.beginSignal */
    if :: took -> goal = newest; took = false :: else fi
  };
  if :: rest == 0 && !got -> close(DISCONNECTED) :: else fi
}

/* EventConsumer.next */
proctype Consumer() {
  bool took;
  placed;
  do
  :: over -> break
  :: !over ->
     if
#ifndef FORGETS_THE_GOAL
     :: number < goal && closed != DISCONNECTED -> read()
     :: else ->
#else
     :: true ->
#endif
        /* StreamMailbox.takeMore */
#ifdef TAKEN_AFTER_READ
        if
        :: fresh -> took = true; read(); fresh = false
        :: else ->
#else
        atomic { if :: fresh -> fresh = false; took = true :: else fi };
        if
        :: took -> read()
        :: else ->
#endif
           if
           :: closed == DISCONNECTED -> over = true
           :: closed == FINISHED ->
#ifdef ENDS_UNREAD
              over = true
#else
              read();
              if :: !got -> over = true :: else fi
#endif
           :: else ->
              /* StreamMailbox.sleep */
#ifdef SLEEPS_UNCHECKED
              sleeping = true;
#else
              atomic { if :: !fresh && !closed -> sleeping = true :: else fi };
#endif
end:          !sleeping
           fi
        fi
     fi
  od
}

proctype Monitor() {
  byte next;
  ready == SENDERS + 1 + FINISHERS + TRIMMERS && (sleeping || over);
  assert(over || !finished);
  next = start + 1;
  do
  :: next <= newest && next <= newestAtEnd ->
     /* PositionedTopicSequence.Iterator.end */
#ifdef DISCONNECTS_AS_FINISHED
     assert(told[next] != 0 || closed == DISCONNECTED);
#else
     assert(told[next] != 0 || rest == 0);
#endif
     next++
  :: else -> break
  od
}

init {
  atomic {
    run Sender();
#if SENDERS == 2
    run Sender();
#endif
#ifdef FINISHES
    run Finisher();
#endif
#ifdef TRIMS
    run Trimmer();
#endif
    run Subscriber();
    run Consumer();
    run Monitor()
  }
}
