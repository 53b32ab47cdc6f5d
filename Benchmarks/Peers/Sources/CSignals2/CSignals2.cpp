#include "CSignals2.h"

// Where Boost is missing, this builds all the same, and says so.
#if __has_include(<boost/signals2.hpp>)

#include <boost/signals2.hpp>
#include <memory>

struct Signals2Signal {
  boost::signals2::signal<void(Signals2Event)> signal;
};

struct Signals2Connection {
  boost::signals2::connection connection;
  std::shared_ptr<void> tracked;
};

bool signals2_is_available(void) { return true; }

Signals2Signal *signals2_create(void) { return new Signals2Signal; }

void signals2_destroy(Signals2Signal *signal) { delete signal; }

Signals2Connection *signals2_connect(
    Signals2Signal *signal, Signals2Slot slot, void *context, Signals2Release release, bool tracked) {
  using Slot = boost::signals2::signal<void(Signals2Event)>::slot_type;
  std::shared_ptr<void> owner(context, release);
  if (!tracked) {
    Slot owning([slot, owner](Signals2Event event) { slot(owner.get(), event); });
    return new Signals2Connection{signal->signal.connect(owning), nullptr};
  }
  Slot tracking([slot, context](Signals2Event event) { slot(context, event); });
  tracking.track_foreign(owner);
  return new Signals2Connection{signal->signal.connect(tracking), owner};
}

void signals2_disconnect(Signals2Connection *connection) {
  connection->connection.disconnect();
  delete connection;
}

void signals2_send(Signals2Signal *signal, Signals2Event event) { signal->signal(event); }

#else

#include <stdlib.h>

bool signals2_is_available(void) { return false; }

Signals2Signal *signals2_create(void) { abort(); }

void signals2_destroy(Signals2Signal *) { abort(); }

Signals2Connection *signals2_connect(Signals2Signal *, Signals2Slot, void *, Signals2Release, bool) {
  abort();
}

void signals2_disconnect(Signals2Connection *) { abort(); }

void signals2_send(Signals2Signal *, Signals2Event) { abort(); }

#endif
