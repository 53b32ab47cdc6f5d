swift run -c release --package-path Examples/FanOutServer fan-out-server

# In a second terminal:
curl -sN localhost:8080/topics/prices.TEA/events &
curl -s -d 450 localhost:8080/topics/prices.TEA
curl -s -d 455 localhost:8080/topics/prices.TEA

# With the id that the first command has printed:
curl -sN -H 'Last-Event-ID: 1795276609302758' localhost:8080/topics/prices.TEA/events
